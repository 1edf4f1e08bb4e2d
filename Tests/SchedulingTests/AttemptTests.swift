import Scheduling
import Testing

@Suite struct AttemptTests {
    @Test func failedAttempt_isTriedAgainAfterBackoff_andSuccessorsWait() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.ordered("root", [.op("a", retries: 1), .op("b")]).graph())
        cluster.end("a", failure("first"))
        #expect(cluster.state("a") == .retrying)
        #expect(cluster.dispatched == ["a"])
        cluster.advance(1_001)
        #expect(cluster.dispatched == ["a", "a"])
        cluster.end("a")
        cluster.end("b")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func lastFailure_isTheOutcome() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 2)]).graph())
        for attempt in 0..<3 {
            cluster.end("a", failure("attempt \(attempt)"))
            cluster.advance(61_000)
        }
        #expect(cluster.dispatched == ["a", "a", "a"])
        #expect(cluster.operations(failedOnly: true).first { $0.path == "a" }?.errors.map(\.message) == ["attempt 2"])
    }

    @Test func group_withRetries_beginsAnewWithAllChildren() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .ordered("steps", [.op("a"), .forEach("each", of: nil, list: ["1", "2"], body: .op("body")), .op("c")], retries: 1),
                    .op("after", after: ["steps"]),
                ]
            ).graph())
        cluster.end("steps/a")
        cluster.end("steps/each/0")
        cluster.end("steps/each/1", failure("no"))
        #expect(cluster.state("steps") == .retrying)
        #expect(!cluster.holds("after"))
        cluster.advance(1_001)
        #expect(cluster.heldPaths == ["steps/a"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.total == 5)
        #expect(cluster.view()?.counts.failed == 0)
    }

    @Test func groupTimeout_stopsItsChildren_andFailsTheGroup() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.group("g", [.op("a"), .op("b")], timeout: 1_000)]).graph())
        cluster.advance(1_000)
        #expect(cluster.state("g/a") == .stopping)
        cluster.end("g/a", .stopped)
        cluster.end("g/b")
        #expect(cluster.operations(failedOnly: true).map(\.path) == ["", "g"])
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.message) == ["timed out after 1 s"])
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.timedOut == false)
    }

    @Test func rootTimeout_isToldApart() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")], timeout: 1_000).graph())
        cluster.advance(1_000)
        #expect(cluster.view()?.state == .failed)
        #expect(cluster.view()?.timedOut == true)
    }

    /// It has ended in time, and its value is on its way.
    @Test func attemptTimeout_isNotThatOfItsValuesWay() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let a = Sketch.op("a", timeout: 1_000).having { $0.deadlineMilliseconds = 5_000 }
        cluster.submit(Sketch.group("root", [a]).graph())
        cluster.begin("a")
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.valueWaits(peer, unit.unit, unit.attempt, reason: "it comes")])
        cluster.advance(600_000)
        #expect(cluster.holds("a") && cluster.scheduler.isWanted(unit.unit, unit.attempt))
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func attemptTimeout_isEnforcedWhenTheExecutorDoesNot() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", timeout: 1_000)]).graph())
        cluster.begin("a")
        cluster.advance(9_999)
        #expect(cluster.state("a") == .running)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping)
        cluster.end("a", .stopped)
        #expect(cluster.operations(failedOnly: true).last?.errors.first?.code == .timeout)
    }

    @Test func cancel_beforeTheStart_endsAtOnce_andRunningWorkWhenItHasStopped() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "enough", now: false))
        #expect(cluster.stops.map(\.reason) == [.cancelled])
        #expect(cluster.state("b") == .cancelled)
        #expect(cluster.view()?.state == .running)
        cluster.end("a", .success(text("too late")))
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.view()?.state == .cancelled)
        #expect(cluster.view()?.cancelReason == "enough")
    }

    @Test func cancelledWork_isNotRetried() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 5)]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: true))
        #expect(cluster.stops.map(\.now) == [true])
        cluster.end("a", failure("killed"))
        #expect(cluster.state("a") == .cancelled)
    }

    @Test func cancel_ofEndedWork_saysSo() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        cluster.drain()
        guard case .cancelAccepted(_, let alreadyEnded)? = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        else {
            Issue.record("no answer")
            return
        }
        #expect(alreadyEnded)
    }

    @Test func staleResult_isAcknowledged_butNotCommitted() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let stale = cluster.find("a", on: 1)?.1
        cluster.disconnect(1)
        cluster.attach(2)
        cluster.advance(3_001)
        #expect(cluster.find("a", on: 2) != nil)
        cluster.attach(1, held: stale.map { [.init(unit: $0.unit, attempt: $0.attempt, state: .finished)] } ?? [])
        guard let stale, let peer = cluster.peers[1] else {
            Issue.record("nothing was handed out")
            return
        }
        cluster.step([.ended(peer, stale.unit, stale.attempt, failure("stale"), startedAt: 1, at: 2)])
        #expect(cluster.sends.contains { if case .acknowledge = $0.message { true } else { false } })
        #expect(cluster.view()?.state == .running)
        cluster.end("a", on: 2)
        #expect(cluster.view()?.state == .succeeded)
    }

    /// Its end may be held back, until what it has sent is stored: a stop lets it go, and the first order may have been lost.
    @Test func stopOfWhatHasFinished_isOrderedAgain_whenItsExecutorComesBack() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let held = try #require(cluster.find("a", on: 1)?.1)
        cluster.disconnect(1)
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        cluster.attach(1, held: [.init(unit: held.unit, attempt: held.attempt, state: .finished)])
        let orders = cluster.sends.flatMap { send -> [StopOrder] in if case .stop(let orders) = send.message { orders } else { [] } }
        #expect(orders.map(\.unit) == [held.unit])
        cluster.end("a", on: 1)
        #expect(cluster.view()?.state != .running)
    }

    @Test func startInTheSameSecondAsTheOneBefore_isToRest() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let second = Int64(cluster.scheduler.epoch) * 1_000
        func rest(_ wall: Int64) -> Int64? { cluster.scheduler.restBeforeStart(at: Instant(boot: 0, wall: wall)) }
        #expect(rest(second) == 1_000 && rest(second + 999) == 1)
        #expect(rest(second + 1_000) == nil)
        #expect(rest(second - 1_000) == nil, "a clock that was set back is not waited for")
    }

    @Test func submitAgain_underTheSameKey_givesTheFirstSubmission_orIsRefused() {
        var cluster = FakeCluster()
        let graph = Sketch.group("root", [.op("a")]).graph()
        let first = cluster.submit(graph, key: "k")
        guard case .submitted(let id, true)? = cluster.ask(.submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
        else {
            Issue.record("not the first submission")
            return
        }
        #expect(id == first)
        let other = Sketch.group("root", [.op("b")]).graph()
        guard
            case .failed(.refused(let message, _))? = cluster.ask(
                .submit(key: "k", name: "", graph: ExaminedGraph(other), waitForWorkers: true))
        else {
            Issue.record("not refused")
            return
        }
        #expect(message.contains("with another graph (KeyReused)"))
        let empty = Graph(name: graph.name, nodes: [], parameters: [])
        guard case .failed(.refused)? = cluster.ask(.submit(key: "k", name: "", graph: ExaminedGraph(empty), waitForWorkers: true)) else {
            Issue.record("not refused")
            return
        }
        var named = graph
        named.name = "other"
        guard
            case .failed(.refused(let text, _))? = cluster.ask(
                .submit(key: "k", name: "", graph: ExaminedGraph(named), waitForWorkers: true))
        else {
            Issue.record("not refused")
            return
        }
        #expect(text.contains("with a graph of another name, `\(graph.name)` (KeyReused)"))
    }

    @Test func unknownOperation_isRefused_unlessOneWaitsForWorkers() {
        var cluster = FakeCluster()
        let graph = Sketch.group("root", [.op("a", type: "Rare")]).graph()
        guard
            case .failed(.refused(_, let errors))? = cluster.ask(
                .submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: false))
        else {
            Issue.record("not refused")
            return
        }
        #expect(errors.map(\.path) == ["a"])
        cluster.attach(1, operations: ["Other"])
        cluster.submit(graph, key: "waits", waitForWorkers: true)
        #expect(cluster.state("a") == .queued && cluster.heldPaths.isEmpty)
        cluster.attach(2, operations: ["Rare"])
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a", on: 2)
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.submit(graph, key: "known by now", waitForWorkers: false) != nil)
        #expect(cluster.heldPaths == ["a"])
    }

    /// A worker ends what takes too long by itself, and says no more than that.
    @Test func timeoutOfAnAttempt_isPublishedByTheOperation() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.group("g", [.op("a")])]).graph())
        cluster.end("g/a", .failure([Failure(code: .timeout, message: "timed out after 1 s", typeName: "Timeout")]))
        let failure = cluster.operations(failedOnly: true).last?.errors.first
        #expect(failure?.publisher == "g/a" && failure?.origin == "g/a")
    }
}
