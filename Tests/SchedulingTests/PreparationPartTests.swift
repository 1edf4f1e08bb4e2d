import Scheduling
import Testing

/// Dependent operations of what a condition is made of, which its submitter evaluates as a whole.
@Suite struct PreparationPartTests {
    private static let here = 70
    private let whole = Condition(.probe(Probe(type: "OrCondition", parameters: 0, isHosted: true)))

    private func op(_ parts: [Int: Sketch], retries: Int = 0) -> Sketch {
        .preparingParts(Sketch.op("a", retries: retries).having { $0.conditions = [whole] }, of: 0, parts)
    }

    private func cluster(_ sketches: Sketch...) -> FakeCluster {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        cluster.attach(Self.here, slots: 4, operations: [], isSubmitter: true)
        cluster.submit(Sketch.group("root", sketches).graph(), submitter: Self.here)
        return cluster
    }

    private func question(_ cluster: FakeCluster) throws -> ConditionQuestion {
        let (owner, unit) = try #require(cluster.find("a", on: nil))
        #expect(owner == Self.here && unit.questions.count == 1)
        return try #require(unit.questions.first)
    }

    @Test func whatFailed_isSaidToWhoEvaluates_andDecidesNothing_alsoAcrossARestart() throws {
        var cluster = cluster(op([0: .op("?x.0.0"), 2: .op("?x.0.2"), 3: .group("?g.0.3", [.op("y")])]))
        #expect(cluster.heldPaths == ["a/?x.0.0", "a/?x.0.2", "a/?g.0.3/y"])
        cluster.end("a/?x.0.2", failure("no disk"))
        cluster.end("a/?g.0.3/y", failure("no net"))
        try cluster.restart()
        cluster.reattach(1, slots: 4)
        cluster.reattach(Self.here, slots: 4, operations: [])
        cluster.end("a/?x.0.0")
        let failed = try question(cluster).failedParts
        #expect(failed.map(\.part) == [2, 3])
        #expect(failed.map(\.failure.message) == ["no disk", "no net"])
        #expect(failed.map(\.failure.origin) == ["a/?x.0.2", "a/?g.0.3/y"])
        #expect(failed.allSatisfy { !$0.failure.isCondition })
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .satisfied)]))
        #expect(cluster.find("a", on: nil)?.1.kind == .execute)
        cluster.end("a")
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func whoEvaluatesSaysWhatTheConditionFailsWith() throws {
        var cluster = cluster(op([0: .op("?x.0.0")]))
        cluster.end("a/?x.0.0", failure("no disk"))
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .failed, reason: "neither")]))
        let error = try #require(cluster.operations(failedOnly: true).first { $0.path == "a" }?.errors.first)
        #expect(error.message == "neither" && error.publisher == "OrCondition" && error.isCondition && error.origin == "a")
    }

    @Test func everyAttempt_hasThemAnew_andIsToldOfItsOwn() throws {
        var cluster = cluster(op([1: .op("?x.0.1")], retries: 2))
        cluster.end("a/?x.0.1", failure("once"))
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .failed, reason: "neither")]))
        cluster.advance(2_000)
        #expect(cluster.heldPaths == ["a/?x.0.1"])
        cluster.end("a/?x.0.1")
        #expect(try question(cluster).failedParts == [])
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .satisfied)]))
        cluster.end("a", failure("again"))
        cluster.advance(4_000)
        _ = cluster.ask(.cancel(submission: "last", path: "a/?x.0.1", reason: "", now: false))
        cluster.end("a/?x.0.1", .stopped)
        #expect(try question(cluster).failedParts.map(\.failure.code) == [.cancelled])
    }

    @Test func cancelledMeanwhile_endsWhenTheyHaveEnded_andNobodyIsAsked() {
        var cluster = cluster(op([0: .op("?x.0.0"), 1: .op("?x.0.1")]))
        cluster.end("a/?x.0.0", failure("no disk"))
        _ = cluster.ask(.cancel(submission: "last", path: "a", reason: "", now: false))
        cluster.end("a/?x.0.1", .stopped)
        #expect(cluster.state("a") == .cancelled)
        #expect(cluster.heldPaths.isEmpty)
    }

    @Test func theyAreNotTheCauseOfAFailure_thatOnlyTheWholeKnows() throws {
        var cluster = cluster(op([0: .op("?x.0.0")]))
        cluster.end("a/?x.0.0", failure("no disk"))
        cluster.end("a", .answers([ConditionAnswer(condition: 0, finding: .failed, reason: "neither")]))
        guard case .explanation(let explanation)? = cluster.ask(.explain(submission: "last", path: "a")) else {
            Issue.record("nothing is explained")
            return
        }
        #expect(explanation.causes.count == 1)
        #expect(explanation.causes.first?.text.contains("neither") == true)
    }

    @Test func partsOfWhatHasNone_andSeveralForOnePart_areRefused() {
        func faults(_ sketch: Sketch, _ change: (inout Graph) -> Void = { _ in }) -> [String] {
            var graph = Sketch.group("root", [sketch]).graph()
            change(&graph)
            return graph.faults().map(\.message)
        }
        #expect(faults(op([0: .op("?x.0.0"), 1: .op("?x.0.1")])).isEmpty)
        #expect(
            faults(op([0: .op("?x.0.0")])) { $0.nodes[1].options.conditions = [Condition(.noFailedDependencies)] }
                .first?.contains("part 0 of condition 0 of node 1, which its submitter does not evaluate") == true)
        #expect(
            faults(op([0: .op("?x.0.0")])) { $0.nodes[2].options.prepares = nil }
                .first?.contains("does not say of which condition") == true)
        #expect(
            faults(op([0: .op("?x.0.0"), 1: .op("?x.0.1")])) { $0.nodes[3].options.preparesPart = 0 }
                .first?.contains("is another dependent operation of condition 0 of `a`") == true)
        #expect(
            faults(op([0: .op("?x.0.0"), 1: .op("?x.0.1")])) { $0.nodes[3].options.preparesPart = nil }
                .first?.contains("is another dependent operation of condition 0 of `a`") == true)
    }
}
