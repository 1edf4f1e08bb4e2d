import Scheduling
import Testing

/// Locks that are taken from those who hold them (`aop locks release`).
@Suite struct FencingTests {
    private func cluster(_ sketches: Sketch..., executors: Int = 2) -> FakeCluster {
        var cluster = FakeCluster()
        for executor in 1...executors { cluster.attach(executor) }
        cluster.submit(Sketch.group("root", sketches).graph())
        return cluster
    }

    private func holders(_ cluster: inout FakeCluster, _ key: String = "db") -> [String] {
        guard case .locks(let views, _)? = cluster.ask(.locks(key: key, from: 0)) else { return [] }
        return views.flatMap(\.holders).map(\.operation)
    }

    private func release(_ cluster: inout FakeCluster, now: Bool, key: String = "db", reason: String = "") -> [String] {
        let named = holders(&cluster, key)
        guard case .lockReleased(let holders)? = cluster.ask(.releaseLock(key: key, holders: named, reason: reason, now: now)) else {
            return []
        }
        return holders
    }

    @Test func force_cancelsTheHolder_andTheNextHasTheLockWhenThatHasStopped() {
        var cluster = cluster(.keyed("a", "db"), .keyed("b", "db"))
        let released = release(&cluster, now: false, reason: "stuck")
        #expect(released.map { $0.hasSuffix("/a") } == [true])
        #expect(cluster.stops.map(\.now) == [false])
        #expect(cluster.state("a") == .stopping)
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a", .stopped)
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.heldPaths == ["b"])
        #expect(cluster.view()?.cancelReason == "", "nobody has cancelled the whole")
        #expect(cluster.explain("a")?.causes.last?.text == "was cancelled by a user: its lock `db` is released by force: stuck")
    }

    @Test func now_failsTheHolderAtOnce_refusesItsResult_andTheNextHasAHigherToken() throws {
        var cluster = cluster(.keyed("a", "db"), .keyed("b", "db"), .op("c", after: ["a"]), executors: 3)
        cluster.begin("a")
        let (owner, first) = try #require(cluster.find("a", on: nil))
        let peer = try #require(cluster.peers[owner])
        let released = release(&cluster, now: true, reason: "stuck")
        #expect(released.count == 1)
        #expect(cluster.stops.contains { $0.attempt == first.attempt && $0.now })
        let failed = cluster.operations(failedOnly: true)
        let failure = try #require(failed.last?.errors.first)
        #expect(failure.code == .fenced)
        #expect(failure.typeName == "Fenced")
        #expect(failure.message.contains("`db`") && failure.message.contains("(stuck)"))
        let second = try #require(cluster.find("b", on: nil)?.1)
        let tokens = (first.fences + second.fences).map(\.token)
        #expect(tokens.count == 2 && tokens[0] < tokens[1])
        #expect(cluster.holds("c"))

        cluster.step([.ended(peer, first.unit, first.attempt, .success(text("late")), startedAt: cluster.now.wall, at: cluster.now.wall)])
        let isAcknowledged = cluster.sends.contains { send in
            if case .acknowledge(let names) = send.message { names.map(\.attempt) == [first.attempt] } else { false }
        }
        #expect(isAcknowledged)
        #expect(cluster.state("a") == .failed)
        let history = cluster.operations().first { $0.path == "a" }?.history ?? []
        #expect(history.map(\.event) == [.requested, .fenced, .lateResultRefused])
        #expect(
            history.dropFirst().map(\.text) == [
                "what attempt 1 still reports is refused", "what an attempt reported after its lock was released is refused",
            ])
    }

    @Test func now_aHolderThatIsAGroup_failsWithEverythingInIt_alsoAcrossARestart() throws {
        var cluster = cluster(.holding("g", "db", [.op("x"), .op("y"), .op("z", after: ["x"])]), .keyed("b", "db"), executors: 2)
        #expect(cluster.heldPaths == ["g/x", "g/y"])
        _ = release(&cluster, now: true)
        #expect(cluster.stops.count == 2)
        #expect(cluster.state("g") == .failed)
        for path in ["g/x", "g/y", "g/z"] { #expect(cluster.state(path) == .cancelled) }
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.fenced])
        let next = holders(&cluster)
        #expect(next.map { $0.hasSuffix("/b") } == [true])
        let before = cluster.operations()
        try cluster.restart()
        #expect(cluster.operations().map(\.state) == before.map(\.state))
        #expect(cluster.operations().map(\.history) == before.map(\.history))
    }

    @Test func now_whileConditionsAreEvaluated_orWhileItWaitsToBeTriedAgain() {
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        var evaluating = cluster(Sketch.keyed("a", "db").having { $0.conditions = [probe] }, .keyed("b", "db"))
        #expect(evaluating.heldPaths == ["a"])
        _ = release(&evaluating, now: true)
        #expect(evaluating.state("a") == .failed)
        let text = evaluating.explain("a")?.history.first { $0.event == "fenced" }?.text
        #expect(text == "what the evaluation of its conditions still reports is refused")
        #expect(evaluating.holds("b"))

        var waiting = cluster(.keyed("a", "db", retries: 1), .keyed("b", "db"))
        waiting.end("a", failure("once"))
        _ = release(&waiting, now: true)
        #expect(waiting.state("a") == .failed)
        #expect(waiting.holds("b"))
    }

    @Test func sameRequestAgain_takesItFromNobodyElse() {
        var cluster = cluster(.keyed("a", "db"), .keyed("b", "db"))
        let named = holders(&cluster)
        for _ in 0..<2 { _ = cluster.ask(.releaseLock(key: "db", holders: named, reason: "", now: true)) }
        #expect(cluster.state("a") == .failed)
        #expect(cluster.holds("b"))
        guard case .lockReleased(let none)? = cluster.ask(.releaseLock(key: "unheard of", holders: named, reason: "", now: true)) else {
            Issue.record("a key that nobody names is no error here")
            return
        }
        #expect(none.isEmpty)
    }

    // MARK: What such attempts have of their hosts

    /// `a` runs with the only gpu and its lock is released; `b` needs the gpu.
    private func fencedWithAGPU() -> FakeCluster {
        func taking(_ sketch: Sketch) -> Sketch {
            sketch.having { $0.requires = Requirements(resources: [ResourceAmount(name: "gpus", amount: 1)]) }
        }
        var cluster = FakeCluster()
        for executor in 1...2 { cluster.attach(executor, slots: 2, host: gpu) }
        cluster.submit(Sketch.group("root", [.op("x"), taking(.keyed("a", "db")), taking(.op("b", after: ["x"]))]).graph())
        cluster.end("x")
        #expect(cluster.heldPaths == ["a"])
        cluster.begin("a")
        _ = release(&cluster, now: true)
        #expect(cluster.state("a") == .failed)
        let isTaken = !cluster.holds("b")
        #expect(isTaken, "the attempt may still use it")
        return cluster
    }

    private let gpu = FakeHost(supervisor: 1, resources: [ResourceAmount(name: "gpus", amount: 1)])

    private enum Over: CaseIterable { case reported, processEnded, orphanLimit, backWithoutIt, backWithIt, givenBack }

    @Test(arguments: Over.allCases, [false, true])
    private func now_resourcesAreGivenBack_whenTheBodyIsOver_orItsLeaseIs(_ over: Over, afterARestart: Bool) throws {
        var cluster = fencedWithAGPU()
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        if afterARestart {
            try cluster.restart()
            cluster.reattach(3 - owner, slots: 2)
            if over != .orphanLimit, over != .backWithoutIt { cluster.reattach(owner, slots: 2) }
            expectB(cluster, false)
        }
        switch over {
        case .reported: cluster.end("a", .stopped)
        case .processEnded: cluster.die(owner)
        case .orphanLimit:
            cluster.disconnect(owner)
            cluster.advance(300_000)
            expectB(cluster, false)
            cluster.advance(310_000)
        case .backWithoutIt:
            cluster.forget(unit, of: owner)
            cluster.disconnect(owner)
            cluster.reattach(owner, slots: 2)
        case .backWithIt:
            cluster.disconnect(owner)
            cluster.reattach(owner, slots: 2)
            #expect(cluster.stops.contains { $0.attempt == unit.attempt && $0.now }, "it is told once more to stop")
            expectB(cluster, false)
            cluster.end("a")
        case .givenBack:
            let peer = try #require(cluster.peers[owner])
            cluster.forget(unit, of: owner)
            cluster.step([.released(peer, unit.unit, unit.attempt, wasStopped: true)])
        }
        expectB(cluster, true)
        #expect(cluster.state("a") == .failed)
        cluster.end("b")
        #expect(cluster.view()?.counts.succeeded == 2)
    }

    private func expectB(_ cluster: FakeCluster, _ holds: Bool, _ location: SourceLocation = #_sourceLocation) {
        let isHeld = cluster.holds("b")
        #expect(isHeld == holds, sourceLocation: location)
    }

    @Test(arguments: Seeds.first(60))
    func locksReleasedAtRandom_keepTheInvariants_andEverythingEnds(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 5_000)
        var cluster = FakeCluster()
        cluster.submit(RandomGraph.make(&random, keys: 3, prepares: true))
        for executor in 0..<3 { cluster.attach(executor, slots: 2) }
        for _ in 0..<60 {
            switch random.below(8) {
            case 0: _ = release(&cluster, now: true, key: "key\(random.below(3))")
            case 1: _ = release(&cluster, now: false, key: "key\(random.below(3))")
            case 2: cluster.advance(Int64(random.below(5_000)))
            case 3:
                try cluster.restart()
                for executor in 0..<3 { cluster.reattach(executor, slots: 2) }
            default:
                guard let path = random.pick(cluster.heldPaths), let unit = cluster.find(path, on: nil)?.1 else { continue }
                cluster.end(path, outcome(of: unit))
            }
        }
        for _ in 0..<200 where try !cluster.hasFinished(1) {
            if cluster.peers[100] == nil { cluster.attach(100, host: .full) }
            while let path = cluster.heldPaths.first, let unit = cluster.find(path, on: nil)?.1 { cluster.end(path, outcome(of: unit)) }
            cluster.advance(70_000)
        }
        #expect(try cluster.hasFinished(1))
        let before = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == before)
    }

    private func outcome(of unit: Assignment) -> AttemptOutcome { unit.kind == .decide ? .elements([[0x31]]) : .success(.void) }
}
