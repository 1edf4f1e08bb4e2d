import Testing

@testable import Scheduling

/// The trace that a submission belongs to: handed out with its units, and no part of what is decided.
@Suite struct TraceTests {
    private static let trace = TraceContext(["traceparent": "00-1-2-01", "tracestate": "a=1"])
    private static let graph = Sketch.group("root", [.op("a"), .op("b", after: ["a"])]).graph()

    private func submit(_ cluster: inout FakeCluster, _ trace: TraceContext, key: String = "key") -> (id: String, existing: Bool)? {
        let request = Request.submit(key: key, name: "", graph: ExaminedGraph(Self.graph), waitForWorkers: true, trace: trace)
        guard case .submitted(let id, let existing)? = cluster.ask(request) else { return nil }
        return (id, existing)
    }

    @Test func units_haveTheTraceOfTheirSubmission_alsoAfterRestarts() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        #expect(submit(&cluster, Self.trace)?.existing == false)
        #expect(cluster.find("a", on: 1)?.1.trace == Self.trace)
        // Through the bytes of its facts, and of a snapshot.
        for _ in 0..<3 { try cluster.restart() }
        cluster.attach(1)
        cluster.advance(60_000)
        cluster.end("a", on: 1)
        #expect(cluster.find("b", on: 1)?.1.trace == Self.trace)
    }

    @Test func unitsOfOtherSubmissions_haveNone() {
        var cluster = FakeCluster()
        cluster.attach(1, slots: 4)
        #expect(submit(&cluster, Self.trace, key: "1") != nil)
        cluster.end("a", on: 1)
        cluster.end("b", on: 1)
        #expect(submit(&cluster, TraceContext(), key: "2") != nil)
        #expect(cluster.find("a", on: 1)?.1.trace.isEmpty == true)
    }

    @Test func sameKeyAndGraphInAnotherTrace_isTheSameSubmission_inItsOwnTrace() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let first = try #require(submit(&cluster, Self.trace))
        let again = try #require(submit(&cluster, TraceContext(["traceparent": "00-3-4-01"])))
        #expect(again.id == first.id && again.existing)
        cluster.end("a", on: 1)
        #expect(cluster.find("b", on: 1)?.1.trace == Self.trace)
    }

    @Test func whatIsRetried_staysInTheTrace() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        let first = try #require(submit(&cluster, Self.trace))
        cluster.end("a", on: 1, failure("no"))
        cluster.drain()
        guard case .retried? = cluster.ask(.retry(submission: first.id, key: "again", force: false)) else {
            Issue.record("it is not retried")
            return
        }
        #expect(cluster.find("a", on: 1)?.1.trace == Self.trace)
    }

    @Test func wait_isToldOnceForEachAttempt_fromReadyToItsBeginning() throws {
        var cluster = FakeCluster()
        cluster.scheduler.tellsWaits = true
        cluster.attach(1)
        let graph = Sketch.group("root", [.op("a", retries: 1), .op("b")]).graph()
        let submitted = cluster.ask(.submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: true, trace: Self.trace))
        guard case .submitted(let id, _)? = submitted else { throw UnexpectedReply(submitted) }
        let begin = cluster.now.wall
        cluster.advance(100)
        // Said when it begins; its end says nothing more.
        cluster.begin("a")
        cluster.advance(400)
        cluster.end("a", failure("no"), lasting: 400)
        // What is so short is only told as ended.
        cluster.end("b", lasting: 30)
        cluster.advance(60_000)
        cluster.end("a", lasting: 1)
        let told = cluster.waits.map { [$0.path, "\($0.attempt)", "\($0.from - begin)", "\($0.to - begin)"] }
        #expect(told.prefix(2) == [["a", "1", "0", "100"], ["b", "1", "0", "470"]])
        #expect(told.count == 3 && told.last?.prefix(2) == ["a", "2"], "\(told)")
        for wait in cluster.waits {
            #expect(wait.submission == id && wait.trace == Self.trace && wait.from <= wait.to)
            #expect(wait.type == "noop" && wait.worker == "h/1")
        }
    }

    @Test(arguments: [true, false]) func wait_isNotTold_whereNobodyAsksOrThereIsNoTrace(_ isAskedFor: Bool) {
        var cluster = FakeCluster()
        cluster.scheduler.tellsWaits = isAskedFor
        cluster.attach(1)
        #expect(submit(&cluster, isAskedFor ? TraceContext() : Self.trace) != nil)
        cluster.begin("a")
        cluster.drain()
        #expect(cluster.waits.isEmpty && cluster.view()?.state == .succeeded)
    }

    private struct UnexpectedReply: Error {
        let reply: String
        init(_ reply: Reply?) { self.reply = String(describing: reply) }
    }

    @Test(arguments: [true, false]) func fact_isReadAsItWasWritten_andIsTheOldOneWithoutATrace(_ hasPrincipal: Bool) throws {
        var admission = Admission(
            number: SubmissionNumber(1), id: "id", key: "k", name: "n", graph: Self.graph, at: 5, submitter: Incarnation(9),
            waitsForWorkers: true, principal: hasPrincipal ? "ann" : "", operations: hasPrincipal ? ["noop"] : [])
        #expect(FactCodec.encode(.submitted(admission)).first == (hasPrincipal ? 250 : 232))
        admission.trace = Self.trace
        let bytes = FactCodec.encode(.submitted(admission))
        #expect(bytes.first == 120)
        #expect(try FactCodec.decode(bytes[...]) == .submitted(admission))
    }

    @Test func snapshotsOfTheFifthLayout_areRead() throws {
        var cluster = FakeCluster()
        cluster.attach(1)
        #expect(submit(&cluster, TraceContext()) != nil)
        var scheduler = Scheduler(cluster.configuration)
        for fact in cluster.journal.ofTheFirstRules { try scheduler.restore(fact) }
        var sections: [[UInt8]] = []
        scheduler.writeSnapshot { sections.append($0) }
        // Without the list of the trace's fields, which is empty.
        var fifth = sections.map { $0 }
        fifth[0] = fifth[0].ofLayout(5)
        #expect(fifth[1].removeLast() == 0)
        var restored = Scheduler(cluster.configuration)
        for section in fifth { try restored.restore(section: section[...]) }
        var again: [[UInt8]] = []
        restored.writeSnapshot { again.append($0) }
        #expect(again == sections)
    }
}
