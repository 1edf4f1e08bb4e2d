import Scheduling
import Testing

/// What must not run twice.
@Suite struct AtMostOnceTests {
    /// Others are sent ahead, when it is known that they are short; it would be lost with what it waits for.
    @Test func itWaitsForAFreeSlot_notInAnExecutor() {
        var cluster = FakeCluster()
        cluster.attach(1)
        let nodes = (0..<20).map { number in Sketch.op("n\(number)").having { $0.atMostOnce = number >= 10 } }
        cluster.submit(Sketch.group("root", nodes).graph())
        cluster.end("n0", lasting: 1)
        #expect(cluster.heldPaths.count == 1)
        var most = 0
        for _ in 1..<20 {
            guard let path = cluster.heldPaths.first else { break }
            most = max(most, cluster.heldPaths.count { path in (10..<20).contains { path == "n\($0)" } })
            cluster.end(path, lasting: 1)
        }
        #expect(most == 1 && cluster.view()?.state == .succeeded)
    }

    private static let graph = Sketch.group("root", [.op("a").having { $0.atMostOnce = true }, .op("b", after: ["a"])]).graph()

    private func failure(_ cluster: inout FakeCluster) -> Failure? { cluster.operations().first { $0.path == "a" }?.errors.first }

    @Test(arguments: [true, false])
    func deathOfItsWorker_failsIt_andIsNoReasonToRunItAgain(crashed: Bool) {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.attach(2)
        cluster.submit(Self.graph)
        cluster.die(1, crashed: crashed)
        #expect(failure(&cluster)?.code == .workerLost)
        #expect(failure(&cluster)?.typeName == "WorkerLost")
        #expect(
            failure(&cluster)?.message
                == "its worker was lost when it may have begun, and `atMostOnce` does not let it run again;"
                + " find out what it has done before you submit it again")
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func silentWorker_hasUntilTheLockLease_thenItFails() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Self.graph)
        cluster.disconnect(1)
        cluster.attach(2)
        cluster.advance(19_999)
        #expect(cluster.heldPaths == ["a"])
        cluster.advance(1)
        #expect(failure(&cluster)?.code == .workerLost)
    }

    @Test func workerThatComesBackInTime_goesOnWithIt() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Self.graph)
        cluster.disconnect(1)
        cluster.advance(15_000)
        cluster.reattach(1)
        try cluster.restart(after: 2_000)
        cluster.reattach(1)
        cluster.end("a")
        #expect(cluster.state("a") == .succeeded)
        #expect(cluster.dispatched.filter { $0 == "a" }.count == 1)
    }

    @Test func workerThatGaveItBackUnbegun_letsAnotherRunIt() throws {
        var cluster = FakeCluster()
        cluster.isOnceChecked = false
        cluster.attach(1)
        cluster.submit(Self.graph)
        let (_, unit) = try #require(cluster.find("a", on: 1))
        let peer = try #require(cluster.peers[1])
        cluster.forget(unit, of: 1)
        cluster.attach(2)
        cluster.step([.draining(peer), .released(peer, unit.unit, unit.attempt)])
        #expect(cluster.find("a", on: 2) != nil)
    }

    /// One gives a unit back on its own when its lock lease ends, and it was heard again in time: it goes on.
    @Test(arguments: [true, false]) func workerThatGaveItBackUnbegun_getsItAgain_ifItTakesAny(isAccepting: Bool) throws {
        var cluster = FakeCluster()
        cluster.isOnceChecked = false
        cluster.attach(1)
        cluster.submit(Self.graph)
        let (_, unit) = try #require(cluster.find("a", on: 1))
        cluster.forget(unit, of: 1)
        cluster.step([.released(try #require(cluster.peers[1]), unit.unit, unit.attempt, isAccepting: isAccepting)])
        #expect((cluster.find("a", on: 1) != nil) == isAccepting)
    }

    @Test func everythingInAGroup_runsAtMostOnce() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .group("g", [.op("a"), .forEach("e", of: nil, list: ["1", "2"], body: .op("x"))]).having { $0.atMostOnce = true },
                    .op("b"),
                ]
            ).graph())
        #expect(cluster.operations().filter(\.isAtMostOnce).map(\.path) == ["g", "g/a", "g/e", "g/e/0", "g/e/1"])
        cluster.die(1, crashed: false)
        cluster.attach(2)
        #expect(cluster.heldPaths == ["b"])
        #expect(cluster.state("g") == .failed)
    }

    @Test func withRetry_isRefused_alsoAroundAndInside() {
        func once(_ sketch: Sketch) -> Sketch { sketch.having { $0.atMostOnce = true } }
        let graph = Sketch.group(
            "root",
            [
                once(.op("a", retries: 1)),
                .group("g", [.group("h", [once(.op("a"))])], retries: 1),
                once(.group("i", [.op("a", retries: 1)])),
                once(.group("j", [once(.op("a"))])),
            ]
        ).graph()
        #expect(
            graph.faults().map { "\($0.path): \($0.message)" } == [
                "a: has `atMostOnce` and `retry`, which exclude each other; leave one out",
                "g/h/a: has `atMostOnce`, and a group around it has `retry`, which would run it again; leave one of them out",
                "i/a: has `retry`, and a group around it has `atMostOnce`: what must not run twice is not tried again; leave one of them out",
            ])
    }
}
