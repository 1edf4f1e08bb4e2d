import Scheduling
import Testing

/// Submissions once more (`aop retry`), and how what runs is stopped, stage by stage.
@Suite struct SteeringTests {
    private struct Retried: Equatable {
        let id: String
        let existing: Bool
        let lifted: Int
    }

    private func retry(_ cluster: inout FakeCluster, _ id: String?, key: String, force: Bool) -> Retried? {
        guard case .retried(let id, let existing, let lifted)? = cluster.ask(.retry(submission: id ?? "", key: key, force: force)) else {
            return nil
        }
        return Retried(id: id, existing: existing, lifted: lifted)
    }

    @Test func retry_submitsTheGraphAgain_onceUnderItsKey() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let first = cluster.submit(Sketch.group("root", [.op("a")]).graph(name: "nightly"))
        cluster.end("a", failure("no"))
        let made = retry(&cluster, first, key: "again", force: false)
        let again = try #require(made)
        #expect(again.id != first && !again.existing && again.lifted == 0)
        #expect(cluster.view()?.name == "nightly")
        let repeated = retry(&cluster, first, key: "again", force: false)
        #expect(repeated == Retried(id: again.id, existing: true, lifted: 0))
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func retry_underAKeyThatAnotherGraphHas_isRefused() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph(), key: "nightly")
        cluster.end("a")
        let other = cluster.submit(Sketch.group("root", [.op("b")]).graph(), key: "other")
        cluster.end("b")
        guard case .failed(.refused(let message, _))? = cluster.ask(.retry(submission: other ?? "", key: "nightly", force: false)) else {
            Issue.record("it was not refused")
            return
        }
        #expect(message.contains("KeyReused"))
    }

    @Test func retry_ofWhatRuns_orOfHostedCode_isRefused() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        guard case .failed(.refused(let message, _))? = cluster.ask(.retry(submission: "last", key: "again", force: true)) else {
            Issue.record("was not refused")
            return
        }
        #expect(message.contains("has not ended"))
        cluster.attach(9, isSubmitter: true)
        cluster.submit(Sketch.group("root", [Sketch.op("h").having { $0.isHosted = true }]).graph(), key: "hosted", submitter: 9)
        cluster.drain()
        guard case .failed(.refused(let other, _))? = cluster.ask(.retry(submission: "last", key: "again", force: true)) else {
            Issue.record("was not refused")
            return
        }
        #expect(other.contains("code of the process that submitted it"))
    }

    @Test func force_liftsTheQuarantine_alsoAcrossARestart() throws {
        let types: [OperationSignature] = ["crash"]
        let graph = Sketch.group("root", [.given("{\"n\":1}", .op("a", type: "crash")), .given("{\"n\":1}", .op("b", type: "crash"))])
            .graph()
        var cluster = FakeCluster()
        let first = cluster.submit(graph)
        for executor in 1...10 where cluster.view()?.state != .failed {
            cluster.attach(executor, operations: types)
            cluster.die(executor)
        }
        cluster.attach(50, operations: types)
        cluster.submit(graph, key: "kept")
        #expect(cluster.heldPaths.isEmpty)
        #expect(cluster.operations(failedOnly: true).last?.errors.first?.message.contains("aop retry ID --force") == true)
        let kept = retry(&cluster, first, key: "plain", force: false)
        #expect(kept?.lifted == 0)
        #expect(cluster.heldPaths.isEmpty)
        let again = retry(&cluster, first, key: "again", force: true)
        #expect(again?.lifted == 1)
        #expect(cluster.heldPaths == ["a"])
        try cluster.restart()
        cluster.reattach(50, operations: types)
        cluster.end("a")
        cluster.end("b")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func force_ofWhatIsNotAdmittedNow_liftsNothing() throws {
        let types: [OperationSignature] = ["crash"]
        let graph = Sketch.group("root", [.given("{}", .op("a", type: "crash"))]).graph()
        var cluster = FakeCluster()
        let first = cluster.submit(graph)
        for executor in 1...10 where cluster.view()?.state != .failed {
            cluster.attach(executor, operations: types)
            cluster.die(executor)
        }
        cluster.attach(50, operations: types)
        cluster.step([.diskFilled("no room")])
        guard case .failed(.busy("no room"))? = cluster.ask(.retry(submission: first ?? "", key: "again", force: true)) else {
            Issue.record("it was not busy")
            return
        }
        cluster.step([.diskFilled(nil)])
        cluster.submit(graph, key: "kept")
        #expect(cluster.heldPaths.isEmpty, "it is still kept from workers")
        let again = retry(&cluster, first, key: "again", force: true)
        #expect(again?.lifted == 1)
        #expect(cluster.heldPaths == ["a"])
    }

    // MARK: Stopping

    private func stopping(_ cluster: inout FakeCluster, forced: Bool, at: Int64? = nil) throws {
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([.stopping(peer, unit.unit, unit.attempt, forced: forced, at: at ?? cluster.now.wall)])
    }

    @Test func cancellation_isSeenStageByStage_withItsTimes_alsoAcrossARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        let start = cluster.now.wall
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "wrong input", now: false))
        #expect(cluster.history().map(\.event) == [.requested])
        #expect(cluster.history().first?.text == "cancelled: wrong input")
        cluster.advance(10)
        try stopping(&cluster, forced: false)
        try stopping(&cluster, forced: false)
        #expect(cluster.history().map(\.event) == [.requested, .delivered, .stopping], "told twice, noted once")
        try cluster.restart()
        cluster.reattach(1)
        cluster.advance(20)
        try stopping(&cluster, forced: true)
        cluster.end("a", .stopped)
        let stages = cluster.history()
        let end = cluster.operations().first { $0.path == "a" }?.finishedAt
        #expect(stages.map(\.event) == [.requested, .delivered, .stopping, .killed, .acknowledged])
        #expect(stages.map(\.at).sorted() == stages.map(\.at))
        #expect(stages.first?.at == start)
        #expect(stages.last?.at == end)
        try cluster.restart()
        #expect(cluster.history() == stages)
        #expect(cluster.history("b").isEmpty)
    }

    @Test func whatEndsInItsGrace_hasStopped_andWhatIsLostHasToo() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
        try stopping(&cluster, forced: false, at: cluster.now.wall + 99_999)
        #expect(cluster.history().last?.at == cluster.now.wall, "an executor's clock may be wrong")
        cluster.end("a", .stopped)
        #expect(cluster.history().map(\.event) == [.requested, .delivered, .stopping, .stopped, .acknowledged])

        var lost = FakeCluster()
        lost.attach(1)
        lost.submit(Sketch.group("root", [.op("a")]).graph())
        _ = lost.ask(.cancel(submission: "last", path: "", reason: "", now: true))
        lost.die(1)
        #expect(lost.history().map(\.event) == [.requested, .stopped, .acknowledged])
        #expect(lost.history().first?.text == "cancelled, without grace")
    }

    @Test func stages_areToldToFollowers_asTheyCome() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        _ = cluster.ask(.follow(submission: "last"))
        func told() -> [UnitEvent] {
            cluster.sends.flatMap { send -> [UnitEvent] in
                if case .events(let batch) = send.message { batch.events.filter { $0.path == "a" } } else { [] }
            }
        }
        cluster.begin("a")
        #expect(told().map(\.history) == [[]])
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        cluster.step([
            .request(RequestID(peer: cluster.client, number: 900), .cancel(submission: "last", path: "a", reason: "", now: false))
        ])
        #expect(told().map { $0.history.map(\.event) } == [[.requested]])
        cluster.step([.stopping(peer, unit.unit, unit.attempt, forced: false, at: cluster.now.wall)])
        #expect(told().map { $0.history.map(\.event) } == [[.requested, .delivered, .stopping]])
        #expect(told().map(\.state) == [.stopping])
        cluster.end("a", .stopped)
        #expect(told().map { $0.history.map(\.event) } == [[.requested, .delivered, .stopping, .stopped, .acknowledged]])
        #expect(told().map(\.state) == [.cancelled])
    }

    /// Its code ignores the cancellation, and nothing ends that but the end of its process, which has a healthy neighbour.
    @Test func whatDoesNotStop_isShownAsThat_andNotAsEndedByForce() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 3)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), .op("c")]).graph())
        for path in ["a", "b", "c"] { cluster.begin(path) }
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        // Its executor's clock is behind.
        try stopping(&cluster, forced: false, at: cluster.now.wall - 60_000)
        let told = cluster.now.wall
        let due = cluster.configuration.graceMillisecondsDefault + 2_000
        cluster.advance(due - 1)
        #expect(cluster.history().map(\.event) == [.requested, .delivered, .stopping], "its executor has not given it up")
        cluster.advance(1)
        #expect(cluster.history().map(\.event) == [.requested, .delivered, .stopping, .overdue])
        #expect(cluster.history().last?.text == "does not stop; its process ends when the 2 others in it have ended")
        #expect(cluster.history().last?.at == told + due)
        #expect(cluster.explain("a")?.history.last?.event == "overdue")
        cluster.end("b")
        #expect(cluster.history().last?.text == "does not stop; its process ends when the other one in it has ended")
        try cluster.restart()
        #expect(cluster.history().last?.event == .stopping, "nothing is known of what is not heard")
        cluster.reattach(1, slots: 3)
        cluster.begin("a")
        cluster.begin("c")
        #expect(cluster.history().last?.event == .overdue)
        cluster.end("c")
        #expect(cluster.history().last?.text == "does not stop; its process is ended for it")
        try stopping(&cluster, forced: true)
        cluster.die(1, crashed: false)
        #expect(cluster.history().map(\.event) == [.requested, .delivered, .stopping, .killed, .acknowledged])
        #expect(cluster.state("a") == .cancelled)
    }

    /// A process that hangs in the kernel.
    @Test func whatWasEndedByForce_andIsNotGone_isShownAsThatToo() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.begin("a")
        cluster.begin("b")
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: true))
        try stopping(&cluster, forced: false)
        try stopping(&cluster, forced: true)
        cluster.advance(1_999)
        #expect(cluster.history().last?.event == .killed)
        cluster.advance(1)
        #expect(cluster.history().last?.event == .overdue)
        cluster.end("a", .stopped)
        #expect(cluster.history().map(\.event) == [.requested, .delivered, .stopping, .killed, .acknowledged], "it is shown, and not kept")
    }

    @Test func stopsOfAttemptsThatWereNotToldTo_areNoneOfTheUnits() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        try stopping(&cluster, forced: false)
        #expect(cluster.history().isEmpty)
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
    }
}

extension FakeCluster {
    fileprivate mutating func history(_ path: String = "a") -> [HistoryEntry] {
        operations().first { $0.path == path }?.history ?? []
    }
}
