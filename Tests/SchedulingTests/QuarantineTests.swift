import Scheduling
import Testing

/// Operations that end their worker's process time and again, and others of the same type and parameters.
@Suite struct QuarantineTests {
    /// Lets the operation `a` of a new submission end as many processes as it may; executors from `first` on.
    private func wearOut(_ cluster: inout FakeCluster, _ graph: Graph, from first: Int = 1) {
        cluster.submit(graph)
        for executor in first..<(first + cluster.configuration.crashLimit) {
            cluster.attach(executor, slots: 1, operations: types)
            #expect(cluster.heldPaths == ["a"])
            cluster.die(executor)
        }
        #expect(cluster.state("a") == .failed)
    }

    private let types: [OperationSignature] = ["crash", "other", "shell"]
    private let bad = Sketch.group("root", [.given("{\"n\":1}", .op("a", type: "crash"))]).graph()

    @Test func another_withTheSameTypeAndParameters_failsAtOnce_andNamesTheFirst() throws {
        var cluster = FakeCluster()
        wearOut(&cluster, bad)
        cluster.attach(50, slots: 1, operations: types)
        cluster.submit(bad, key: "again")
        #expect(cluster.heldPaths.isEmpty)
        let failure = try #require(cluster.operations(failedOnly: true).last?.errors.first)
        #expect(failure.code == .quarantined)
        #expect(failure.typeName == "Quarantined")
        #expect(failure.message.contains("`crash`"))
        #expect(failure.message.contains("5 times"))
        #expect(failure.message.contains("/a)"))
    }

    @Test func otherParameters_andOtherTypes_areTried() throws {
        var cluster = FakeCluster()
        wearOut(&cluster, bad)
        cluster.attach(50, slots: 4, operations: types)
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .given("{\"n\":2}", .op("b", type: "crash")), .given("{\"n\":1}", .op("c", type: "other")),
                    .given("{\"n\":1}", .op("d", type: "crash")),
                ]
            ).graph(), key: "others")
        #expect(cluster.heldPaths == ["b", "c"])
        #expect(cluster.state("d") == .failed)
    }

    @Test func afterAnHour_itIsTriedAgain() throws {
        var cluster = FakeCluster()
        wearOut(&cluster, bad)
        cluster.attach(50, slots: 1, operations: types)
        cluster.advance(3_599_000)
        cluster.submit(bad, key: "early")
        #expect(cluster.heldPaths.isEmpty)
        cluster.advance(2_000)
        cluster.attach(51, slots: 1, operations: types)
        cluster.submit(bad, key: "late")
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func itSurvivesARestart() throws {
        var cluster = FakeCluster()
        wearOut(&cluster, bad)
        try cluster.restart()
        cluster.attach(50, slots: 1, operations: types)
        cluster.submit(bad, key: "again")
        #expect(cluster.heldPaths.isEmpty)
        #expect(cluster.state("a") == .failed)
    }

    @Test func aNewVersionOfTheType_isTried() throws {
        var cluster = FakeCluster()
        wearOut(&cluster, bad)
        cluster.attach(50, slots: 1, operations: [OperationSignature(name: "crash", version: 2, oldestVersion: 1)])
        cluster.submit(bad, key: "again")
        #expect(cluster.heldPaths == ["a"])
    }

    @Test func commands_areNeverKeptFromWorkers() throws {
        var cluster = FakeCluster()
        let command = Sketch.group("root", [.given("{}", .op("a", type: "shell"))]).graph()
        wearOut(&cluster, command)
        cluster.attach(50, slots: 1, operations: types)
        cluster.submit(command, key: "again")
        #expect(cluster.heldPaths == ["a"])
    }

    /// What waited for the same lock meanwhile fails when its turn comes, and gives the lock on.
    @Test func whoWaitedForItsLock_failsAndReleasesIt() throws {
        var cluster = FakeCluster()
        cluster.submit(
            Sketch.group(
                "root",
                [
                    .op("a", type: "crash", exclusive: [Exclusion(key: "k")]), .op("b", type: "crash", exclusive: [Exclusion(key: "k")]),
                    .op("c", type: "other", exclusive: [Exclusion(key: "k")]),
                ]
            ).graph())
        for executor in 1...cluster.configuration.crashLimit {
            cluster.attach(executor, slots: 1, operations: types)
            #expect(cluster.heldPaths == ["a"])
            cluster.die(executor)
        }
        cluster.attach(50, slots: 1, operations: types)
        #expect(cluster.heldPaths == ["c"])
        #expect(cluster.operations(failedOnly: true).flatMap(\.errors).map(\.code).contains(.quarantined))
    }
}
