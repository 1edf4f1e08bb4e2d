import Scheduling
import Testing

/// Questions that are answered when a submission has ended.
@Suite struct EndQueryTests {
    private static func query(_ submission: String = "last", from: Int = 0) -> Request {
        .operations(
            OperationQuery(
                submission: submission, path: "", from: from, limit: 0, withValues: true, failedOnly: false, atEnd: true))
    }

    /// What clients were told of operations in the last step.
    private static func pages(_ cluster: FakeCluster) -> [[OperationView]] {
        cluster.sends.compactMap { send in
            if case .reply(_, .operations(let views, _, _)) = send.message { views } else { nil }
        }
    }

    private func cluster() -> FakeCluster {
        var cluster = FakeCluster()
        cluster.submit(Sketch.group("root", [.op("a"), .op("b", after: ["a"])]).graph())
        return cluster
    }

    @Test func answerComes_withTheEnd_andHasAllThatCameOfIt() throws {
        var cluster = cluster()
        #expect(cluster.ask(Self.query()) == nil)
        cluster.attach(1)
        cluster.end("a", .success(text("A")))
        #expect(Self.pages(cluster).isEmpty)
        cluster.end("b", .success(text("B")))
        let page = try #require(Self.pages(cluster).first)
        #expect(page.map(\.path) == ["", "a", "b"] && page.allSatisfy { $0.state == .succeeded })
        #expect(page.map(\.value) == [nil, text("A"), text("B")])
        #expect(Self.pages(cluster).count == 1)
        // Not before what it tells of is on the disk.
        let send = try #require(cluster.sends.first { if case .reply = $0.message { true } else { false } })
        #expect(send.after > .none && cluster.sends.allSatisfy { $0.after == send.after })
    }

    @Test func whatHasEnded_isAnsweredAtOnce_andSoIsWhatIsNotThere() throws {
        var cluster = cluster()
        cluster.attach(1)
        cluster.drain()
        guard case .operations(let views, _, _)? = cluster.ask(Self.query()) else { throw Unanswered() }
        #expect(views.count == 3)
        guard case .failed? = cluster.ask(Self.query("nobody")) else { throw Unanswered() }
    }

    private struct Unanswered: Error {}

    @Test func severalWhoWait_areAnsweredEach_inTheirOrder() {
        var cluster = cluster()
        #expect(cluster.ask(Self.query()) == nil && cluster.ask(Self.query(from: 2)) == nil)
        cluster.attach(1)
        cluster.end("a")
        cluster.end("b")
        #expect(Self.pages(cluster).map { $0.map(\.path) } == [["", "a", "b"], ["b"]])
    }

    @Test func onePeerWaitsForSoManyOnly_andThenIsToldHowItStands() throws {
        var cluster = cluster()
        for _ in 0..<100 { #expect(cluster.ask(Self.query()) == nil) }
        guard case .operations(let views, _, _)? = cluster.ask(Self.query()) else { throw Unanswered() }
        #expect(views.map(\.path) == ["", "a", "b"] && views.allSatisfy { $0.state != .succeeded })
        cluster.attach(1)
        cluster.end("a")
        cluster.end("b")
        #expect(Self.pages(cluster).count == 100)
        // There is room again.
        cluster.submit(Sketch.group("root", [.op("c")]).graph(), key: "another")
        #expect(cluster.ask(Self.query()) == nil)
    }

    @Test func whoIsGone_isNotAnswered() {
        var cluster = cluster()
        #expect(cluster.ask(Self.query()) == nil)
        cluster.step([.disconnected(cluster.client)])
        cluster.attach(1)
        cluster.end("a")
        cluster.end("b")
        #expect(Self.pages(cluster).isEmpty)
    }

    @Test func cancelled_isAnEndToo() {
        var cluster = cluster()
        #expect(cluster.ask(Self.query()) == nil)
        let request = RequestID(peer: cluster.client, number: 900)
        cluster.step([.request(request, .cancel(submission: "last", path: "", reason: "", now: false), by: .unlimited)])
        #expect(Self.pages(cluster).map { $0.map(\.state) } == [[.cancelled, .cancelled, .cancelled]])
    }
}
