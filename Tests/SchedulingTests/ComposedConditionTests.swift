import Scheduling
import Testing

/// Conditions that are made of others: the parts are evaluated where they are, and what they come to together counts.
@Suite struct ComposedConditionTests {
    private static let types = ["a", "b", "c", "d", "one", "probe", "two"]

    private func probe(_ type: String = "probe", isNegated: Bool = false) -> Condition {
        Condition(.probe(Probe(type: type, parameters: 0)), isNegated: isNegated)
    }

    private func op(_ id: String, _ conditions: [Condition], _ trees: [ConditionTree], retries: Int = 0, after: [String] = []) -> Sketch {
        Sketch.op(id, after: after, retries: retries).having {
            $0.conditions = conditions
            $0.conditionTrees = trees
        }
    }

    /// An operation `a` after one that fails, on a worker with a slot for each.
    private func cluster(_ conditions: [Condition], _ trees: [ConditionTree], retries: Int = 0) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, conditions: Self.types)
        cluster.submit(Sketch.group("root", [.op("x"), op("a", conditions, trees, retries: retries, after: ["x"])]).graph())
        cluster.end("x", failure("no"))
        return cluster
    }

    private func answers(_ findings: ConditionAnswer.Finding..., from first: Int = 0) -> AttemptOutcome {
        .answers(
            findings.enumerated().map { offset, finding in
                ConditionAnswer(
                    condition: first + offset, finding: finding, reason: finding == .failed ? "no \(first + offset)" : "")
            })
    }

    private func errors(_ cluster: inout FakeCluster) -> [Failure] {
        cluster.operations(failedOnly: true).first { $0.path == "a" }?.errors ?? []
    }

    @Test func oneAlternativeThatHolds_isEnough_wherverItIsEvaluated() {
        var cluster = cluster([Condition(.noFailedDependencies), probe()], [.any([.leaf(0), .leaf(1)])])
        #expect(cluster.find("a", on: nil)?.1.questions.map(\.condition) == [1])
        cluster.end("a", answers(.satisfied, from: 1))
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        #expect(cluster.operations().last?.conditions.map(\.verdict.finding) == [.failed, .satisfied])
        cluster.end("a")
        #expect(cluster.state("a") == .succeeded)
    }

    @Test func noAlternative_isOneError_thatHoldsThoseOfAll() throws {
        var cluster = cluster([Condition(.noFailedDependencies), probe()], [.any([.leaf(0), .leaf(1)])])
        cluster.end("a", answers(.failed, from: 1))
        let error = try #require(errors(&cluster).first)
        #expect(error.publisher == "OrCondition" && error.typeName == "OrCondition.Error" && error.isCondition)
        #expect(error.parts.map(\.publisher) == ["NoFailedDependencies", "probe"] && error.origin == "a")
        #expect(
            error.message
                == "None of the alternative conditions holds: NoFailedDependencies: not all dependencies succeeded; failed: x; probe: no 1")
        try cluster.restart()
        #expect(errors(&cluster) == [error])
    }

    /// What each says by itself does not tell whether all together hold.
    @Test(arguments: [
        (
            ConditionTree.not(.all([.leaf(0), .leaf(1)])), ConditionAnswer.Finding.satisfied,
            "Not<AndCondition>, made of these: failed: The condition AndCondition succeed"
        ),
        (
            .any([.leaf(0), .leaf(1)]), .failed,
            "OrCondition, made of these: failed: None of the alternative conditions holds: one: no 0; two: no 1"
        ),
        (.not(.all([.leaf(0), .leaf(1)])), .failed, "Not<AndCondition>, made of these: satisfied"),
    ])
    func whatTheyComeToTogether_isToldBehindThem(tree: ConditionTree, finding: ConditionAnswer.Finding, text: String) {
        var cluster = cluster([probe("one"), probe("two")], [tree])
        cluster.end("a", answers(finding, finding))
        let verdicts = cluster.explain("a")?.history.filter { $0.event == "verdict" }.map(\.text) ?? []
        #expect(verdicts.count == 3 && verdicts.last == text, "\(verdicts)")
    }

    /// What two probes come to; nil: the error of a part that stands by itself.
    @Test(arguments: [
        (ConditionTree.all([.leaf(0), .leaf(1)]), ConditionAnswer.Finding.satisfied, ConditionAnswer.Finding.satisfied, ""),
        (.all([.leaf(0), .leaf(1)]), .failed, .failed, "AndCondition"),
        (.all([.leaf(0), .leaf(1)]), .satisfied, .failed, "two"),
        (.all([.leaf(0), .leaf(1)]), .failed, .ignored, "one"),
        (.all([.leaf(0), .leaf(1)]), .satisfied, .ignored, "cancelled"),
        (.any([.leaf(0), .leaf(1)]), .ignored, .satisfied, ""),
        (.any([.leaf(0), .leaf(1)]), .ignored, .ignored, "cancelled"),
        (.any([.leaf(0), .leaf(1)]), .ignored, .failed, "OrCondition"),
        (.not(.all([.leaf(0), .leaf(1)])), .satisfied, .failed, ""),
        (.not(.all([.leaf(0), .leaf(1)])), .satisfied, .satisfied, "Not<AndCondition>"),
        (.not(.any([.leaf(0), .not(.leaf(1))])), .failed, .failed, "Not<OrCondition>"),
        (.ignored(.any([.leaf(0), .leaf(1)])), .failed, .failed, "cancelled"),
        (.any([.all([.leaf(0)]), .all([]), .leaf(1)]), .failed, .failed, ""),
        (.all([.any([]), .leaf(0), .leaf(1)]), .satisfied, .satisfied, "OrCondition"),
    ])
    func results_areCombined_asOnAQueue(tree: ConditionTree, one: ConditionAnswer.Finding, two: ConditionAnswer.Finding, publisher: String)
    {
        var cluster = cluster([probe("one"), probe("two")], [tree])
        cluster.end("a", answers(one, two))
        switch publisher {
        case "": #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        case "cancelled": #expect(cluster.state("a") == .cancelled)
        default: #expect(errors(&cluster).map(\.publisher) == [publisher])
        }
    }

    @Test func severalThings_areRequiredTogether_withTheirErrorsInOrder() {
        let trees: [ConditionTree] = [.leaf(0), .any([.leaf(1), .leaf(2)]), .not(.leaf(3)), .leaf(4)]
        var cluster = cluster([probe("a"), probe("b"), probe("c"), probe("d"), Condition(.noFailedDependencies)], trees)
        cluster.end("a", answers(.failed, .failed, .failed, .satisfied))
        #expect(errors(&cluster).map(\.publisher) == ["a", "OrCondition", "Not<d>", "NoFailedDependencies"])
        #expect(errors(&cluster).dropFirst(2).first?.message == "The condition d succeed")
    }

    @Test func alternativeThatWaits_isAskedAgain_unlessAnotherHolds() throws {
        var cluster = cluster([probe(), probe()], [.any([.leaf(0), .leaf(1)])])
        cluster.end("a", answers(.retryAfter(milliseconds: 9_000), .retryAfter(milliseconds: 3_000)))
        #expect(cluster.state("a") == .evaluating && !cluster.holds("a"))
        cluster.advance(2_900)
        #expect(!cluster.holds("a"))
        try cluster.restart(after: 0)
        cluster.reattach(1, slots: 2)
        cluster.advance(200)
        cluster.end("a", answers(.retryAfter(milliseconds: 9_000), .satisfied))
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
    }

    /// Nor does it go on without its locks, which it would not ask for while it waits.
    @Test func whatFailsInAnyCase_doesNotWaitForATimeOfDay() {
        let closed = Condition(.timeWindow(TimeWindow(startMinute: 0, endMinute: 1_439)), isNegated: true)
        var cluster = FakeCluster()
        cluster.attach(1)
        let locked = Sketch.op("a", retries: 1, exclusive: [Exclusion(key: "k")]).having {
            $0.conditions = [closed]
            $0.conditionTrees = [.any([]), .leaf(0)]
        }
        cluster.submit(Sketch.group("root", [locked]).graph())
        #expect(cluster.state("a") == .retrying)
        cluster.advance(120_000)
        #expect(cluster.state("a") == .failed && cluster.view()?.state == .failed)
    }

    @Test func closedTimeOfDay_keepsNothingBack_thatAnAlternativeAllows() {
        let closed = Condition(.timeWindow(TimeWindow(startMinute: 0, endMinute: 1_439)), isNegated: true)
        var cluster = cluster([closed, probe()], [.any([.leaf(0), .leaf(1)])])
        cluster.end("a", answers(.failed, from: 1))
        #expect(cluster.state("a") == .evaluating && errors(&cluster).isEmpty)
        var other = self.cluster([closed, probe()], [.any([.leaf(0), .leaf(1)])])
        other.end("a", answers(.satisfied, from: 1))
        #expect(other.find("a", on: nil)?.1.kind == .execute)
    }

    @Test func rateLimitInside_countsStarts_andThoseWhoWaitForItTakeTurns() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let limit = Condition(.rateLimit(RateLimit(key: "api", count: 1, perMilliseconds: 1_000)))
        let members = (0..<3).map { op("n\($0)", [limit, Condition(.noFailedDependencies)], [.all([.leaf(0), .leaf(1)])]) }
        cluster.submit(Sketch.group("root", members).graph())
        #expect(cluster.heldPaths == ["n0"])
        cluster.advance(1_100)
        #expect(cluster.heldPaths == ["n0", "n1"])
        cluster.advance(1_100)
        #expect(cluster.heldPaths == ["n0", "n1", "n2"])
    }

    /// Its start would not count under the limit, and it waits for it all the same: beside another limit, and without one.
    @Test(arguments: [[], [ConditionTree.leaf(1)]])
    func rateLimitUnderANot_isWaitedFor(others: [ConditionTree]) {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        func limit(_ key: String) -> Condition { Condition(.rateLimit(RateLimit(key: key, count: 1, perMilliseconds: 1_000))) }
        let first = op("first", [limit("api")], [])
        let contrary = op("contrary", [limit("api")] + others.map { _ in limit("other") }, [.not(.all([.leaf(0)]))] + others)
        cluster.submit(Sketch.group("root", [first, contrary]).graph())
        #expect(cluster.heldPaths == ["first"])
        #expect(cluster.explain("contrary")?.blockers.map(\.kind) == [.condition])
        cluster.advance(1_000)
        #expect(cluster.state("contrary") == .failed)
    }

    @Test func failure_isTriedAgain_andEvaluatedAnew() {
        var cluster = cluster([probe("one"), probe("two")], [.any([.leaf(0), .leaf(1)])], retries: 1)
        cluster.end("a", answers(.failed, .failed))
        #expect(cluster.state("a") == .retrying)
        cluster.advance(60_000)
        cluster.end("a", answers(.failed, .satisfied))
        cluster.end("a")
        #expect(cluster.state("a") == .succeeded)
    }

    @Test func dependentOperationOfAPart_thatFails_failsThatPartOnly() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 2, conditions: Self.types)
        let inner = op("a", [probe("one"), probe("two")], [.any([.leaf(0), .leaf(1)])])
        cluster.submit(Sketch.group("root", [.preparing(inner, [0: .op("make")])]).graph())
        let path = cluster.heldPaths.first ?? ""
        #expect(path.hasPrefix("a/"))
        cluster.end(path, failure("no"))
        #expect(cluster.find("a", on: nil)?.1.questions.map(\.condition) == [1])
        cluster.end("a", answers(.satisfied, from: 1))
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
    }

    @Test(arguments: [
        ([ConditionTree.any([.leaf(0)])], "has conditions that are made of others which it has not, or not in their order"),
        ([.leaf(1), .leaf(0)], "has conditions that are made of others which it has not, or not in their order"),
        ([.leaf(0), .any([.leaf(1), .leaf(1)])], "has conditions that are made of others which it has not, or not in their order"),
        (
            [.leaf(0), (0..<40).reduce(.leaf(1)) { tree, _ in .not(tree) }],
            "has conditions that are made of others more than 32 deep"
        ),
    ])
    func treesThatDoNotFit_areRefused(trees: [ConditionTree], message: String) {
        #expect(Sketch.group("root", [op("a", [probe(), probe("two")], trees)]).graph().faults().map(\.message) == [message])
    }

    @Test func partOfTheSubmitter_isRefused() {
        let hosted = Condition(.probe(Probe(type: "here", parameters: 0, isHosted: true)))
        let faults = Sketch.group("root", [op("a", [hosted], [.not(.leaf(0))])]).graph().faults()
        #expect(
            faults.map(\.message) == [
                "has a condition that its submitter evaluates inside of one that it does not; it evaluates the whole"
            ])
    }
}
