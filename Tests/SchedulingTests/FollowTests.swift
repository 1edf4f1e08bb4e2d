import Scheduling
import Testing

/// What followers are told, and what is cancelled from the outset.
@Suite struct FollowTests {
    private func events(_ cluster: FakeCluster) -> [UnitEvent] {
        cluster.sends.flatMap { send -> [UnitEvent] in
            if case .events(let batch) = send.message { batch.events } else { [] }
        }
    }

    private func cluster(_ depth: FollowDepth) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [Sketch.group("inner", [.op("a")])]).graph())
        _ = cluster.ask(.follow(submission: "last", depth))
        cluster.attach(1)
        return cluster
    }

    @Test func details_areGroupsAndValues() {
        var cluster = cluster(.everything)
        cluster.end("inner/a", .success(text("A")))
        #expect(events(cluster).map(\.path) == ["inner/a", "inner", ""])
        #expect(events(cluster).map(\.isGroup) == [false, true, true])
        #expect(events(cluster).first?.value == text("A"))
        #expect(events(cluster).allSatisfy { $0.startedAt > 0 })
        let worker = events(cluster).first?.worker
        #expect(worker?.isEmpty == false, "its start, which says where it is, need not be told")
        #expect(worker == cluster.operations().first { $0.path == "inner/a" }?.worker)
    }

    /// Its beginning was told with how it stands after that step: as its end, before the ends of what is in it.
    @Test func groupThatEndsAsItBegins_isToldOnce_afterWhatIsInIt() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a"), Sketch.group("outer", [Sketch.group("inner", [])], after: ["a"])]).graph())
        _ = cluster.ask(.follow(submission: "last", .everything))
        cluster.attach(1)
        cluster.end("a", .success(text("A")))
        #expect(events(cluster).map(\.path) == ["a", "outer/inner", "outer", ""])
        #expect(events(cluster).allSatisfy { $0.state == .succeeded && $0.startedAt > 0 })
    }

    /// It wants the lock, and gets it, in one step.
    @Test(arguments: [FollowDepth.operations, .everything]) func lockThatIsFree_isToldOnce(depth: FollowDepth) {
        var cluster = FakeCluster()
        let body = Sketch.op("body", exclusive: [Exclusion(key: "zz", limit: 2)])
        cluster.submit(Sketch.ordered("root", [.op("first"), .forEach("each", of: nil, list: ["1", "2", "3"], body: body)]).graph())
        _ = cluster.ask(.follow(submission: "last", depth))
        cluster.attach(1)
        cluster.end("first")
        func states(_ path: String) -> [OperationState] { events(cluster).filter { $0.path == path }.map(\.state) }
        #expect(states("each/0") == [.queued] && states("each/1") == [.queued])
        #expect(states("each/2") == [.locking])
        cluster.end("each/0")
        #expect(states("each/0") == [.succeeded] && states("each/2") == [.queued])
    }

    @Test func whatIsNews_isToldWithinOneStep() throws {
        var cluster = cluster(.operations)
        let (owner, held) = try #require(cluster.find("inner/a", on: nil))
        let peer = try #require(cluster.peers[owner])
        func progress(_ fraction: Double) -> Input {
            .progressed(peer, held.unit, held.attempt, Progress(fraction: fraction, message: nil, at: 1))
        }
        cluster.step([.started(peer, held.unit, held.attempt, at: cluster.now.wall), progress(0.25), progress(0.5)])
        #expect(events(cluster).map(\.state) == [.running, .running, .running])
        #expect(events(cluster).map { $0.progress?.fraction } == [nil, 0.25, 0.5])
    }

    @Test func withoutDetails_thereAreOnlyOperations() {
        var cluster = cluster(.operations)
        cluster.end("inner/a", .success(text("A")))
        #expect(events(cluster).map(\.path) == ["inner/a"])
        #expect(events(cluster).first?.value == nil)
    }

    @Test func endOnly_isOneMessage() {
        var cluster = cluster(.end)
        cluster.begin("inner/a")
        cluster.end("inner/a", .success(text("A")))
        let batches = cluster.sends.compactMap { send in if case .events(let batch) = send.message { batch } else { nil } }
        #expect(batches.map(\.view.state) == [.succeeded])
        #expect(batches.map(\.events.count) == [0])
    }

    @Test func whoFollowsForTheEnd_mayAskForMore() {
        var cluster = cluster(.end)
        _ = cluster.ask(.follow(submission: "last", .operations))
        _ = cluster.ask(.follow(submission: "last", .end))
        cluster.end("inner/a", .success(text("A")))
        #expect(events(cluster).map(\.path) == ["inner/a"])
    }

    @Test func whatRuns_isToldWhenItsWorkerIsBackAfterARestart() throws {
        var cluster = cluster(.everything)
        cluster.begin("inner/a")
        try cluster.restart()
        _ = cluster.ask(.follow(submission: "last", .everything))
        #expect(cluster.state("inner/a") == .queued)
        cluster.reattach(1)
        #expect(events(cluster).map(\.path) == ["inner/a"])
        #expect(events(cluster).map(\.state) == [.running])
    }

    @Test func cancelledFromTheOutset_isNeverHandedOut() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let graph = Sketch.group("root", [.op("a"), .op("b")]).graph()
        _ = cluster.ask(.submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true, cancelled: [1, 7]))
        #expect(!cluster.holds("a"))
        #expect(cluster.state("a") == .cancelled)
        cluster.end("b")
        #expect(cluster.view()?.state == .failed)
    }
}
