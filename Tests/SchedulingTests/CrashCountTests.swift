import Scheduling
import Testing

/// Deaths of processes that the coordinator hears of only after it was restarted itself.
@Suite struct CrashCountTests {
    /// Each process dies while the coordinator is away, and its supervisor proves it before anybody has attached.
    @Test func deathsWhileTheCoordinatorWasAway_countUpToTheLimit() throws {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let limit = cluster.configuration.crashLimit
        for executor in 1...limit {
            cluster.attach(executor, slots: 4)
            cluster.begin("a")
            #expect(cluster.dispatched.count == executor)
            try cluster.restart()
            cluster.die(executor)
        }
        #expect(cluster.state("a") == .failed)
        #expect(cluster.operations(failedOnly: true).last?.errors.first?.code == .workerLost)
    }

    @Test(arguments: [1, 2, 7])
    func limitOfItsOwn_isThatOfTheGroupAround_andKeepsNobodyElseFromWorkers(limit: Int) throws {
        let own = limit == 2 ? Sketch.op("a").having { $0.crashLimit = 2 } : .op("a")
        let around = limit == 2 ? 900 : limit
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.group("g", [own]).having { $0.crashLimit = around }]).graph())
        #expect(cluster.operations().map(\.crashLimit) == [5, around, limit])
        for executor in 1...limit {
            cluster.attach(executor)
            #expect(cluster.heldPaths == ["g/a"])
            if executor == 1 {
                try cluster.restart()
                cluster.reattach(1)
            }
            cluster.die(executor)
            #expect(cluster.operations().last?.crashes == executor)
        }
        #expect(cluster.state("g/a") == .failed)
        #expect(cluster.operations(failedOnly: true).last?.errors.first?.code == .workerLost)
        // Fewer than the coordinator allows for say nothing of others.
        cluster.submit(Sketch.group("root", [.op("like")]).graph(), key: "other")
        cluster.attach(200)
        #expect(cluster.holds("like") == (limit < 5))
    }

    /// What a member was in an earlier attempt of its group is not held against it.
    @Test(arguments: [false, true]) func memberOfAGroupThatBeginsAnew_mayLoseItsWorker_andHasAllOfItsDeathsAgain(restarts: Bool) throws {
        var cluster = FakeCluster()
        let member = Sketch.op("a").having { $0.crashLimit = 2 }
        cluster.submit(Sketch.group("root", [.group("g", [member], retries: 1)]).graph())
        for executor in 1...2 {
            cluster.attach(executor)
            cluster.die(executor)
        }
        #expect(cluster.state("g") == .retrying)
        if restarts { try cluster.restart() }
        cluster.advance(70_000)
        #expect(cluster.operations().last?.crashes == 0)
        cluster.attach(3)
        #expect(cluster.heldPaths == ["g/a"])
        cluster.die(3, crashed: false)
        for executor in 4...5 {
            cluster.attach(executor)
            #expect(cluster.heldPaths == ["g/a"])
            if restarts {
                try cluster.restart()
                cluster.reattach(executor)
            }
            cluster.die(executor)
        }
        #expect(cluster.view()?.state == .failed)
        let message = "its worker process died under it 2 times, on h/4 and h/5; see the log there for the cause"
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.message) == [message])
    }

    @Test(arguments: [0, 1_001]) func limitOutOfRange_isRefused(limit: Int) {
        let graph = Sketch.group("root", [.op("a")]).having { $0.crashLimit = limit }.graph()
        #expect(graph.faults().map(\.message) == ["has a `crashLimit` of \(limit); it must be from 1 to 1000"])
    }

    /// Of what waits at a process whose operations begin by themselves nobody knows what ran when it died.
    @Test(arguments: [0, 2]) func deathOfAProcessWithALine_provesNothing(line: Int) {
        var configuration = Scheduler.Configuration()
        configuration.crashLimit = 1
        var cluster = FakeCluster(configuration)
        cluster.submit(Sketch.group("root", (0..<8).map { .op("n\($0)") }).graph())
        cluster.attach(1, line: line)
        // Short ones are sent ahead.
        cluster.end("n0", on: 1)
        #expect(cluster.held[1]?.count ?? 0 > 3)
        cluster.die(1)
        // With one that can have run, that one did it.
        #expect(cluster.operations(failedOnly: true).filter { $0.kind == .operation }.map(\.path) == (line == 0 ? ["n1"] : []))
        guard line > 0 else { return }
        cluster.attach(2)
        #expect(cluster.held[2]?.count == 1, "a suspect runs alone")
    }

    /// A process that was told to end, one that said goodbye, and a host that is not heard any more.
    @Test func drainStopAndHostLoss_doNotCount() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        let limit = cluster.configuration.crashLimit
        for executor in 1...(3 * limit) {
            cluster.attach(executor)
            cluster.begin("a")
            #expect(cluster.find("a", on: executor)?.1.attemptNumber == executor)
            switch executor % 3 {
            case 0: cluster.die(executor, crashed: false)
            case 1: cluster.depart(executor)
            default:
                cluster.disconnect(executor)
                cluster.advance(cluster.configuration.orphanLimitMilliseconds)
            }
        }
        for executor in 1...limit {
            cluster.attach(100 + executor)
            #expect(cluster.find("a", on: 100 + executor) != nil)
            cluster.die(100 + executor)
        }
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.workerLost])
    }

    /// A process that runs what another one has taken over meanwhile is told to drop it, and dies.
    @Test func deathUnderAnAttemptThatIsNotTheUnitsAnyMore_doesNotCount() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a")]).graph())
        for executor in 1...(2 * cluster.configuration.crashLimit) {
            cluster.attach(executor)
            cluster.begin("a")
            cluster.disconnect(executor)
            cluster.advance(cluster.configuration.orphanLimitMilliseconds)
            cluster.attach(1_000 + executor)
            #expect(cluster.find("a", on: 1_000 + executor) != nil)
            cluster.reattach(executor)
            cluster.die(executor)
            cluster.depart(1_000 + executor)
        }
        cluster.attach(100)
        #expect(cluster.holds("a"))
    }

    @Test func unitsThatSharedAProcessThatDiedMeanwhile_runAlone() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        #expect(cluster.heldPaths == ["a", "b"])
        try cluster.restart()
        cluster.die(1)
        cluster.attach(2, slots: 4)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        #expect(cluster.heldPaths == ["b"])
        cluster.end("b")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func markAndCount_surviveARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        cluster.submit(Sketch.group("root", [.op("a"), .given("{\"n\":2}", .op("b"))]).graph())
        cluster.die(1)
        for executor in 2...cluster.configuration.crashLimit + 1 {
            try cluster.restart()
            cluster.attach(executor, slots: 2)
            #expect(cluster.heldPaths == ["a"])
            cluster.die(executor)
        }
        #expect(cluster.state("a") == .failed)
        cluster.attach(100, slots: 2)
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func ends_areNumberedInTheirOrder_alsoAfterARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        cluster.submit(Sketch.group("root", [.op("a", after: ["b"]), .op("b"), .op("c", after: ["b"])], stop: true).graph())
        cluster.end("b", failure("no"))
        func numbers() -> [String: Int] {
            Dictionary(uniqueKeysWithValues: cluster.operations().map { ($0.path, $0.endNumber) })
        }
        let before = numbers()
        #expect(before["b"] == 1)
        #expect(before[""] == 4)
        #expect(Set(before.values) == [1, 2, 3, 4])
        #expect(Set(cluster.operations().map(\.finishedAt)).count == 1)
        try cluster.restart()
        #expect(numbers() == before)
    }
}
