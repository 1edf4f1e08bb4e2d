import Scheduling
import Testing

/// Ends that count when the submitter's process has had its say.
@Suite struct ConcludingTests {
    private static let here = 70

    private func held(_ sketch: Sketch) -> Sketch { sketch.having { $0.say = SubmitterSay(holds: true) } }

    private func decided(_ sketch: Sketch) -> Sketch { sketch.having { $0.say = SubmitterSay(holds: true, retries: true) } }

    private func cluster() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9)
        cluster.attach(Self.here, slots: 9, operations: [], isSubmitter: true)
        return cluster
    }

    private func asked(_ cluster: FakeCluster, _ path: String) -> ConclusionQuestion? {
        guard let (owner, assignment) = cluster.find(path, on: nil), owner == Self.here, assignment.kind == .conclude else { return nil }
        return assignment.conclusion
    }

    private func errors(_ cluster: inout FakeCluster, _ path: String) -> [FailureCode] {
        cluster.operations().first { $0.path == path }?.errors.map(\.code) ?? []
    }

    @Test func success_countsWhenItsSubmitterHasLetGo_andItsLocksWithIt() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [held(.keyed("a", "k")), .keyed("b", "k"), .op("after", receives: ["a"])]).graph(),
            submitter: Self.here)
        cluster.begin("a")
        cluster.end("a", .success(text("value")))
        #expect(cluster.state("a") == .running)
        #expect(cluster.heldPaths == ["a"])
        let shown = cluster.operations().first { $0.path == "a" }?.earlierAttempts.map(\.wasEnd)
        let question = asked(cluster, "a")
        #expect(question?.value == text("value") && question?.failures == nil)
        #expect(question?.tellsWillFinish == true && question?.asksForRetry == false)
        #expect(cluster.find("a", on: Self.here)?.1.timeoutMilliseconds == 60_000)
        cluster.begin("a")
        cluster.end("a", .concluded(nil))
        #expect(cluster.state("a") == .succeeded)
        #expect(shown == [false], "its end was not the operation's")
        #expect(cluster.find("after", on: 1)?.1.inputs == [.value(text("value"))])
        #expect(cluster.operations(values: true).first { $0.path == "a" }?.value == text("value"))
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.dispatched.count { $0 == "a" } == 2)
    }

    /// It has run: what it waits for now is no worker.
    @Test func queueTimeout_doesNotCount_whileTheSubmitterIsAsked() throws {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [held(.op("a").having { $0.queueTimeoutMilliseconds = 500 })]).graph(), submitter: Self.here)
        cluster.begin("a")
        cluster.end("a", .success(text("value")))
        cluster.advance(1_000)
        #expect(cluster.state("a") == .running)
        cluster.end("a", .concluded(nil))
        #expect(cluster.state("a") == .succeeded)
    }

    /// Paused and resumed, it stands in its operation's line twice.
    @Test func question_goesToItsSubmitterOnly_whateverLinesItStandsIn() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        cluster.attach(Self.here, slots: 9, operations: [], isSubmitter: true)
        cluster.submit(Sketch.group("root", [.op("first"), held(.op("a"))]).graph(), submitter: Self.here)
        for _ in 0..<3 {
            _ = cluster.ask(.pause(submission: "last", path: "a"))
            _ = cluster.ask(.resume(submission: "last", path: "a"))
        }
        cluster.end("first")
        cluster.begin("a")
        cluster.end("a", .success(text("value")))
        #expect(asked(cluster, "a") != nil)
        cluster.end("a", .concluded(nil))
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func failure_isTriedAgain_asOftenAsItsSubmitterSays_andAfterItsWait() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [decided(.op("a"))]).graph(), submitter: Self.here)
        cluster.end("a", failure("once"))
        #expect(asked(cluster, "a")?.failures?.map(\.message) == ["once"])
        #expect(asked(cluster, "a")?.failedAttempts == 1 && asked(cluster, "a")?.asksForRetry == true)
        cluster.end("a", .concluded(5_000))
        #expect(cluster.state("a") == .retrying && !cluster.holds("a"))
        cluster.advance(4_000)
        #expect(!cluster.holds("a"))
        cluster.advance(1_000)
        cluster.end("a", on: 1, failure("twice"))
        #expect(asked(cluster, "a")?.failedAttempts == 2)
        cluster.end("a", .concluded(nil))
        #expect(cluster.state("a") == .failed)
        #expect(cluster.operations().first { $0.path == "a" }?.errors.map(\.message) == ["twice"])
    }

    @Test func policyOfTheNode_comesFirst_andItsLastFailureIsTold() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [held(.op("a", retries: 1))]).graph(), submitter: Self.here)
        cluster.end("a", failure("once"))
        #expect(cluster.state("a") == .retrying)
        cluster.advance(60_000)
        cluster.end("a", on: 1, failure("twice"))
        #expect(asked(cluster, "a")?.failures?.map(\.message) == ["twice"] && asked(cluster, "a")?.asksForRetry == false)
        // It has no say in that.
        cluster.end("a", .concluded(0))
        #expect(cluster.state("a") == .failed)
    }

    @Test func whatTheBodyHasNotProposed_isNoMatterOfWillFinish_butOfRetryOnFailure() {
        var cluster = cluster()
        func never(_ sketch: Sketch, _ say: SubmitterSay) -> Sketch {
            sketch.having {
                $0.say = say
                $0.conditions = [Condition(.noCancelledDependencies, isNegated: true)]
            }
        }
        let (holds, decides) = (SubmitterSay(holds: true), SubmitterSay(holds: true, retries: true))
        cluster.submit(
            Sketch.group(
                "root", [.op("x"), never(.op("a", after: ["x"]), holds), never(.op("b", after: ["x"]), decides), held(.op("c"))]
            ).graph(), submitter: Self.here)
        cluster.end("x")
        #expect(errors(&cluster, "a") == [.condition])
        #expect(asked(cluster, "b")?.tellsWillFinish == false && asked(cluster, "b")?.asksForRetry == true)
        cluster.end("b", .concluded(0))
        // Its conditions are judged anew.
        #expect(asked(cluster, "b")?.failedAttempts == 2)
        cluster.end("b", .concluded(nil))
        #expect(errors(&cluster, "b") == [.condition])
        cluster.end("c", .failure([Failure(code: .timeout, message: "timed out")]))
        #expect(errors(&cluster, "c") == [.timeout])
    }

    @Test func submitterThatIsGone_isPassedOver_whateverItWasAsked() {
        for goodbye in [true, false] {
            var cluster = cluster()
            cluster.submit(
                Sketch.group("root", [held(.keyed("asked", "k")), decided(.op("fails")), held(.op("late")), .keyed("next", "k")]).graph(),
                submitter: Self.here)
            cluster.end("asked", .success(text("value")))
            cluster.end("fails", failure("no"))
            #expect(asked(cluster, "asked") != nil && asked(cluster, "fails") != nil)
            if goodbye {
                cluster.depart(Self.here)
            } else {
                cluster.disconnect(Self.here)
                cluster.advance(10_000)
                #expect(cluster.state("asked") == .running)
                cluster.advance(15_000)
            }
            #expect(cluster.state("asked") == .succeeded && cluster.holds("next"))
            #expect(errors(&cluster, "fails") == [.operation])
            cluster.end("late", on: 1)
            #expect(cluster.state("late") == .succeeded)
            cluster.end("next", on: 1)
            #expect(cluster.view()?.counts.succeeded == 3)
        }
    }

    @Test func restartAndReconnect_neitherLoseTheStep_norAskAnything_twice() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [held(.keyed("a", "k")), .keyed("b", "k")]).graph(), submitter: Self.here)
        cluster.end("a", .success(text("value")))
        let number = asked(cluster, "a")?.number
        try cluster.restart()
        cluster.reattach(1, slots: 9)
        cluster.reattach(Self.here, slots: 9)
        #expect(cluster.heldPaths == ["a"])
        #expect(cluster.dispatched.count { $0 == "a" } == 2)
        // What it does not have it is asked again, and sees that it is the same.
        cluster.disconnect(Self.here)
        cluster.attach(Self.here, slots: 9, operations: [], isSubmitter: true)
        #expect(asked(cluster, "a")?.number == number && number == 1)
        cluster.end("a", .concluded(nil))
        #expect(cluster.state("a") == .succeeded)
        try cluster.restart()
        #expect(cluster.state("a") == .succeeded)
    }

    @Test func endThatNobodyWasAskedAbout_isAskedAfterARestart() throws {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [held(.op("a"))]).graph(), submitter: Self.here)
        cluster.disconnect(Self.here)
        cluster.end("a", .success(text("value")))
        #expect(!cluster.holds("a"))
        try cluster.restart()
        cluster.reattach(1, slots: 9)
        cluster.attach(Self.here, slots: 9, operations: [], isSubmitter: true)
        #expect(asked(cluster, "a")?.value == text("value"))
        cluster.end("a", .concluded(nil))
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func cancellation_endsIt_onceTheStepIsStopped() {
        var cluster = cluster()
        cluster.submit(
            Sketch.group("root", [held(.keyed("a", "k")), .keyed("b", "k"), held(.op("c"))]).graph(), submitter: Self.here)
        cluster.end("a")
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.stops.map(\.reason) == [.cancelled] && cluster.state("a") == .stopping && !cluster.holds("b"))
        cluster.end("a", .stopped)
        #expect(cluster.state("a") == .cancelled && cluster.holds("b"))
        cluster.disconnect(Self.here)
        cluster.end("c")
        _ = cluster.ask(.cancel(submission: "last", path: "c", reason: "", now: false))
        // Nobody was asked.
        #expect(cluster.state("c") == .cancelled)
    }

    @Test func timeLimits_endIt() {
        var cluster = cluster()
        let quick = Sketch.op("quick").having {
            $0.say = SubmitterSay(holds: true, retries: true)
            $0.hostedTimeoutMilliseconds = 2_000
        }
        let late = Sketch.op("late").having {
            $0.say = SubmitterSay(holds: true)
            $0.deadlineMilliseconds = 30_000
        }
        cluster.submit(Sketch.group("root", [quick, held(.op("timed", timeout: 9_000)), late]).graph(), submitter: Self.here)
        cluster.end("quick", failure("no"))
        cluster.end("late")
        cluster.begin("timed")
        cluster.advance(3_000)
        cluster.end("timed")
        #expect(cluster.find("quick", on: Self.here)?.1.timeoutMilliseconds == 2_000)
        // What is left of its own.
        #expect(cluster.find("timed", on: Self.here)?.1.timeoutMilliseconds == 9_000)
        cluster.end("quick", .failure([Failure(code: .timeout, message: "timed out")]))
        #expect(errors(&cluster, "quick") == [.operation])
        cluster.end("timed", .failure([Failure(code: .timeout, message: "timed out")]))
        #expect(errors(&cluster, "timed") == [.timeout])
        cluster.advance(30_000)
        #expect(cluster.state("late") == .stopping)
        cluster.end("late", .stopped)
        #expect(errors(&cluster, "late") == [.deadline])
    }

    @Test func group_isAskedAbout_whenAllInItHasEnded_andKeepsItsKeysMeanwhile() {
        var cluster = cluster()
        let group = Sketch.holding("g", "k", [.op("in")])
        let failing = Sketch.group("f", [.op("bad")])
        cluster.submit(
            Sketch.group("root", [held(group), .keyed("b", "k"), held(failing), held(.group("empty", []))]).graph(), submitter: Self.here)
        #expect(asked(cluster, "empty")?.tellsWillFinish == true)
        #expect(asked(cluster, "g") == nil)
        cluster.end("g/in")
        #expect(asked(cluster, "g") != nil && !cluster.holds("b") && cluster.state("g") == .running)
        cluster.end("g", .concluded(nil))
        #expect(cluster.state("g") == .succeeded && cluster.holds("b"))
        cluster.end("f/bad", failure("bad"))
        #expect(asked(cluster, "f")?.failures == [])
        cluster.end("f", .concluded(nil))
        cluster.end("empty", .concluded(nil))
        cluster.drain()
        #expect(cluster.state("f") == .failed && cluster.view()?.state == .failed)
    }

    /// All slots of the submitter may be taken by what waits for an end in which that process has a say.
    @Test func submitterWithoutAFreeSlot_isAskedAboutAnEnd_forWhichWhatItRunsWaits() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 9)
        cluster.attach(Self.here, slots: 1, operations: [], isSubmitter: true)
        let receiver = Sketch.op("receiver").having { $0.isHosted = true }
        cluster.submit(
            Sketch.group("root", [held(.op("producer")), receiver]).graph().streaming("receiver", from: "producer"), submitter: Self.here)
        cluster.begin("producer")
        cluster.begin("receiver")
        cluster.end("producer")
        #expect(asked(cluster, "producer")?.tellsWillFinish == true)
        cluster.end("producer", .concluded(nil))
        cluster.end("receiver")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func whatASuccessHasProduced_isThereWhenThatCounts() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [held(.op("a")), held(.op("b"))]).graph(), submitter: Self.here)
        cluster.end("a", .production(.void, .of(.op("x"))))
        cluster.end("b", .production(.void, .of(.op("x"))))
        #expect(cluster.view()?.counts.total == 2)
        cluster.end("a", .concluded(nil))
        #expect(cluster.heldPaths.contains("x+1"))
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "", now: false))
        cluster.end("b", .stopped)
        #expect(cluster.view()?.counts.total == 3)
    }

    @Test func failureOfAStreamReceiver_countsAtOnce_whatBecomesOfItsProducerMeanwhile() {
        var cluster = cluster()
        var graph = Sketch.group("root", [.op("p", retries: 1), decided(.op("r"))]).graph()
        graph.nodes[2].options.stream = 1
        cluster.submit(graph, submitter: Self.here)
        cluster.begin("p")
        cluster.begin("r")
        cluster.end("r", on: 1, failure("no"))
        #expect(asked(cluster, "r")?.asksForRetry == true)
        cluster.end("p", failure("once"))
        #expect(cluster.stops.isEmpty && asked(cluster, "r") != nil)
        cluster.end("r", .concluded(0))
        #expect(!cluster.holds("r"))
        cluster.advance(60_000)
        cluster.begin("p")
        cluster.advance(1_000)
        #expect(cluster.holds("r"))
        cluster.end("p")
        cluster.end("r", on: 1)
        // Its success is told as well.
        cluster.end("r", .concluded(nil))
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func hostedOperation_isAskedAboutWithoutItsValue() {
        var cluster = cluster()
        let hosted = Sketch.op("h", type: "AOperationBlock").having {
            $0.isHosted = true
            $0.say = SubmitterSay(holds: true)
        }
        cluster.submit(Sketch.group("root", [hosted]).graph(), submitter: Self.here)
        cluster.end("h", .success(text("value")))
        #expect(asked(cluster, "h")?.tellsWillFinish == true && asked(cluster, "h")?.value == nil)
        cluster.end("h", .concluded(nil))
        #expect(cluster.operations(values: true).first { $0.path == "h" }?.value == text("value"))
    }

    @Test func whereNobodyKnowsIt_orNobodyIsThere_itIsRefused() {
        var cluster = cluster()
        let inside = Sketch.group("root", [.forEach("f", of: nil, list: ["1"], body: held(.op("x")))]).graph()
        let of = Sketch.group("root", [held(.forEach("f", of: nil, list: ["1"], body: .op("x")))]).graph()
        for graph in [inside, of] {
            guard case .checked(let errors)? = cluster.ask(.check(graph: graph, waitForWorkers: true)), !errors.isEmpty else {
                Issue.record("it was taken")
                continue
            }
            #expect(errors.allSatisfy { $0.message.contains("forEach") })
        }
        let graph = Sketch.group("root", [held(.op("x"))]).graph()
        guard case .failed(.sessionOver)? = cluster.ask(.submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true))
        else {
            Issue.record("it was taken without a submitter")
            return
        }
    }
}

extension ConcludingTests {
    /// The say is in the submitter's process, and the condition is where it was: one has nothing to do with the other.
    @Test func operationWithAConditionThatWorkersEvaluate_mayHaveASayInItsEnd() {
        var cluster = cluster()
        let operation = Sketch.op("a").having {
            $0.say = SubmitterSay(holds: true)
            $0.conditions = [Condition(.probe(Probe(type: "probe", parameters: 0)))]
        }
        cluster.submit(Sketch.group("root", [operation]).graph(), submitter: Self.here)
        #expect(cluster.find("a", on: 1)?.1.kind == .evaluate)
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .satisfied, reason: "")]))
        cluster.begin("a")
        cluster.end("a", .success(text("value")))
        #expect(asked(cluster, "a")?.value == text("value"))
        cluster.end("a", .concluded(nil))
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    /// A body that passes on what has ended another one has proposed that itself.
    @Test func failureByAnothersTimeout_isToldToWillFinish() {
        var cluster = cluster()
        cluster.submit(Sketch.group("root", [.op("x"), held(.op("a", after: ["x"]))]).graph(), submitter: Self.here)
        cluster.end("x")
        cluster.begin("a")
        cluster.end("a", .failure([Failure(code: .timeout, publisher: "x", message: "timed out", origin: "x")]))
        #expect(asked(cluster, "a")?.tellsWillFinish == true)
        cluster.end("a", .concluded(nil))
        #expect(errors(&cluster, "a") == [.timeout])
    }
}
