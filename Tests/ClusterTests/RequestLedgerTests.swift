import Testing
import Wire

@testable import Cluster

/// What is asked, answered and asked again, step by step.
@Suite struct RequestLedgerTests {
    private func response(_ id: UInt64, _ body: WireResponse.OneOf_Body) -> WireResponse {
        .with {
            $0.request = id
            $0.body = body
        }
    }

    private func view(_ id: String, _ state: WireSubmissionState = .running) -> WireSubmissionView {
        .with {
            $0.id = id
            $0.state = state
        }
    }

    private func sent(_ actions: [RequestLedger.Action]) -> [UInt64] {
        actions.compactMap { if case .send(let request) = $0 { request.id } else { nil } }
    }

    /// `#expect` cannot call what mutates; this takes its result.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    @Test func request_whileAway_isSentOnceAttached() {
        var ledger = RequestLedger()
        let (id, actions) = ledger.ask(.workers(.init()))
        #expect(actions.isEmpty)
        expect(sent(ledger.attached()) == [id])
    }

    @Test func unansweredRequests_areSentAgainInOrder_underTheSameIDs() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let first = ledger.ask(.workers(.init()))
        let second = ledger.ask(.list(.init()))
        #expect(sent(first.actions) == [first.id] && sent(second.actions) == [second.id])
        expect(ledger.received(response(first.id, .workers(.init()))) == [.finish(first.id, .success(.workers(.init())))])
        _ = ledger.detached(reason: "gone")
        expect(sent(ledger.attached()) == [second.id])
    }

    @Test func noMoreAreUnderWayThanTheCoordinatorTakes_andTheOthersFollowInOrder() {
        let max = RequestLedger.underWayMax
        var ledger = RequestLedger()
        _ = ledger.attached()
        let asked = (0..<max + 10).map { _ in ledger.ask(.workers(.init())) }
        let ids = asked.map(\.id)
        #expect(asked.flatMap { sent($0.actions) } == Array(ids.prefix(max)))
        // Who waits for news at the coordinator holds up nobody.
        let reading = ledger.ask(.elements(.with { $0.wait = true }))
        #expect(sent(reading.actions) == [reading.id])
        expect(ledger.abandon(ids[max]).isEmpty)
        expect(sent(ledger.received(response(ids[0], .workers(.init())))) == [ids[max + 1]])
        // Its answer is still to come, and frees its place then.
        expect(ledger.abandon(ids[1]).isEmpty)
        expect(sent(ledger.received(response(ids[1], .workers(.init())))) == [ids[max + 2]])
        _ = ledger.detached(reason: "gone")
        expect(sent(ledger.attached()) == ids[2..<max] + ids[max + 1..<max + 3] + [reading.id])
        expect(sent(ledger.received(response(ids[2], .workers(.init())))) == [ids[max + 3]])
    }

    @Test func manyFollows_areAllTakenUpAgain() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let count = 3 * RequestLedger.underWayMax
        var open = (0..<count).flatMap { sent(ledger.follow("s\($0)").actions) }
        func answerAll() -> Int {
            var answered = 0
            while !open.isEmpty {
                let id = open.removeFirst()
                answered += 1
                open += sent(ledger.received(response(id, .following(.with { $0.submission = view("s\(id - 1)") }))))
                #expect(open.count <= RequestLedger.underWayMax)
            }
            return answered
        }
        #expect(answerAll() == count)
        _ = ledger.detached(reason: "gone")
        open = sent(ledger.attached())
        #expect(open.count == RequestLedger.underWayMax && answerAll() == count)
    }

    private func followed(_ id: String) -> WireResponse.OneOf_Body { .following(.with { $0.submission = view(id) }) }

    private let busy = WireResponse.OneOf_Body.failed(
        .with {
            $0.code = .busy
            $0.message = "this connection follows 2 submissions"
        })

    private func ended(_ id: String) -> WireEvents {
        .with {
            $0.submission = id
            $0.view = view(id, .succeeded)
        }
    }

    @Test func followsBeyondWhatTheCoordinatorLetsOneConnectionFollow_waitUntilAnotherEnds() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let ids = ["a", "b", "c", "d", "e"].map { ledger.follow($0).id }
        for (id, name) in zip(ids, ["a", "b"]) { expect(ledger.received(response(id, followed(name))).count == 1) }
        for id in ids[2...] { expect(ledger.received(response(id, busy)).isEmpty) }
        // One that ended makes room for one, in their order; so does one that nobody reads any more, when its end is asked for.
        expect(sent(ledger.received(ended("a"))) == [ids[2]])
        expect(ledger.received(response(ids[2], busy)).isEmpty)
        expect(ledger.abandon(ids[3]).isEmpty)
        let actions = ledger.abandon(ids[1])
        guard case .send(let unfollow)? = actions.first else { return #expect(Bool(false), "nothing was sent") }
        #expect(unfollow.unfollow.submission == "b" && sent(actions) == [unfollow.id, ids[4]])
        expect(ledger.received(response(ids[4], followed("e"))) == [.deliver(ids[4], .view(view("e")))])
        // A new connection asks for all of them again.
        _ = ledger.detached(reason: "gone")
        expect(sent(ledger.attached()) == [ids[2], ids[4]])
        expect(ledger.received(response(ids[2], followed("c"))) == [.deliver(ids[2], .view(view("c")))])
        expect(ledger.received(response(ids[4], busy)).isEmpty)
        expect(sent(ledger.received(ended("c"))) == [ids[4]])
        // Where nothing else is followed it is refused.
        guard case .endFollow(ids[4], let error?)? = ledger.received(response(ids[4], busy)).first else {
            return #expect(Bool(false), "it waits for nothing")
        }
        #expect(error.code == .busy)
    }

    @Test func answer_isTakenOnce() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.ask(.workers(.init()))
        expect(ledger.received(response(id, .workers(.init()))).count == 1)
        expect(ledger.received(response(id, .workers(.init()))).isEmpty)
    }

    @Test func failure_isTyped() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.ask(.show(.init()))
        let failed = WireRequestFailed.with {
            $0.code = .notFound
            $0.message = "no submission `x`"
        }
        expect(ledger.received(response(id, .failed(failed))) == [.finish(id, .failure(ClusterError(.notFound, "no submission `x`")))])
    }

    @Test func follow_beginsWithTheView_andGoesOnAfterAReconnect_underTheWholeID() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.follow("last")
        expect(ledger.received(response(id, .following(.with { $0.submission = view("abc") }))) == [.deliver(id, .view(view("abc")))])
        let events = WireEvents.with {
            $0.submission = "abc"
            $0.view = view("abc")
            $0.events = [.with { $0.path = "a" }]
        }
        expect(ledger.received(events) == [.deliver(id, .events(events.events, view("abc")))])
        expect(ledger.detached(reason: "gone") == [.deliver(id, .interrupted(reason: "gone"))])
        // Said once, however often a new attempt fails.
        expect(ledger.detached(reason: "still gone").isEmpty)
        let again = ledger.attached()
        guard case .send(let request) = again.first else { return #expect(Bool(false), "nothing was sent") }
        #expect(request.id == id && request.follow.submission == "abc")
        expect(
            ledger.received(response(id, .following(.with { $0.submission = view("abc", .succeeded) })))
                == [.deliver(id, .view(view("abc", .succeeded))), .endFollow(id, nil)])
    }

    @Test func follow_endsWithTheFinalState() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.follow("abc")
        _ = ledger.received(response(id, .following(.with { $0.submission = view("abc") })))
        let last = WireEvents.with {
            $0.submission = "abc"
            $0.view = view("abc", .failed)
        }
        expect(ledger.received(last) == [.deliver(id, .events([], view("abc", .failed))), .endFollow(id, nil)])
        expect(ledger.received(last).isEmpty)
    }

    @Test func followForTheEnd_isToldNothingElse_whateverComes() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, actions) = ledger.follow("abc", .end)
        guard case .send(let request) = actions.first else { return #expect(Bool(false), "nothing was sent") }
        #expect(request.follow.endOnly && !request.follow.details)
        _ = ledger.received(following(id, "abc"))
        var events = WireEvents.with {
            $0.submission = "abc"
            $0.view = view("abc")
            $0.events = [.with { $0.path = "a" }]
        }
        expect(ledger.received(events).isEmpty)
        events.view = view("abc", .succeeded)
        expect(ledger.received(events).last == .endFollow(id, nil))
    }

    /// The view says that something is missing before it.
    @Test(arguments: [FollowDepth.operations, .everything]) func eventsThatWereLeftOut_areAView(_ depth: FollowDepth) {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.follow("abc", depth)
        _ = ledger.received(following(id, "abc"))
        var events = WireEvents.with {
            $0.submission = "abc"
            $0.view = view("abc")
            $0.missed = true
        }
        expect(ledger.received(events) == [.deliver(id, .view(view("abc")))])
        events.view = view("abc", .succeeded)
        expect(ledger.received(events) == [.deliver(id, .view(view("abc", .succeeded))), .endFollow(id, nil)])
    }

    @Test func follow_ofNothing_endsWithTheError() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.follow("nobody")
        let failed = WireRequestFailed.with { $0.code = .notFound }
        expect(ledger.received(response(id, .failed(failed))) == [.endFollow(id, ClusterError(.notFound, ""))])
    }

    @Test func abandonedFollow_isUnfollowed() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.follow("abc")
        _ = ledger.received(response(id, .following(.with { $0.submission = view("abc") })))
        let actions = ledger.abandon(id)
        guard case .send(let request) = actions.first else { return #expect(Bool(false), "nothing was sent") }
        #expect(request.unfollow.submission == "abc")
    }

    private func unfollowed(_ actions: [RequestLedger.Action]) -> [String] {
        actions.compactMap { action in
            if case .send(let request) = action, case .unfollow(let unfollow)? = request.body { unfollow.submission } else { nil }
        }
    }

    private func following(_ id: UInt64, _ submission: String) -> WireResponse {
        response(id, .following(.with { $0.submission = view(submission) }))
    }

    @Test func abandonedFollow_isUnfollowedOnlyWhenNoOtherCanMeanTheSame() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (first, _) = ledger.follow("abc")
        _ = ledger.received(following(first, "abc"))
        let (last, _) = ledger.follow("last")
        // `last` may be `abc`.
        expect(ledger.abandon(first).isEmpty)
        expect(unfollowed(ledger.received(following(last, "abc"))).isEmpty)
        let (other, _) = ledger.follow("x")
        expect(ledger.abandon(last).isEmpty)
        // It was not: now it is certain that nobody wants `abc`.
        expect(unfollowed(ledger.received(following(other, "xyz"))) == ["abc"])
        expect(unfollowed(ledger.abandon(other)) == ["xyz"])
    }

    @Test func followAbandonedBeforeItsAnswer_isUnfollowedAfterIt() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (id, _) = ledger.follow("last")
        expect(ledger.abandon(id).isEmpty)
        expect(unfollowed(ledger.received(following(id, "abc"))) == ["abc"])
    }

    @Test func newConnection_hasNothingToUnfollow() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (first, _) = ledger.follow("abc")
        _ = ledger.received(following(first, "abc"))
        let (second, _) = ledger.follow("x")
        expect(ledger.abandon(first).isEmpty)
        _ = ledger.detached(reason: "gone")
        expect(sent(ledger.attached()) == [second])
        expect(unfollowed(ledger.received(following(second, "xyz"))).isEmpty)
    }

    @Test func end_endsEverything_andWhateverComesAfter() {
        var ledger = RequestLedger()
        _ = ledger.attached()
        let (asked, _) = ledger.ask(.workers(.init()))
        let (followed, _) = ledger.follow("abc")
        let closed = ClusterError(.closed, "closed")
        expect(ledger.end(closed) == [.finish(asked, .failure(closed)), .endFollow(followed, closed)])
        let (late, actions) = ledger.ask(.workers(.init()))
        #expect(actions == [.finish(late, .failure(closed))])
        expect(ledger.attached().isEmpty)
    }
}
