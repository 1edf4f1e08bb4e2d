import Scheduling
import Testing

/// Submissions once more in which only what has not succeeded runs (`aop retry --failed`).
@Suite struct KeepingTests {
    private let probe = Condition(.probe(Probe(type: "probe", parameters: 0)))

    private func retry(_ cluster: inout FakeCluster, _ key: String = "again") -> Bool {
        if case .retried? = cluster.ask(.retry(submission: "last", key: key, force: false, failedOnly: true)) { true } else { false }
    }

    /// Runs the graph; these fail. Then retries it, and says what runs, to the end.
    private func rerun(_ sketches: [Sketch], failing: Set<String>, ordered: Bool = false) throws -> [String] {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 16)
        cluster.submit(Sketch.group("root", sketches, ordered: ordered, stop: ordered).graph())
        cluster.drain { failing.contains($0.path) ? failure("no") : .success(text($0.path)) }
        #expect(cluster.view()?.state == .failed)
        let first = cluster.dispatched.count
        let isRetried = retry(&cluster)
        #expect(isRetried)
        cluster.drain { .success(text("again \($0.path)")) }
        #expect(cluster.view()?.state == .succeeded)
        let before = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == before)
        return Array(cluster.dispatched[first...])
    }

    @Test func whatHasSucceeded_keepsItsValue_andTheRestRunsWithIt() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let graph = Sketch.group("root", [.op("a"), .op("b"), .op("c", receives: ["a", "b"]), .op("d", after: ["a"])]).graph()
        let first = cluster.submit(graph)
        cluster.drain { $0.path == "b" ? failure("no") : .success(text($0.path)) }
        let isRetried = retry(&cluster)
        #expect(isRetried && cluster.heldPaths == ["b"])
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.end("b", .success(text("B")))
        #expect(cluster.find("c", on: nil)?.1.inputs == [.value(text("a")), .value(text("B"))])
        cluster.end("c")
        #expect(cluster.view()?.state == .succeeded)
        let kept = cluster.operations(values: true).first { $0.path == "d" }
        #expect(kept?.state == .succeeded && kept?.attempts == 0 && kept?.value == text("d"))
        #expect(cluster.operations(of: first ?? "").first { $0.path == "b" }?.state == .failed)
    }

    /// It has not stood in the line, though all that the graph can begin with is ready for a moment.
    @Test func whatIsKept_saysFromWhere_andThatItDidNotRun_alsoAfterARestart() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let graph = Sketch.group("root", [.op("a"), .group("g", [.op("x")]), .op("b")]).graph()
        let first = cluster.submit(graph) ?? ""
        cluster.drain { $0.path == "b" ? failure("no") : .success(.void) }
        let isRetried = retry(&cluster)
        #expect(isRetried)
        func expectKept() {
            for path in ["a", "g", "g/x"] {
                let history = cluster.explain(path)?.history
                #expect(history?.map(\.event) == ["submitted", "ended"], "\(path)")
                #expect(history?.last?.text == "succeeded in \(first), and is kept from there: it did not run again", "\(path)")
                #expect(cluster.operations().first { $0.path == path }?.queuedAt == 0, "\(path)")
            }
            #expect(cluster.explain("b")?.history.contains { $0.event == "queued" } == true)
        }
        expectKept()
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        expectKept()
        cluster.end("b")
        for path in ["b", ""] { #expect(cluster.explain(path)?.history.last?.text == "succeeded") }
        let ended = cluster.scheduler.endedOperations(of: SubmissionNumber(2), from: 0, limit: 10)?.operations ?? []
        #expect(ended.filter { $0.queuedAt == 0 }.map(\.path) == ["a", "g", "g/x"])
    }

    @Test func whatIsKept_isNotCountedOnceMore() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.drain { $0.path == "b" ? failure("no") : .success(.void) }
        func count(_ end: Tally.End) -> UInt64 {
            let tally = cluster.scheduler.tally
            return tally.types.indices.reduce(0) { $0 + tally.count(ofType: $1, end) }
        }
        #expect([count(.succeeded), count(.failed)] == [1, 1])
        let isRetried = retry(&cluster)
        #expect(isRetried && cluster.state("a") == .succeeded)
        #expect([count(.succeeded), count(.failed)] == [1, 1])
        cluster.drain()
        #expect([count(.succeeded), count(.failed)] == [2, 1])
    }

    @Test func whatCameAfterSomethingThatFailed_runsAgain_withAllThatIsInIt() throws {
        let after = try rerun(
            [.op("a"), .op("b", after: ["a"]), .group("g", [.op("x"), .op("y")], after: ["a"]), .op("z")], failing: ["a"])
        #expect(after == ["a", "b", "g/x", "g/y"])
        let behindAGroup = try rerun([.group("g", [.op("x"), .op("y")]), .op("z", after: ["g"])], failing: ["g/x"])
        #expect(behindAGroup == ["g/x", "z"])
    }

    @Test func orderedGroups_goOnWhereTheyStopped() throws {
        #expect(try rerun([.op("a"), .op("b"), .op("c")], failing: ["b"], ordered: true) == ["b", "c"])
    }

    @Test func groupsThatSucceeded_takeNoLockAndAskNoCondition() throws {
        let held = Sketch.holding("g", "k", [.op("x")])
        let asked = Sketch.op("p").having { $0.conditions = [probe] }
        let done = Sketch.preparing(Sketch.op("q").having { $0.conditions = [probe] }, [0: .op("?probe.0")])
        #expect(try rerun([held, asked, done, .op("bad")], failing: ["bad"]) == ["bad"])
    }

    @Test func dependentOperations_areDoneAnew_withWhatTheyAreDoneFor() throws {
        let done = Sketch.preparing(Sketch.op("q").having { $0.conditions = [probe] }, [0: .op("?probe.0")])
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        cluster.submit(Sketch.group("root", [done, .op("fine")]).graph())
        cluster.end("fine")
        cluster.end("q/?probe.0")
        cluster.end("q")
        cluster.end("q", failure("no"))
        let isRetried = retry(&cluster)
        #expect(isRetried && cluster.heldPaths == ["q/?probe.0"])
        cluster.drain()
        #expect(cluster.view()?.state == .succeeded)
    }

    @Test func forEachThatHasSucceeded_isKept_withItsElementsAndTheirValues() throws {
        let each = Sketch.forEach("each", of: nil, list: ["1", "2"], body: .op("body"))
        #expect(try rerun([each, .op("bad"), .op("sum", receives: ["each", "bad"])], failing: ["bad"]) == ["bad", "sum"])
        let nested = Sketch.forEach(
            "each", of: nil, list: ["1", "2"],
            body: .group("g", [.op("x"), .forEach("inner", of: nil, list: ["3"], body: .op("y"))], ordered: true), max: 1)
        #expect(try rerun([nested, .op("bad")], failing: ["bad"]) == ["bad"])
    }

    @Test func forEachOverAValue_isKept_withTheElementsThatTheValueHad() throws {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 8)
        let each = Sketch.forEach("each", of: "list", list: nil, body: .op("body"))
        cluster.submit(Sketch.group("root", [.op("list"), each, .op("bad"), .op("sum", receives: ["each", "bad"])]).graph())
        cluster.drain { unit in
            if unit.kind == .decide { return .elements([[0x31], [0x32]]) }
            return unit.path == "bad" ? failure("no") : .success(text(unit.path))
        }
        let isRetried = retry(&cluster)
        #expect(isRetried && cluster.heldPaths == ["bad"])
        try cluster.restart()
        cluster.reattach(1, slots: 8)
        cluster.end("bad", .success(text("good")))
        #expect(
            cluster.find("sum", on: nil)?.1.inputs == [.list([.value(text("each/0")), .value(text("each/1"))]), .value(text("good"))])
        #expect(cluster.operations().filter { $0.path.hasPrefix("each/") }.map(\.state) == [.succeeded, .succeeded])
        cluster.end("sum")
        #expect(cluster.view()?.state == .succeeded)
        #expect(cluster.view()?.counts.succeeded == 5)
    }

    @Test func forEachsThatFailed_runAgainAsAWhole_withWhatComesAfterThem() throws {
        let each = Sketch.forEach("each", of: nil, list: ["1", "2"], body: .op("body"))
        #expect(try rerun([each, .op("sum", receives: ["each"]), .op("fine")], failing: ["each/1"]) == ["each/0", "each/1", "sum"])
    }

    @Test func limitedGroups_goOn() throws {
        let group = Sketch.group("g", (0..<6).map { .op("o\($0)") }, max: 2)
        #expect(try rerun([group], failing: ["g/o1", "g/o4"]) == ["g/o1", "g/o4"])
    }

    /// Those with an id come in line when they have it, behind others that are further down.
    @Test func limitedGroups_withUniqueIDs_goOn() throws {
        let group = Sketch.group("g", [.op("w").unique("w"), .op("x"), .op("z").unique("z")], max: 1)
        #expect(try rerun([group], failing: ["g/z"]) == ["g/z"])
    }

    @Test func whoseUniqueIDIsInUse_isNotKept_andRefused() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        let first = cluster.submit(Sketch.group("root", [.op("a").unique("u"), .op("b")]).graph(), key: "first") ?? ""
        cluster.end("a")
        cluster.end("b", failure("no"))
        let second = cluster.submit(Sketch.group("root", [.op("other").unique("u")]).graph(), key: "second") ?? ""
        let request = Request.retry(submission: first, key: "again", force: false, failedOnly: true)
        guard case .failed(.refused(let message, _))? = cluster.ask(request) else {
            Issue.record("was not refused")
            return
        }
        #expect(message.contains("\(first)/a") && message.contains("in use by \(second)/other"))
        cluster.end("other")
        guard case .retried? = cluster.ask(request) else {
            Issue.record("the id is free")
            return
        }
        #expect(cluster.heldPaths == ["b"])
    }

    /// A condition that is negated holds because what is done before it failed: that is no failure of what it is done for.
    @Test func successAfterAFailedDependentOperation_isKept() throws {
        let negated = Condition(.probe(Probe(type: "probe", parameters: 0)), isNegated: true)
        let done = Sketch.preparing(Sketch.op("q").having { $0.conditions = [negated] }, [0: .op("?probe.0")])
        #expect(try rerun([done, .op("after", after: ["q"]), .op("bad")], failing: ["q/?probe.0", "bad"]) == ["bad"])
    }

    @Test func withoutAFailure_itIsRefused_andTheSameKeyIsOneSubmission() {
        var cluster = FakeCluster()
        cluster.attach(1)
        cluster.submit(Sketch.group("root", [.op("a"), .op("b")]).graph())
        cluster.end("a")
        cluster.end("b", failure("no"))
        let first = retry(&cluster)
        cluster.end("b")
        guard case .failed(.refused(let message, _))? = cluster.ask(.retry(submission: "last", key: "more", force: false, failedOnly: true))
        else {
            Issue.record("was not refused")
            return
        }
        #expect(first && message.contains("nothing of submission"))
        guard case .retried(_, existing: true, _)? = cluster.ask(.retry(submission: "last", key: "again", force: false, failedOnly: true))
        else {
            Issue.record("the same request is answered in the same way")
            return
        }
    }

    @Test(arguments: 0..<12)
    func randomGraphs_underRetries_endAndKeepTheInvariants(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) + 9_000)
        var cluster = FakeCluster()
        cluster.submit(RandomGraph.make(&random, keys: 2, prepares: true))
        for executor in 0..<3 { cluster.attach(executor, slots: 2) }
        cluster.attach(100, host: .full)
        func finish(_ cluster: inout FakeCluster) throws {
            for _ in 0..<300 where cluster.view()?.state.isOver == false {
                if let path = random.pick(cluster.heldPaths), let unit = cluster.find(path, on: nil)?.1 {
                    let fails = unit.kind == .execute && random.below(5) == 0
                    cluster.end(path, unit.kind == .decide ? .elements([[0x31]]) : fails ? failure("no") : .success(.void))
                } else {
                    cluster.advance(70_000)
                    for executor in 0..<3 { cluster.reattach(executor, slots: 2) }
                }
            }
        }
        for round in 0..<3 {
            try finish(&cluster)
            let isOver = cluster.view()?.state.isOver
            #expect(isOver == true)
            guard round < 2, retry(&cluster, "round \(round)") else { break }
            if random.below(2) == 0 {
                try cluster.restart()
                for executor in 0..<3 { cluster.reattach(executor, slots: 2) }
                cluster.attach(100, host: .full)
            }
        }
        let before = cluster.operations(values: true)
        try cluster.restart()
        #expect(cluster.operations(values: true) == before)
    }
}

extension SubmissionState {
    fileprivate var isOver: Bool {
        switch self {
        case .succeeded, .failed, .cancelled: true
        case .pending, .running, .paused: false
        }
    }
}
