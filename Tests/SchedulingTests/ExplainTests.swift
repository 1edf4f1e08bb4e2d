import Scheduling
import Testing

/// What is in the way of what waits: one staged situation for each kind of blocker.
@Suite struct ExplainTests {
    private func cluster(slots: Int = 4, _ sketches: Sketch..., max: Int = 0, ordered: Bool = false) -> (FakeCluster, String) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        let id = cluster.submit(Sketch.group("root", sketches, ordered: ordered, max: max).graph()) ?? ""
        return (cluster, id)
    }

    private let probe = Condition(.probe(Probe(type: "probe", parameters: 0, waits: true)))

    // MARK: What has to come first

    @Test func dependency_isNamedAsItStands_andOnlyWhileItHasNotEnded() throws {
        var (cluster, id) = cluster(.op("a"), .op("b"), .op("c", after: ["a", "b"]))
        cluster.begin("a")
        cluster.end("b")
        let explained = try cluster.explained("c")
        guard explained.blockers.count == 1, case .dependency(let other) = explained.blockers[0] else {
            return #expect(Bool(false), "\(explained)")
        }
        #expect(other.operation == "\(id)/a" && other.state == .running && other.worker == "h/1")
        #expect(explained.state == .blocked && explained.since == cluster.now.wall && explained.path == "c" && explained.submission == id)
        #expect(explained.blockers[0].text(now: explained.at) == "comes after \(id)/a, which runs on h/1")
        #expect(explained.blockers[0].remedy(for: "\(id)/c") == "`aop logs \(id)/a -f` shows what it does")
        cluster.end("a")
        cluster.begin("c")
        #expect(cluster.explain("c")?.blockers == [])
        #expect(cluster.explain("c")?.state == .running)
    }

    @Test func delivery_namesEachProducerThatHasNotDelivered() {
        var (cluster, id) = cluster(.op("a"), .op("b"), .op("c"), .op("sum", receives: ["a", "b", "c"]))
        cluster.end("b")
        let texts = cluster.explain("sum")?.blockers.map { blocker in
            if case .delivery(let other, of: .value) = blocker { other.operation } else { "\(blocker)" }
        }
        #expect(texts == ["\(id)/a", "\(id)/c"])
    }

    @Test func receiverOfAStream_waitsForTheBegin_andItsSuccessForTheEnd() {
        let receiver = Sketch.op("b").having { $0.stream = 1 }
        var (cluster, id) = cluster(.op("a", retries: 1), receiver)
        func stream(_ cluster: inout FakeCluster) -> Delivery? {
            guard case .delivery(let other, let of)? = cluster.explain("b")?.blockers.first, other.operation == "\(id)/a" else {
                return nil
            }
            return of
        }
        #expect(stream(&cluster) == .begin)
        cluster.begin("a")
        cluster.begin("b")
        #expect(stream(&cluster) == nil)
        cluster.end("b", .success(text("x")))
        #expect(stream(&cluster) == .end)
    }

    @Test func memberOfAnOrderedGroup_waitsForTheOneBeforeIt() {
        var (cluster, id) = cluster(.op("a"), .op("b"), .op("c"), ordered: true)
        guard case .order(let other)? = cluster.explain("c")?.blockers.first else { return #expect(Bool(false)) }
        #expect(other.operation == "\(id)/b" && other.state == .blocked)
        // One that has ended before its turn is passed over.
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        guard case .order(let first)? = cluster.explain("c")?.blockers.first else { return #expect(Bool(false)) }
        #expect(first.operation == "\(id)/a")
    }

    @Test func groupThatHasNotStarted_isNamed_theOutermostOne_besideWhatElseIsInTheWay() {
        let inner = Sketch.group("inner", [.op("x"), .op("y", after: ["x"])])
        var (cluster, id) = cluster(.op("first"), .group("outer", [inner], after: ["first"]))
        let blockers = cluster.explain("outer/inner/y")?.blockers ?? []
        guard blockers.count == 2, case .group(let group) = blockers[0], case .dependency(let other) = blockers[1] else {
            return #expect(Bool(false), "\(blockers)")
        }
        #expect(group.operation == "\(id)/outer" && other.operation == "\(id)/outer/inner/x")
        #expect(cluster.explain("outer")?.blockers.map(\.kind) == [.dependency])
    }

    @Test func fullGroup_isNamedWithItsLimit_andThoseBefore() {
        var (cluster, id) = cluster(.op("a"), .op("b"), .op("c"), max: 1)
        guard case .maxConcurrent(let wait)? = cluster.explain("c")?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.group.operation == id && wait.limit == 1 && wait.taken == 1 && wait.ahead == 1)
    }

    @Test func delay_isNamedWithItsEnd() {
        var (cluster, _) = cluster(Sketch.op("a").having { $0.delayMilliseconds = 5_000 })
        #expect(cluster.explain("a")?.blockers == [.delay(until: cluster.now.wall + 5_000)])
        let late = cluster.now.wall + 3_600_000
        var (other, _) = self.cluster(Sketch.op("a").having { $0.notBefore = late })
        #expect(other.explain("a")?.blockers == [.delay(until: late)])
        #expect(Blocker.delay(until: late).text(now: late - 65_000) == "does not begin before 2023-11-14T23:13:20Z (in 1 min 05 s)")
    }

    @Test func pause_isNamedWithWhatWasPaused_alsoOfWhatIsBlocked() {
        var (cluster, id) = cluster(.op("first"), .group("g", [.op("x", after: ["first"]), .op("y")], after: ["first"]))
        _ = cluster.ask(.pause(submission: "last", path: "g"))
        let at = cluster.now.wall
        cluster.end("first")
        guard case .paused(let other, let since)? = cluster.explain("g")?.blockers.first else { return #expect(Bool(false)) }
        #expect(other.operation == "\(id)/g" && since == at)
        #expect(cluster.explain("g")?.blockers.first?.remedy(for: "") == "`aop resume \(id)/g` lets it go on")
        #expect(cluster.explain("g/x")?.blockers.map(\.kind) == [.group, .paused])
        #expect(cluster.explain("g")?.since == at && cluster.explain("g")?.state == .paused)
    }

    /// Also of what waited for its locks, which it gives back.
    @Test func pause_standsInTheHistoryOfWhatItHolds_byItselfOrWithWhatIsAroundIt() {
        var (cluster, id) = cluster(.keyed("a", "db"), .group("g", [.keyed("b", "db"), .op("c", after: ["b"])]), .keyed("d", "db"))
        cluster.begin("a")
        #expect(cluster.state("g") == .locking && cluster.state("d") == .locking)
        func pauses(_ path: String, _ cluster: inout FakeCluster) -> [String] {
            cluster.explain(path)?.history.filter { $0.event == "paused" && $0.at == cluster.now.wall }.map(\.text) ?? []
        }
        _ = cluster.ask(.pause(submission: "last", path: "g"))
        #expect(cluster.state("g") == .paused && cluster.state("d") == .locking)
        #expect(pauses("g", &cluster) == ["it was paused"])
        for path in ["g/b", "g/c"] { #expect(pauses(path, &cluster) == ["\(id)/g was paused, which it is in"]) }
        _ = cluster.ask(.pause(submission: "last", path: "d"))
        #expect(cluster.state("d") == .paused && pauses("d", &cluster) == ["it was paused"])
        _ = cluster.ask(.pause(submission: "last", path: "g/b"))
        #expect(pauses("g/b", &cluster) == ["it was paused", "\(id)/g was paused, which it is in"])
        _ = cluster.ask(.pause(submission: "last", path: ""))
        #expect(pauses("a", &cluster) == [], "it runs")
    }

    // MARK: Locks and ids

    @Test func lock_isNamedWithHolderTokenAndPlaceInTheLine() throws {
        var (cluster, id) = cluster(.keyed("a", "db"), .keyed("b", "db"), .keyed("c", "db", "free"))
        let token = try #require(cluster.find("a", on: nil)?.1.fences.first?.token)
        cluster.advance(2_000)
        let explained = try cluster.explained("c")
        guard explained.blockers.count == 1, case .lock(let wait) = explained.blockers[0] else {
            return #expect(Bool(false), "\(explained)")
        }
        #expect(wait.lock.key == "db" && wait.ahead == 1 && wait.lock.limit == 1)
        #expect(wait.lock.holders.map(\.operation) == ["\(id)/a"] && wait.lock.holders.map(\.token) == [token])
        let text = explained.blockers[0].text(now: explained.at)
        #expect(text.hasPrefix("waits for the lock `db`, held by \(id)/a on h/1 with the token \(token) since "), "\(text)")
        #expect(text.hasSuffix("; one is in line before it"))
        #expect(explained.state == .locking && explained.since == cluster.now.wall - 2_000)
        #expect(explained.history.map(\.event) == ["submitted", "queued", "locksAsked"])
    }

    /// Its first place in the line is still there, and means nothing.
    @Test func whoStandsInALineForTheSecondTime_isBehindThoseWhoCameMeanwhile() {
        var (cluster, _) = cluster(.keyed("a", "db"), .keyed("b", "db"), .keyed("c", "db"))
        func ahead(_ path: String, _ cluster: inout FakeCluster) -> Int? {
            guard case .lock(let wait)? = cluster.explain(path)?.blockers.first else { return nil }
            return wait.ahead
        }
        #expect(ahead("b", &cluster) == 0)
        _ = cluster.ask(.pause(submission: "last", path: "b"))
        _ = cluster.ask(.resume(submission: "last", path: "b"))
        #expect(ahead("b", &cluster) == 1 && ahead("c", &cluster) == 0)
        cluster.end("a")
        #expect(cluster.holds("c") && !cluster.holds("b"))
    }

    @Test func duplicateThatHasJoined_waitsForTheFirst() {
        let unique = Uniqueness(id: "nightly", isTemplated: false, joins: true, output: "")
        var (cluster, id) = cluster(Sketch.op("a").having { $0.unique = unique }, Sketch.op("b").having { $0.unique = unique })
        guard case .join(let other, let uniqueID)? = cluster.explain("b")?.blockers.first else { return #expect(Bool(false)) }
        #expect(other.operation == "\(id)/a" && uniqueID == "nightly")
    }

    // MARK: Conditions

    @Test func condition_isNotYetEvaluated_thenBeingEvaluated_thenAskedAgain() throws {
        var (cluster, id) = cluster(
            slots: 1, Sketch.op("busy").having { $0.priority = 5 }, Sketch.op("a").having { $0.conditions = [probe] })
        #expect(cluster.explain("a")?.blockers.map(\.kind) == [.slots, .condition])
        #expect(cluster.explain("a")?.blockers.last == .condition(ConditionWait(key: "probe", stage: .notYet)))
        cluster.end("busy")
        #expect(cluster.explain("a")?.blockers == [.condition(ConditionWait(key: "probe", stage: .evaluating(worker: "h/1")))])
        #expect(cluster.explain("a")?.state == .evaluating)
        cluster.advance(1_000)
        let asked = cluster.now.wall
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .retryAfter(milliseconds: 7_000), reason: "not there")]))
        let explained = try cluster.explained("a")
        guard case .condition(let wait)? = explained.blockers.first, case .notNow(let verdict, 0) = wait.stage else {
            return #expect(Bool(false), "\(explained)")
        }
        #expect(verdict.evaluator == "h/1" && verdict.at == asked && verdict.reason == "not there")
        #expect(verdict.finding == .notNow(until: asked + 7_000))
        #expect(explained.since == asked && explained.path == "a" && explained.submission == id)
        let text = explained.blockers[0].text(now: asked + 2_000)
        #expect(text.hasPrefix("its condition `probe` said \"not now\" 2 s ago on h/1: not there; it is asked again at 2023-"), "\(text)")
    }

    @Test func rateLimit_isNamedWithThoseBeforeInTheLine() {
        let limit = Condition(.rateLimit(RateLimit(key: "api", count: 1, perMilliseconds: 60_000)))
        var (cluster, _) = cluster(
            Sketch.op("a").having { $0.conditions = [limit] }, Sketch.op("b").having { $0.conditions = [limit] },
            Sketch.op("c").having { $0.conditions = [limit] })
        guard case .condition(let wait)? = cluster.explain("c")?.blockers.first, case .notNow(_, let ahead) = wait.stage else {
            return #expect(Bool(false))
        }
        #expect(wait.key == "RateLimit" && ahead == 1)
    }

    @Test func dependentOperation_isNamed_andWhatItIsDoneForIsItsGroup() {
        let held = Sketch.preparing(Sketch.op("a", after: ["first"]).having { $0.conditions = [probe] }, [0: .op("?probe.0")])
        var (cluster, id) = cluster(.op("first"), held)
        guard case .group(let around)? = cluster.explain("a/?probe.0")?.blockers.first else { return #expect(Bool(false)) }
        #expect(around.operation == "\(id)/a")
        cluster.end("first")
        guard case .condition(let wait)? = cluster.explain("a")?.blockers.first, case .preparing(let other) = wait.stage else {
            return #expect(Bool(false))
        }
        #expect(wait.key == "probe" && other.operation == "\(id)/a/?probe.0")
    }

    // MARK: Other attempts, and ends

    @Test func retry_isNamedWithItsNumberTimeAndTheFailure() throws {
        let sketch = Sketch.op("a", retries: 2).having {
            $0.backoff = Backoff(kind: .constant, initialMilliseconds: 9_000, jitterPermille: 0)
        }
        var (cluster, _) = cluster(sketch)
        cluster.end("a", failure("no luck"))
        guard case .retry(let wait)? = cluster.explain("a")?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.attempt == 2 && wait.attemptsMax == 3 && wait.until == cluster.now.wall + 9_000)
        #expect(wait.failure?.message == "no luck" && wait.decidedBy == nil)
    }

    @Test func memberOfARetryScope_waitsForTheTailsDecision() {
        let tail = Sketch.op("tail", receives: ["a"], retries: 1).having { $0.retriesNet = true }
        var (cluster, id) = cluster(.op("a"), tail)
        cluster.end("a", failure("no"))
        guard case .retry(let wait)? = cluster.explain("a")?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.decidedBy?.operation == "\(id)/tail" && wait.failure?.message == "no")
    }

    @Test func whatIsStopped_isNamedWithItsWorker_andWhenThatIsGoneForGood() throws {
        var (cluster, id) = cluster(.group("g", [.op("a"), .op("b")]))
        cluster.begin("g/a")
        cluster.end("g/b")
        _ = cluster.ask(.cancel(submission: "last", path: "g", reason: "enough", now: false))
        guard case .stopping(let wait)? = cluster.explain("g/a")?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.running?.worker == "h/1" && wait.since == cluster.now.wall && wait.until == 0 && wait.reason == "cancelled: enough")
        guard case .stopping(let group)? = cluster.explain("g")?.blockers.first else { return #expect(Bool(false)) }
        #expect(group.running?.operation == "\(id)/g/a" && group.open == 1)
        let heard = cluster.now.wall
        cluster.disconnect(1)
        cluster.advance(5_000)
        guard case .stopping(let silent)? = cluster.explain("g/a")?.blockers.first else { return #expect(Bool(false)) }
        #expect(silent.until == heard + cluster.configuration.orphanLimitMilliseconds)
    }

    @Test func whatDoesNotStop_isSaidToWaitForItsNeighbours_andWhatNowCosts() throws {
        var (cluster, id) = cluster(.op("a"), .op("b"))
        cluster.begin("a")
        cluster.begin("b")
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.stopping(peer, unit.unit, unit.attempt, forced: false, at: cluster.now.wall)])
        let soon = try cluster.explained("a")
        #expect(!soon.blockers[0].text(now: soon.at).contains("does not stop"))
        #expect(
            soon.blockers[0].remedy(for: "\(id)/a")
                == "`aop cancel \(id)/a --now` ends it without grace; if that takes the end of its process, "
                + "the other one in it is lost with it, and runs again (what runs at most once fails)")
        cluster.advance(cluster.configuration.graceMillisecondsDefault + 2_000)
        let late = try cluster.explained("a")
        #expect(late.blockers[0].text(now: late.at).hasSuffix(". It does not stop, and its process ends when \(id)/b has ended"))
        #expect(
            late.blockers[0].remedy(for: "\(id)/a")
                == "`aop cancel \(id)/a --now` ends its process at once: the other one in it is lost with it, and runs again "
                + "(what runs at most once fails)")
        // Whose that is, the reader may not know.
        guard case .stopping(var wait) = late.blockers[0] else { return #expect(Bool(false)) }
        wait.neighbours = [""]
        #expect(Blocker.stopping(wait).text(now: late.at).hasSuffix("its process ends when the other one in it has ended"))
        cluster.end("b")
        #expect(cluster.explain("a")?.blockers[0].text(now: late.at).hasSuffix("and its process is ended for it") == true)
    }

    @Test func valueForWhichThereIsNoRoom_isSaid_untilThereIs() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.valueWaits(peer, unit.unit, unit.attempt, reason: "no room")])
        #expect(cluster.explain("a")?.blockers == [.value("no room")])
        #expect(cluster.operations().last?.waiting == WaitingView(kind: .value, text: "no room"))
        cluster.step([.valueWaits(peer, unit.unit, unit.attempt, reason: nil)])
        #expect(cluster.explain("a")?.blockers.contains(.value("no room")) == false)
        cluster.step([.valueWaits(peer, unit.unit, unit.attempt, reason: "no room")])
        cluster.end("a")
        #expect(cluster.explain("a")?.blockers == [] && cluster.operations().last?.waiting == nil)
    }

    /// Its slot is taken by what has ended: another worker helps, and so does room.
    @Test func workerThatIsFullOfWhatHasEnded_isNotCalledBusyAlone() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        cluster.step([.valueWaits(try #require(cluster.peers[owner]), unit.unit, unit.attempt, reason: "there is no room for its value")])
        let blocker = try #require(cluster.explain("b")?.blockers.first)
        guard case .slots(let wait) = blocker else { return #expect(Bool(false)) }
        #expect(wait.takers.map(\.undelivered) == [1])
        #expect(blocker.text(now: 0).contains("1 for its 1 slot, of which 1 has ended, but there is no room for its value"))
        cluster.step([.valueWaits(try #require(cluster.peers[owner]), unit.unit, unit.attempt, reason: nil)])
        #expect(cluster.explain("b")?.blockers.first?.text(now: 0).contains("ended") == false)
    }

    @Test func heldBackByAFullSpool_isSaid() {
        var (cluster, _) = cluster(.op("a"))
        cluster.begin("a")
        let (owner, unit) = cluster.find("a", on: nil) ?? (0, cluster.held[1]![0])
        cluster.step([.heldBack(cluster.peers[owner]!, unit.unit, unit.attempt, reason: "the spool is full")])
        #expect(cluster.explain("a")?.blockers == [.partialResults("the spool is full")])
        #expect(cluster.explain("a")?.state == .running)
    }
}

extension FakeCluster {
    mutating func explain(_ path: String, of submission: String = "last") -> Explanation? {
        guard case .explanation(let explanation)? = ask(.explain(submission: submission, path: path)) else { return nil }
        return explanation
    }

    mutating func explained(_ path: String) throws -> Explanation {
        let explanation = explain(path)
        return try #require(explanation)
    }
}
