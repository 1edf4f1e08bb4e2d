import Scheduling
import Testing

/// Conditions that workers evaluate.
@Suite struct ProbeTests {
    private func probe(_ type: String = "probe", isNegated: Bool = false) -> Condition {
        Condition(.probe(Probe(type: type, parameters: 0)), isNegated: isNegated)
    }

    private func op(_ id: String, _ conditions: [Condition], retries: Int = 0, after: [String] = []) -> Sketch {
        Sketch.op(id, after: after, retries: retries).having { $0.conditions = conditions }
    }

    private func answer(_ finding: ConditionAnswer.Finding, _ reason: String = "", to condition: Int = 0) -> AttemptOutcome {
        .answers([ConditionAnswer(condition: condition, finding: finding, reason: reason)])
    }

    private func cluster(slots: Int = 2) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: slots)
        return cluster
    }

    @Test func probe_isEvaluatedByAWorker_thenTheOperationRuns() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [op("a", [probe()])]).graph())
        let first = try #require(cluster.find("a", on: nil)?.1)
        #expect(first.kind == .evaluate)
        #expect(first.questions.map(\.type) == ["probe"])
        #expect(first.timeoutMilliseconds == 60_000)
        #expect(cluster.state("a") == .evaluating)
        cluster.end("a", answer(.satisfied))
        let second = try #require(cluster.find("a", on: nil)?.1)
        #expect(second.kind == .execute)
        #expect(second.attemptNumber == 1)
        let view = cluster.operations().first { $0.path == "a" }
        #expect(view?.conditions.first?.verdict.evaluator == "h/1")
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func failedProbe_failsTheOperation_withTheErrorsOfAll_inTheirOrder() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [.op("x"), op("a", [Condition(.noFailedDependencies), probe()], after: ["x"])]).graph())
        cluster.end("x", failure("no"))
        cluster.end("a", answer(.failed, "there is no disk", to: 1))
        let errors = cluster.operations(failedOnly: true).last?.errors
        #expect(errors?.map(\.publisher) == ["NoFailedDependencies", "probe"])
        #expect(errors?.last?.message == "there is no disk")
        #expect(errors?.last?.host == "h/1")
        #expect(cluster.operations().last?.attempts == 0)
    }

    @Test func conditionThatIsIgnored_cancels_unlessAnotherOneFails() {
        var cluster = cluster(slots: 4)
        let group = Sketch.group("g", [.op("in")]).having { $0.conditions = [probe()] }
        cluster.submit(
            Sketch.group("root", [op("a", [probe()]), op("b", [Condition(.noCancelledDependencies), probe()], after: ["a"]), group])
                .graph())
        cluster.end("a", answer(.ignored, "not today"))
        #expect(cluster.state("a") == .cancelled)
        cluster.end("b", answer(.ignored, "not today", to: 1))
        #expect(cluster.operations(failedOnly: true).first { $0.path == "b" }?.errors.map(\.publisher) == ["NoCancelledDependencies"])
        cluster.end("g", answer(.ignored))
        #expect(cluster.state("g") == .cancelled && cluster.state("g/in") == .cancelled)
    }

    @Test func errorOfACondition_keepsItsImage_acrossARestart() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [op("a", [probe()])]).graph())
        let answer = ConditionAnswer(condition: 0, finding: .failed, reason: "no disk", image: [1, 2, 3])
        cluster.end("a", .answers([answer]))
        let errors = cluster.operations(failedOnly: true).last?.errors
        #expect(errors?.map(\.image) == [[1, 2, 3]])
        #expect(errors?.map(\.message) == ["no disk"])
        try cluster.restart()
        #expect(cluster.operations(failedOnly: true).last?.errors == errors)
    }

    @Test func notNow_waitsWithoutASlot_andIsAskedAgain_acrossARestart() throws {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [op("a", [probe()]), .op("b")]).graph())
        if cluster.holds("b") { cluster.end("b") }
        cluster.end("a", answer(.retryAfter(milliseconds: 30_000), "disk is full"))
        if cluster.holds("b") { cluster.end("b") }
        #expect(cluster.heldPaths.isEmpty)
        #expect(cluster.operations().first { $0.path == "a" }?.conditions.first?.verdict.reason == "disk is full")
        try cluster.restart()
        cluster.attach(2)
        cluster.advance(29_000)
        #expect(cluster.heldPaths.isEmpty)
        cluster.advance(1_000)
        #expect(cluster.find("a", on: nil)?.1.kind == .evaluate)
    }

    @Test func answeredOne_isFirstInLine() {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [op("a", [probe()]), op("b", [probe()]), op("c", [probe()])]).graph())
        cluster.end("a", answer(.satisfied))
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        cluster.drain()
        #expect(cluster.dispatched == ["a", "a", "b", "b", "c", "c"])
    }

    /// What a worker has said grows old, whatever else there is.
    @Test func answeredOne_isBeforeThoseWithoutConditions_andBeforeHigherPriorities() {
        var cluster = cluster(slots: 1)
        cluster.submit(Sketch.group("root", [op("a", [probe()])]).graph())
        cluster.submit(
            Sketch.group("root", [Sketch.op("b"), .op("c"), .op("d")]).having { $0.priority = 9 }.graph(), key: "other")
        cluster.submit(Sketch.group("root", [Sketch.op("e"), .op("f")]).graph(), key: "equal")
        cluster.end("a", answer(.satisfied))
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        cluster.drain()
        #expect(cluster.dispatched == ["a", "a", "b", "c", "d", "e", "f"])
    }

    @Test func whoIsEvaluatedWhenItsTurnComes_keepsItsPlace_alsoAcrossARestart() throws {
        var cluster = cluster(slots: 4)
        let limit = Condition(.rateLimit(RateLimit(key: "api", count: 1, perMilliseconds: 10_000)))
        cluster.submit(Sketch.group("root", ["a", "b", "c", "d"].map { op($0, [limit, probe()]) }).graph())
        for id in ["a", "b", "c", "d"] { cluster.end(id, answer(.satisfied, to: 1)) }
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        for id in ["b", "c"] {
            cluster.advance(10_000)
            #expect(cluster.find(id, on: nil)?.1.kind == .evaluate)
            if id == "c" {
                try cluster.restart()
                cluster.reattach(1, slots: 4)
            }
            cluster.end(id, answer(.satisfied, to: 1))
            #expect(cluster.find(id, on: nil)?.1.kind == .execute)
        }
        cluster.advance(10_000)
        #expect(cluster.find("d", on: nil)?.1.kind == .evaluate)
    }

    @Test func lostEvaluation_isDoneAgain_andIsNoAttempt() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [op("a", [probe()])]).graph())
        cluster.attach(2)
        cluster.die(1)
        #expect(cluster.find("a", on: 2)?.1.kind == .evaluate)
        cluster.end("a", answer(.satisfied))
        cluster.end("a")
        #expect(cluster.operations().last?.attempts == 1)
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func evaluationWithoutEnd_failsTheCondition() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [op("a", [probe()])]).graph())
        cluster.begin("a")
        cluster.advance(67_000)
        #expect(cluster.stops.isEmpty || cluster.stops.first?.reason == .timeout)
        cluster.end("a", .stopped)
        #expect(cluster.operations().last?.errors.first?.message == "was not evaluated within 60 s")
    }

    @Test func cancelledWhileItIsEvaluated_endsWhenTheEvaluationHasEnded() {
        for sketch in [op("a", [probe()]), Sketch.group("a", [.op("x")]).having { $0.conditions = [probe()] }] {
            var cluster = cluster()
            cluster.submit(Sketch.group("root", [sketch]).graph())
            _ = cluster.ask(.cancel(submission: "last", path: "", reason: "", now: false))
            #expect(cluster.view()?.state == .running)
            cluster.end("a", .stopped)
            #expect(cluster.view()?.state == .cancelled)
        }
    }

    @Test func group_isEvaluatedBeforeItBegins() {
        var cluster = cluster()
        let group = Sketch.group("g", [.op("x")]).having { $0.conditions = [probe()] }
        cluster.submit(Sketch.group("root", [group]).graph())
        #expect(cluster.heldPaths == ["g"])
        cluster.end("g", answer(.satisfied))
        #expect(cluster.heldPaths == ["g/x"])
        cluster.submit(Sketch.group("root", [group]).graph(), key: "2")
        cluster.end("g", answer(.failed, "no"))
        #expect(cluster.state("g/x") == .cancelled)
        #expect(cluster.state("g") == .failed)
    }

    @Test func onlyWorkersWithTheOperationAndItsConditions_areAsked() {
        var cluster = FakeCluster()
        cluster.attach(1, conditions: [])
        cluster.submit(Sketch.group("root", [op("a", [probe("disk")])]).graph())
        #expect(cluster.heldPaths.isEmpty)
        cluster.attach(2, operations: ["other"], conditions: ["disk"])
        #expect(cluster.heldPaths.isEmpty)
        cluster.attach(3, conditions: ["disk"])
        #expect(cluster.find("a", on: 3)?.1.kind == .evaluate)
    }

    @Test func unknownConditionType_isRefused() {
        var cluster = cluster()
        let graph = Sketch.group("root", [op("a", [probe("disk")])]).graph()
        guard
            case .failed(.refused(_, let errors))? = cluster.ask(
                .submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: false))
        else {
            Issue.record("it was admitted")
            return
        }
        #expect(errors.map(\.path) == ["a"])
        #expect(errors.first?.message.hasPrefix("unknown condition `disk`") == true)
    }

    @Test func answersToOtherQuestions_failTheCondition() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [op("a", [probe()])]).graph())
        cluster.end("a", answer(.satisfied, to: 7))
        #expect(cluster.operations().last?.errors.first?.message.contains("something else than was asked for") == true)
    }

    @Test func conditionsAreEvaluatedForEachAttempt() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [op("a", [probe()], retries: 1)]).graph())
        cluster.end("a", answer(.satisfied))
        cluster.end("a", failure("no"))
        cluster.advance(60_000)
        #expect(cluster.find("a", on: nil)?.1.kind == .evaluate)
        cluster.end("a", answer(.failed, "no"))
        #expect(cluster.view()?.state == .failed)
    }
}
