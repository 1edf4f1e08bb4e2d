import Scheduling
import Testing

/// Dependent operations of conditions.
@Suite struct PreparationTests {
    private let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))

    /// An operation with one condition that a worker evaluates, and its dependent operation `make`.
    private func op(
        _ id: String, _ make: Sketch = .op("?probe.0"), retries: Int = 0, after: [String] = [], exclusive: [Exclusion] = [],
        queueTimeout: Int64 = 0
    ) -> Sketch {
        .preparing(
            Sketch.op(id, after: after, retries: retries, exclusive: exclusive).having {
                $0.conditions = [probe]
                $0.queueTimeoutMilliseconds = queueTimeout
            }, [0: make])
    }

    private func cluster(_ sketches: Sketch..., slots: Int = 4) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        cluster.submit(Sketch.group("root", sketches).graph())
        return cluster
    }

    @Test func dependentOperation_runsBeforeTheEvaluation_andTheOperationAfterIt() {
        var cluster = cluster(op("a"))
        #expect(cluster.heldPaths == ["a/?probe.0"])
        #expect(cluster.state("a") == .evaluating)
        cluster.end("a/?probe.0", .success(text("made")))
        #expect(cluster.find("a", on: nil)?.1.kind == .evaluate)
        cluster.end("a")
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        #expect(cluster.find("a", on: nil)?.1.attemptNumber == 1)
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.succeeded == 2)
        #expect(cluster.operations().map(\.isPreparation) == [false, false, true])
    }

    /// As on a queue: what it does before its conditions is part of its wait. What runs is stopped, and its lock goes to others.
    @Test func queueTimeout_goesOnWhileItIsPrepared() {
        let limited = op("a", exclusive: [Exclusion(key: "k")], queueTimeout: 500)
        var cluster = cluster(limited, .keyed("next", "k"))
        cluster.begin("a/?probe.0")
        cluster.advance(499)
        #expect(cluster.state("a") == .evaluating)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping && cluster.heldPaths == ["a/?probe.0"])
        cluster.end("a/?probe.0", .stopped)
        #expect(cluster.operations().first { $0.path == "a" }?.errors.map(\.code) == [.timeout])
        #expect(cluster.heldPaths == ["next"])
    }

    @Test func queueTimeout_countsTheTimeOfPreparationAndThatBehindIt_together() {
        var cluster = cluster(op("a", queueTimeout: 500), .op("busy"), slots: 1)
        if cluster.holds("busy") { cluster.end("busy") }
        cluster.advance(300)
        cluster.disconnect(1)
        cluster.reattach(1)
        cluster.end("a/?probe.0")
        cluster.advance(199)
        #expect(cluster.state("a") == .evaluating)
        cluster.advance(1)
        cluster.end("a", .stopped)
        #expect(cluster.operations().first { $0.path == "a" }?.errors.map(\.code) == [.timeout])
    }

    /// The time for which it was paused is none for which it has waited.
    @Test func queueTimeout_beginsAnewWhenAPauseDuringThePreparationIsOver() {
        var cluster = cluster(op("a", queueTimeout: 500))
        cluster.begin("a/?probe.0")
        _ = cluster.ask(.pause(submission: "last", path: "a"))
        cluster.advance(1_000)
        _ = cluster.ask(.resume(submission: "last", path: "a"))
        cluster.advance(499)
        #expect(cluster.state("a") == .evaluating)
        cluster.advance(1)
        #expect(cluster.state("a") == .stopping)
    }

    /// Its children have ended, but what it does before its conditions still runs.
    @Test func groupThatIsCancelled_endsAfterItsDependentOperation_notBefore() {
        let group = Sketch.group("g", [.op("c")], exclusive: [Exclusion(key: "k")]).having { $0.conditions = [probe] }
        var cluster = cluster(.preparing(group, [0: .op("?probe.0")]), .keyed("next", "k"))
        #expect(cluster.heldPaths == ["g/?probe.0"])
        _ = cluster.ask(.cancel(submission: "last", path: "g", reason: "", now: false))
        _ = cluster.ask(.cancel(submission: "last", path: "g/c", reason: "", now: false))
        #expect(cluster.state("g/c") == .cancelled && cluster.state("g") == .stopping)
        #expect(cluster.heldPaths == ["g/?probe.0"])
        cluster.end("g/?probe.0", .stopped)
        #expect(cluster.state("g") == .cancelled)
        #expect(cluster.heldPaths == ["next"])
    }

    /// Its locks go back in the step in which it could be judged.
    @Test func groupThatIsPrepared_asNobodyIsLeftToRunIt_isNotJudgedWithoutItsLocks() throws {
        let group = Sketch.group("g", [.op("c")], exclusive: [Exclusion(key: "k")])
            .having { $0.conditions = [Condition(.noFailedDependencies)] }
        var cluster = cluster(.preparing(group, [0: .op("?noFailed.0")]))
        let done = try #require(cluster.find("g/?noFailed.0", on: 1)).1
        let peer = try #require(cluster.peers[1])
        cluster.forget(done, of: 1)
        cluster.step([
            .ended(peer, done.unit, done.attempt, .success(.void), startedAt: cluster.now.wall, at: cluster.now.wall), .departed(peer),
        ])
        #expect(cluster.state("g") == .queued)
        cluster.attach(2, slots: 4)
        #expect(cluster.heldPaths == ["g/?noFailed.0"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func allDependentOperations_runAtOnce_andTheConditionsAreEvaluatedAfterTheLast() {
        let inner = Sketch.op("a").having { $0.conditions = [probe, probe] }
        var cluster = cluster(.preparing(inner, [0: .op("?probe.0"), 1: .op("?probe.1")]))
        #expect(cluster.heldPaths == ["a/?probe.0", "a/?probe.1"])
        cluster.end("a/?probe.1")
        #expect(cluster.heldPaths == ["a/?probe.0"])
        cluster.end("a/?probe.0")
        #expect(cluster.find("a", on: nil)?.1.questions.map(\.condition) == [0, 1])
    }

    @Test func failureOfTheDependentOperation_isThatOfTheCondition_andTheOthersAreEvaluated() throws {
        let inner = Sketch.op("a").having { $0.conditions = [probe, probe] }
        var cluster = cluster(.preparing(inner, [0: .op("?probe.0")]))
        cluster.end("a/?probe.0", failure("no disk"))
        #expect(cluster.find("a", on: nil)?.1.questions.map(\.condition) == [1])
        cluster.end("a", .answers([ConditionAnswer(condition: 1, finding: .failed, reason: "nor net")]))
        let failed = cluster.operations(failedOnly: true)
        let errors = try #require(failed.first { $0.path == "a" }?.errors)
        #expect(errors.map(\.message) == ["no disk", "nor net"])
        #expect(errors.map(\.isCondition) == [true, true])
        #expect(errors.map(\.origin) == ["a/?probe.0", "a"])
        #expect(cluster.operations().first { $0.path == "a" }?.attempts == 0)
        #expect(failed.map(\.path) == ["", "a", "a/?probe.0"])
    }

    @Test func failureWithoutAnythingToEvaluate_failsTheOperationAtOnce_andANegatedConditionHolds() {
        for isNegated in [false, true] {
            let condition = Condition(.probe(Probe(type: "probe", parameters: 0)), isNegated: isNegated)
            var cluster = cluster(.preparing(Sketch.op("a").having { $0.conditions = [condition] }, [0: .op("?probe.0")]))
            cluster.end("a/?probe.0", failure("no disk"))
            #expect(cluster.state("a") == (isNegated ? .queued : .failed))
            #expect(cluster.heldPaths == (isNegated ? ["a"] : []))
        }
    }

    @Test func everyAttempt_hasThemAnew_alsoAcrossARestart() throws {
        var cluster = cluster(op("a", retries: 1))
        cluster.end("a/?probe.0")
        cluster.end("a")
        cluster.end("a", failure("once"))
        #expect(cluster.heldPaths.isEmpty)
        #expect(cluster.state("a") == .retrying)
        try cluster.restart()
        cluster.attach(1)
        cluster.advance(2_000)
        #expect(cluster.heldPaths == ["a/?probe.0"])
        cluster.end("a/?probe.0")
        cluster.end("a")
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.operations().first { $0.path == "a/?probe.0" }?.attempts == 2)
    }

    @Test func lostAttempt_hasThemAnew_lostEvaluationDoesNot() {
        var cluster = cluster(op("a"))
        cluster.end("a/?probe.0")
        cluster.attach(2)
        cluster.die(1, crashed: false)
        #expect(cluster.find("a", on: 2)?.1.kind == .evaluate)
        cluster.end("a")
        #expect(cluster.find("a", on: 2)?.1.kind == .execute)
        cluster.attach(3)
        cluster.die(2, crashed: false)
        #expect(cluster.heldPaths == ["a/?probe.0"])
    }

    @Test func locksAreHeldMeanwhile_andLentToTheDependentOperation() {
        let key = [Exclusion(key: "db")]
        var cluster = cluster(op("a", .op("?probe.0", exclusive: key), exclusive: key), op("b", exclusive: key))
        #expect(cluster.heldPaths == ["a/?probe.0"])
        #expect(cluster.find("a/?probe.0", on: nil)?.1.fences.map(\.key) == ["db"])
        cluster.end("a/?probe.0")
        cluster.end("a")
        #expect(cluster.heldPaths == ["a"])
        cluster.end("a")
        #expect(cluster.heldPaths == ["b/?probe.0"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func keysOfTheDependentOperation_areTakenWithTheOperations() {
        var cluster = cluster(op("a", .keyed("?probe.0", "db")), .keyed("b", "db"))
        cluster.end("a/?probe.0")
        cluster.end("a")
        #expect(cluster.heldPaths == ["a"], "`b` waits for the whole of `a`")
        cluster.end("a")
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func cancelledMeanwhile_endsWhenTheyHaveEnded() {
        var cluster = cluster(op("a"), .op("b", after: ["a"]))
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.stops.map(\.reason) == [.cancelled])
        #expect(cluster.state("a") == .stopping)
        cluster.end("a/?probe.0", .stopped)
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.heldPaths == ["b"])
    }

    @Test func cancelledBefore_endsThemAsCancelled() {
        var cluster = cluster(.op("x"), op("a", after: ["x"]))
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.state("a/?probe.0") == .cancelled)
        cluster.end("x")
        #expect(cluster.view()?.counts.cancelled == 2)
    }

    @Test(arguments: ["a/?probe.0", "a/?probe.0/x"])
    func dependentOperationThatIsCancelledBeforeItsTurn_doesNotRun_andFailsTheCondition(_ path: String) throws {
        var cluster = cluster(
            .op("first"), op("a", .group("?probe.0", [.op("x")]), retries: 1, after: ["first"]))
        _ = cluster.ask(.cancel(submission: "last", path: path, reason: "", now: false))
        try cluster.restart()
        cluster.reattach(1, slots: 4)
        cluster.end("first")
        #expect(cluster.heldPaths.isEmpty)
        #expect(cluster.state("a") == .retrying)
        #expect(cluster.operations().first { $0.path == "a" }?.lastFailure?.code == .cancelled)
        cluster.advance(2_000)
        #expect(cluster.heldPaths == ["a/?probe.0/x"], "the next attempt has it anew")
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func cancelledDependentOperation_failsTheCondition() {
        var cluster = cluster(op("a"))
        _ = cluster.ask(.cancel(submission: "last", path: "a/?probe.0", reason: "", now: false))
        cluster.end("a/?probe.0", .stopped)
        #expect(cluster.state("a") == .failed)
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.cancelled])
    }

    @Test func group_beginsAfterItsConditions_whoseDependentOperationIsNoneOfItsChildren() {
        let group = Sketch.group("g", [.op("x"), .op("y")], ordered: true, max: 1).having { $0.conditions = [probe] }
        let make = Sketch.ordered("?probe.0", [.op("one"), .op("two")])
        var cluster = cluster(.preparing(group, [0: make]), .op("after", receives: ["g"]), slots: 1)
        #expect(cluster.heldPaths == ["g/?probe.0/one"])
        cluster.end("g/?probe.0/one")
        cluster.end("g/?probe.0/two")
        cluster.end("g")
        cluster.end("g/x", .success(text("1")))
        cluster.end("g/y", .success(text("2")))
        #expect(cluster.find("after", on: nil)?.1.inputs == [.list([.value(text("1")), .value(text("2"))])])
    }

    @Test func groupThatBeginsAnew_hasThemAnew() {
        let group = Sketch.group("g", [.op("x")], retries: 1).having { $0.conditions = [probe] }
        var cluster = cluster(.preparing(group, [0: .op("?probe.0")]))
        cluster.end("g/?probe.0")
        cluster.end("g")
        cluster.end("g/x", failure("once"))
        cluster.advance(2_000)
        #expect(cluster.heldPaths == ["g/?probe.0"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func elementsOfAForEach_haveTheirOwn() {
        var cluster = cluster(.forEach("each", of: nil, list: ["1", "2"], body: op("body")))
        #expect(cluster.heldPaths == ["each/0/?probe.0", "each/1/?probe.0"])
        #expect(cluster.find("each/1/?probe.0", on: nil)?.1.bindings.map(\.index) == [1])
        cluster.end("each/0/?probe.0", failure("no"))
        cluster.drain()
        #expect(cluster.state("each/0") == .failed)
        #expect(cluster.state("each/1") == .succeeded)
    }

    @Test func paused_theyWait_andGoOnWhenResumed() {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [op("a")]).graph())
        _ = cluster.ask(.pause(submission: "last", path: "a"))
        cluster.attach(1)
        #expect(cluster.heldPaths.isEmpty)
        _ = cluster.ask(.resume(submission: "last", path: "a"))
        #expect(cluster.heldPaths == ["a/?probe.0"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func deadline_stopsThemToo() {
        let inner = Sketch.op("a").having {
            $0.conditions = [probe]
            $0.deadlineMilliseconds = 1_000
        }
        var cluster = cluster(.preparing(inner, [0: .op("?probe.0")]))
        cluster.advance(1_000)
        #expect(cluster.state("a/?probe.0") == .stopping)
        cluster.end("a/?probe.0", .stopped)
        #expect(cluster.operations(failedOnly: true).last?.errors.map(\.code) == [.deadline])
    }

    /// Nothing of it runs: it ends in the step in which it is stopped, and followers are told of that alone.
    @Test func deadline_whileTheyWaitForAWorker_isToldOnce_withItsError() {
        let group = Sketch.group("g", [.op("c")]).having {
            $0.conditions = [probe]
            $0.deadlineMilliseconds = 1_000
        }
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.preparing(group, [0: .group("?probe.0", [.op("x")])])]).graph())
        _ = cluster.ask(.follow(submission: "last", .everything))
        cluster.jump(1_000)
        cluster.step([])
        let events = cluster.sends.flatMap { send -> [UnitEvent] in
            if case .events(let batch) = send.message { batch.events } else { [] }
        }
        #expect(events.filter { $0.path == "g" }.map(\.state) == [.failed])
        #expect(events.first { $0.path == "g" }?.errors.map(\.code) == [.deadline])
        #expect(events.firstIndex { $0.path == "g/c" } ?? .max < events.firstIndex { $0.path == "g" } ?? 0)
    }

    @Test func whatTheyMayNotBe_isRefused() {
        let outward = Sketch.group("root", [.op("x"), op("a", .op("?probe.0", after: ["x"]))]).graph()
        #expect(outward.faults().map(\.path) == ["a/?probe.0"])
        #expect(outward.faults().first?.message.contains("dependent operation of a condition") == true)
        let inward = Sketch.group("root", [op("a"), .op("b", after: ["?probe.0"])]).graph()
        #expect(inward.faults().map(\.path) == ["b"])
        var unknown = Sketch.group("root", [op("a")]).graph()
        unknown.nodes[2].options.prepares = 3
        #expect(unknown.faults().first?.message.contains("condition 3 of node 1, which has no such condition") == true)
        let once = Sketch.group("root", [op("a", Sketch.op("?probe.0").having { $0.atMostOnce = true })]).graph()
        #expect(once.faults().map(\.path) == ["a/?probe.0"])
        var child = Sketch.group("root", [op("a")]).graph()
        child.nodes[2].options.prepares = nil
        #expect(child.faults().first?.message.contains("its parent 1 is an operation") == true)
    }
}
