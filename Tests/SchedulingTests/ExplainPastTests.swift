import Scheduling
import Testing

/// Why something ended as it did, what is in a group, and who may ask.
@Suite struct ExplainPastTests {
    private func causes(_ path: String, _ cluster: inout FakeCluster) -> [String] {
        cluster.explain(path)?.causes.map { cause in
            "\(cause.link) \(cause.operation.split(separator: "/").dropFirst().joined(separator: "/"))"
        } ?? []
    }

    @Test func failureThroughTwoDeliveries_leadsToItsOrigin() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let id =
            cluster.submit(
                Sketch.group(
                    "root",
                    [.op("good"), .op("a"), .op("b", receives: ["good", "a"], forwards: true), .op("c", receives: ["b"], forwards: true)]
                ).graph()) ?? ""
        cluster.end("good")
        cluster.advance(1_000)
        cluster.end("a", failure("exited with 7 on h1: oops"))
        let explained = try cluster.explained("c")
        #expect(explained.state == .failed && explained.blockers == [] && explained.since == cluster.now.wall)
        #expect(causes("c", &cluster) == ["itself c", "producer b", "producer a"])
        #expect(
            explained.causes.map(\.text) == [
                "failed with the error of \(id)/b", "failed with the error of \(id)/a", "exited with 7 on h1: oops",
            ])
        #expect(explained.causes.last?.failure?.message == "exited with 7 on h1: oops" && explained.causes.last?.at == cluster.now.wall)
        #expect(causes("", &cluster) == ["itself ", "child a"])
        #expect(causes("good", &cluster) == [])
        #expect(explained.history.map(\.event) == ["submitted", "ended"])
    }

    private func fail(_ path: String, times: Int, _ cluster: inout FakeCluster) {
        for number in 1...times {
            cluster.end(path, failure("no \(number)"), lasting: 10)
            cluster.advance(600_000)
        }
    }

    @Test func failedAttempts_areNamedWithTheirErrors_whateverTheOperationHasEndedWith() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 2), .op("b", retries: 2)]).graph())
        fail("a", times: 3, &cluster)
        fail("b", times: 2, &cluster)
        cluster.end("b", lasting: 10)
        for path in ["a", "b"] {
            let history = try cluster.explained(path).history
            #expect(
                history.filter { $0.event == "failed" }.map(\.text) == ["attempt 1 on h/1 failed: no 1", "attempt 2 on h/1 failed: no 2"])
            #expect(history.map(\.event).suffix(2) == ["started", "ended"])
        }
        #expect(try cluster.explained("a").history.last?.text == "failed: no 3")
    }

    @Test func ofManyFailedAttempts_theLastAreNamed_andTheOthersCounted() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a", retries: 40)]).graph())
        fail("a", times: 30, &cluster)
        let texts = try cluster.explained("a").history.filter { $0.event == "failed" }.map(\.text)
        #expect(texts.count == 11 && texts.first == "and 20 more attempts failed before", "\(texts)")
        #expect(texts[1] == "attempt 21 on h/1 failed: no 21" && texts.last == "attempt 30 on h/1 failed: no 30", "\(texts)")
    }

    /// One that received the failure, ran, and passed it on.
    @Test func failureThatAReceiverPassedOn_leadsToItsOrigin() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", receives: ["a"])]).graph())
        cluster.end("a", failure("no"))
        cluster.end("b", .failure([Failure(code: .operation, message: "no", origin: "a")]))
        #expect(causes("b", &cluster) == ["itself b", "producer a"])
    }

    @Test func conditionThatFailed_isTheCause_withReasonEvaluatorAndTime() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        cluster.submit(Sketch.group("root", [Sketch.op("a").having { $0.conditions = [probe] }]).graph())
        cluster.advance(1_000)
        let at = cluster.now.wall
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .failed, reason: "no file")]))
        cluster.advance(5_000)
        let explained = try cluster.explained("a")
        let cause = try #require(explained.causes.first)
        #expect(cause.text == "its condition `probe` failed: no file" && cause.failure?.isCondition == true)
        let view = try #require(cause.condition)
        #expect(view.key == "probe" && view.verdict.evaluator == "h/1" && view.verdict.at == at)
        #expect(cluster.explain("a")?.history.map(\.event) == ["submitted", "queued", "verdict", "ended"])
    }

    @Test func conditionAboutDependencies_leadsToTheOneThatFailed() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let careful = Sketch.op("c", after: ["a", "b"]).having { $0.conditions = [Condition(.noFailedDependencies)] }
        cluster.submit(Sketch.group("root", [.op("a"), .op("b"), careful]).graph())
        cluster.end("a")
        cluster.end("b", failure("no"))
        #expect(causes("c", &cluster) == ["itself c", "dependency b"])
    }

    private func refused(_ count: Int) -> AttemptOutcome {
        .answers((0..<count).map { ConditionAnswer(condition: $0, finding: .failed, reason: "no \($0)") })
    }

    @Test func allConditionsThatFailed_areCauses_eachWithItsReasonAndError() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        cluster.submit(Sketch.group("root", [Sketch.op("a").having { $0.conditions = [probe, probe] }]).graph())
        cluster.end("a", refused(2))
        let explained = try cluster.explained("a")
        #expect(explained.causes.map(\.text) == ["its condition `probe` failed: no 0", "its condition `probe` failed: no 1"])
        #expect(explained.causes.map(\.link) == [.itself, .itself])
        #expect(explained.causes.map { $0.condition?.verdict.reason } == ["no 0", "no 1"])
        #expect(explained.causes.map { $0.failure?.message } == ["no 0", "no 1"])
        #expect(causes("", &cluster) == ["itself ", "child a", "itself a"])
    }

    @Test func conditionBesideAnother_leadsToTheDependencyThatFailed() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))
        let careful = Sketch.op("a", after: ["b"]).having { $0.conditions = [probe, Condition(.noFailedDependencies)] }
        cluster.submit(Sketch.group("root", [.op("b"), careful]).graph())
        cluster.end("b", failure("broken"))
        cluster.end("a", refused(1))
        #expect(causes("a", &cluster) == ["itself a", "itself a", "dependency b"])
    }

    @Test func ofManyConditionsThatFailed_theFirstAreNamed_andTheOthersCounted() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let probes = (0..<14).map { _ in Condition(.probe(Probe(type: "probe", parameters: 0))) }
        cluster.submit(Sketch.group("root", [Sketch.op("a").having { $0.conditions = probes }]).graph())
        cluster.end("a", refused(14))
        let explained = try cluster.explained("a")
        #expect(explained.causes.count == 11 && explained.causes[9].condition?.verdict.reason == "no 9")
        #expect(explained.causes.last?.text == "and 4 more of its conditions failed" && explained.causes.last?.condition == nil)
    }

    /// Each has the reason that was given for it, also when others were cancelled later, and after a start from a snapshot.
    @Test func reasonsOfCancellations_stayWithWhatTheyWereFor() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(
            Sketch.group("root", [.op("a"), .group("g", [.op("x"), .op("y")]), .op("b")]).graph())
        for (path, reason) in [("a", "for a"), ("g", "for g"), ("", "for all")] {
            _ = cluster.ask(.cancel(submission: "last", path: path, reason: reason, now: false))
            if path == "a" { cluster.end("a", .stopped) }
        }
        _ = cluster.ask(.cancel(submission: "last", path: "b", reason: "too late", now: false))
        for path in ["g/x", "g/y", "b"] { cluster.end(path, .stopped) }
        func expectReasons() {
            #expect(cluster.explain("a")?.causes.map(\.text) == ["was cancelled by a user: for a"])
            #expect(cluster.explain("g/x")?.causes.last?.text == "was cancelled by a user: for g")
            #expect(cluster.explain("b")?.causes.last?.text == "was cancelled by a user: for all")
            #expect(cluster.view()?.cancelReason == "for all")
        }
        expectReasons()
        try cluster.restart()
        expectReasons()
    }

    @Test func reasonOfACancellation_staysWhenItsGroupBeginsAnew() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", [.group("g", [.op("x"), .op("y")], retries: 1)]).graph())
        _ = cluster.ask(.cancel(submission: "last", path: "g/x", reason: "old", now: false))
        cluster.end("g/x", .stopped)
        cluster.end("g/y", failure("no"))
        cluster.advance(60_000)
        _ = cluster.ask(.cancel(submission: "last", path: "g", reason: "new", now: false))
        cluster.end("g/y", .stopped)
        #expect(cluster.explain("g/x")?.causes.last?.text == "was cancelled by a user: old")
        #expect(cluster.explain("g/y")?.causes.last?.text == "was cancelled by a user: new")
    }

    /// It ends in the pause before the next attempt: that it has failed before is not forgotten.
    @Test func failureOfTheLastAttempt_isNamed_whenSomethingElseHasEndedTheOperation() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", [.op("a", retries: 3), .op("b", retries: 1)]).graph())
        cluster.end("a", failure("exits with 8"))
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        #expect(cluster.state("a") == .cancelled)
        let earlier = cluster.operations().first { $0.path == "a" }?.earlierAttempts
        #expect(earlier?.map(\.ending) == [.failed] && earlier?.first?.text == "exits with 8")
        #expect(cluster.explain("a")?.history.contains { $0.event == "failed" && $0.text.hasSuffix("failed: exits with 8") } == true)
        // What the operation itself has ended with is not told twice.
        cluster.end("b", failure("first"))
        cluster.advance(60_000)
        cluster.end("b", failure("second"))
        #expect(cluster.operations().first { $0.path == "b" }?.earlierAttempts.map(\.text) == ["first"])
    }

    @Test func whatItsGroupStopped_leadsToTheSiblingThatFailedFirst_andACancellationToTheUser() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let steps = Sketch.ordered("steps", [.op("one"), .op("two"), .op("three")])
        cluster.submit(Sketch.group("root", [steps, .group("g", [.op("x")])]).graph())
        cluster.end("steps/one", failure("broken"))
        #expect(causes("steps/three", &cluster) == ["itself steps/three", "sibling steps/one"])
        #expect(causes("", &cluster) == [])
        _ = cluster.ask(.cancel(submission: "last", path: "g", reason: "too slow", now: false))
        cluster.end("g/x", .stopped)
        #expect(causes("g/x", &cluster) == ["itself g/x", "group g"])
        #expect(cluster.explain("g/x")?.causes.last?.text == "was cancelled by a user: too slow")
        #expect(cluster.explain("g/x")?.history.map(\.event).suffix(4) == ["requested", "stopped", "acknowledged", "ended"])
        #expect(causes("", &cluster) == ["itself ", "child steps", "child steps/one"])
    }

    /// What has not begun has written nothing.
    @Test func causes_sayHowManyAttemptsThereWere() {
        var cluster = FakeCluster()
        cluster.attach(1)
        let waiting = [
            Sketch.op("late").having { $0.queueTimeoutMilliseconds = 1_000 }, Sketch.op("over").having { $0.deadlineMilliseconds = 1_000 },
        ]
        cluster.submit(Sketch.group("root", [.op("long")] + waiting).graph())
        cluster.begin("long")
        cluster.advance(2_000)
        cluster.end("long", failure("no"))
        func last(_ path: String) -> Cause? { cluster.explain(path)?.causes.last }
        #expect(last("late")?.failure?.code == .timeout && last("late")?.attempts == 0)
        #expect(last("over")?.failure?.code == .deadline && last("over")?.attempts == 0)
        #expect(last("long")?.attempts == 1)
    }

    // MARK: Joins

    private func joined(_ others: Sketch...) -> (FakeCluster, first: String, second: String) {
        var configuration = Scheduler.Configuration()
        configuration.retentionMilliseconds = 100_000
        var cluster = FakeCluster(configuration)
        cluster.attach(1, slots: 4)
        let first = cluster.submit(Sketch.group("root", [.op("nightly").unique("u")]).graph(), key: "1") ?? ""
        let second = cluster.submit(Sketch.group("root", [.op("nightly").unique("u", joins: true)] + others).graph(), key: "2") ?? ""
        return (cluster, first, second)
    }

    @Test func whatHadJoined_leadsToTheOneThatRan_alsoAfterARestart() throws {
        var (cluster, first, second) = joined()
        cluster.end("nightly", failure("exited with 3 on vm"))
        func expectBoth() {
            let causes = cluster.explain("nightly", of: second)?.causes ?? []
            #expect(causes.map(\.operation) == ["\(second)/nightly", "\(first)/nightly"])
            #expect(causes.map(\.link) == [.itself, .duplicate] && causes.map(\.attempts) == [0, 1])
            #expect(causes.map(\.text) == ["did as \(first)/nightly, which it had joined", "exited with 3 on vm"])
            let group = cluster.explain("", of: second)?.causes ?? []
            #expect(group.map(\.operation) == [second, "\(second)/nightly", "\(first)/nightly"])
            #expect(
                cluster.explain("nightly", of: second)?.history.last?.text
                    == "failed: exited with 3 on vm; it did as \(first)/nightly, which it had joined")
            #expect(cluster.operations(of: second).first { $0.path == "nightly" }?.joinedTo == "", "it waits for nobody")
        }
        expectBoth()
        try cluster.restart()
        expectBoth()
    }

    @Test func whatHadJoinedSomethingCancelled_leadsToWhoCancelledThat() {
        var (cluster, first, second) = joined()
        _ = cluster.ask(.cancel(submission: first, path: "nightly", reason: "too late", now: false))
        cluster.end("nightly", .stopped)
        let texts = cluster.explain("nightly", of: second)?.causes.map(\.text)
        #expect(texts == ["did as \(first)/nightly, which it had joined", "was cancelled by a user: too late"])
    }

    @Test func whatHadJoinedSomethingThatSucceeded_saysWhom() {
        var (cluster, first, second) = joined()
        cluster.end("nightly")
        let explained = cluster.explain("nightly", of: second)
        #expect(explained?.history.last?.text == "succeeded; it did as \(first)/nightly, which it had joined" && explained?.causes == [])
    }

    @Test func whatHadJoined_andWasCancelledItself_leadsToNobodyElse() {
        var (cluster, _, second) = joined()
        _ = cluster.ask(.cancel(submission: second, path: "nightly", reason: "", now: false))
        cluster.end("nightly", failure("no"))
        let explained = cluster.explain("nightly", of: second)
        #expect(explained?.causes.map(\.text) == ["was cancelled by a user"] && explained?.history.last?.text == "cancelled")
    }

    @Test func whatHadJoinedSomethingThatIsForgotten_saysItsError() {
        var (cluster, first, second) = joined(.op("long"))
        cluster.begin("long")
        cluster.end("nightly", failure("no"))
        cluster.advance(300_000)
        guard case .failed? = cluster.ask(.show(submission: first)) else { return #expect(Bool(false), "it is not forgotten") }
        let causes = cluster.explain("nightly", of: second)?.causes
        #expect(causes?.map(\.text) == ["did as one that it had joined, of which nothing is known any more: no"])
        #expect(causes?.first?.failure?.message == "no")
    }

    @Test func deadlineOfAGroup_isTheCauseOfWhatItStopped() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [Sketch.group("g", [.op("x"), .op("y")]).having { $0.deadlineMilliseconds = 2_000 }]).graph())
        cluster.advance(3_000)
        cluster.end("g/x", .stopped)
        #expect(causes("g/y", &cluster) == ["itself g/y", "group g"])
        #expect(cluster.explain("g/y")?.causes.last?.text == "did not end within 2 s")
    }

    // MARK: Groups

    @Test func submission_listsWhatWaits_byWhatItWaitsFor_whatWaitsForNothingElseFirst() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2)
        let later = (0..<4).map { Sketch.op("l\($0)", after: ["a"]) }
        let id =
            cluster.submit(
                Sketch.group("root", [.keyed("a", "db"), .keyed("b", "db"), .keyed("c", "db"), .op("d", type: "rare")] + later).graph())
            ?? ""
        cluster.begin("a")
        let explained = try cluster.explained("")
        #expect(explained.state == .running && explained.blockers == [] && explained.view?.id == id && explained.path == "")
        #expect(explained.inside.map(\.kind) == [.lock, .worker, .dependency] && explained.inside.map(\.count) == [2, 1, 4])
        #expect(explained.inside.map(\.operations) == [["b", "c"], ["d"], ["l0", "l1", "l2"]])
        #expect(explained.inside[0].text.hasPrefix("waits for the lock `db`, held by \(id)/a"))
        #expect(explained.moreInside == 0 && !explained.isInsidePartial)
        // Operations have nothing in them.
        #expect(cluster.explain("a")?.inside == [])
    }

    @Test func veryMuchThatWaits_isBounded_andTheRestCounted() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let pairs = (0..<30).flatMap { [Sketch.op("p\($0)"), .op("q\($0)", after: ["p\($0)"])] }
        cluster.submit(Sketch.group("root", pairs).graph())
        cluster.begin("p0")
        let explained = try cluster.explained("")
        #expect(explained.inside.count == 20 && explained.moreInside == 11)
        let many = (0..<150).map { "o\($0)" }
        cluster.submit(Sketch.group("root", many.map { .op($0) } + [.op("last", after: many)]).graph(), key: "other")
        #expect(cluster.explain("last")?.blockers.count == 100 && cluster.explain("last")?.moreBlockers == 50)
    }

    @Test func deciderOfAGroup_isExplained_atRestAndAtWork() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1, operations: ["noop", "brain"])
        let group = Sketch.deciding(.group("g", [.op("x"), .op("y")]), DeciderNode(type: "brain", parameters: 0))
        let id = cluster.submit(Sketch.group("root", [group]).graph()) ?? ""
        guard case .dependency(let other)? = cluster.explain("g/(decisions)")?.blockers.first else { return #expect(Bool(false)) }
        #expect(other.operation == "\(id)/g/x" && cluster.explain("g/(decisions)")?.kind == .decider)
        cluster.end("g/x")
        #expect(cluster.explain("g/(decisions)")?.blockers.map(\.kind) == [.slots])
    }

    @Test func expandedUnit_isExplained() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        let id = cluster.submit(Sketch.group("root", [.forEach("f", of: nil, list: ["1", "2"], body: .op("x"), max: 1)]).graph()) ?? ""
        guard case .maxConcurrent(let wait)? = cluster.explain("f/1")?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.group.operation == "\(id)/f")
    }

    // MARK: Who may ask for what

    @Test func unknownPath_isRefused_withTheNearestOne() {
        var cluster = FakeCluster()
        let id = cluster.submit(Sketch.group("root", [.group("extract", [.op("orders"), .op("people")])]).graph()) ?? ""
        func message(_ path: String) -> String {
            guard case .failed(.notFound(let text))? = cluster.ask(.explain(submission: id, path: path)) else { return "found" }
            return text
        }
        #expect(
            message("extract/order")
                == "no operation `extract/order` in submission \(id); did you mean `extract/orders`? `aop show \(id)` lists them")
        #expect(message("extrct/people").contains("did you mean `extract`?"))
        #expect(message("extract/zzzzzzzz").contains("did you mean `extract`?"))
        #expect(message("quite-different") == "no operation `quite-different` in submission \(id); `aop show \(id)` lists them")
    }

    @Test func othersWork_isExplainedToWhoMayObserve_andToNobodyElse() {
        var cluster = FakeCluster()
        cluster.attach(1)
        func key(_ name: String, observes: Bool) -> Authority {
            Authority(principal: name, roles: [], maySubmit: !observes, mayObserve: observes, mayAdminister: false)
        }
        let graph = Sketch.group("root", [.op("a")]).graph()
        guard
            case .submitted(let id, _)? = cluster.ask(
                .submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true), by: key("ann", observes: false))
        else { return #expect(Bool(false)) }
        func isExplained(by authority: Authority) -> Bool {
            if case .explanation? = cluster.ask(.explain(submission: id, path: "a"), by: authority) { true } else { false }
        }
        #expect(isExplained(by: key("ann", observes: false)))
        #expect(isExplained(by: key("eve", observes: true)))
        #expect(!isExplained(by: key("bob", observes: false)))
        #expect(!isExplained(by: Authority(principal: "w", roles: ["work"], maySubmit: false, mayObserve: false, mayAdminister: false)))
    }

    /// Nothing that is about to be given out is said to wait.
    @Test func question_isAnsweredAtTheEndOfItsStep() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 1)
        let id = cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph()) ?? ""
        let (unit, peer) = (try #require(cluster.find("a", on: nil)?.1), try #require(cluster.peers[1]))
        let journal = cluster.journal.count
        cluster.step([
            .ended(peer, unit.unit, unit.attempt, .success(.void), startedAt: cluster.now.wall, at: cluster.now.wall),
            .request(RequestID(peer: cluster.client, number: 77), .explain(submission: id, path: "b")),
        ])
        let replies = cluster.sends.compactMap { send -> Explanation? in
            if case .reply(_, .explanation(let explanation)) = send.message { explanation } else { nil }
        }
        #expect(replies.map { $0.blockers.map(\.kind) } == [[.slots]])
        guard case .slots(let wait)? = replies.first?.blockers.first else { return #expect(Bool(false)) }
        #expect(wait.takers.map(\.obstacle) == [.queued])
        let facts = cluster.journal.count
        _ = cluster.explain("b")
        #expect(facts == journal + 2 && cluster.journal.count == facts, "to explain is no fact")
    }
}
