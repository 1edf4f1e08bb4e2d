import Testing

@testable import Wire

/// A joiner's way to its answer, step by step.
@Suite struct EnrolmentSessionTests {
    private let enrolled = WireEnrolled.with { $0.name = "host2" }

    private func refusal(_ code: WireRefusal.Code, _ text: String) -> WireRefusal {
        .with {
            $0.code = code
            $0.message = text
        }
    }

    private func started() -> EnrolmentSession {
        var session = EnrolmentSession(giveUpAt: 10_000)
        #expect(session.deadline == nil)
        #expect(session.start(at: 0) == [.connect])
        return session
    }

    private func waiting() -> EnrolmentSession {
        var session = started()
        #expect(session.connected(at: 10) == [.enrol])
        return session
    }

    @Test func answer_endsIt_andNothingFollows() {
        var session = waiting()
        #expect(session.deadline == 10 + EnrolmentSession.answerMilliseconds)
        #expect(session.receive(.with { $0.heartbeatAnswer = WireHeartbeatAnswer() }, at: 20) == [])
        #expect(session.receive(.with { $0.enrolled = enrolled }, at: 20) == [.disconnect, .end(.enrolled(enrolled))])
        #expect(session.deadline == nil)
        #expect(session.lost(.lost("x"), at: 30) == [])
        #expect(session.tick(at: 20_000) == [])
    }

    @Test func refusal_isFinal_orTriedAgain() {
        var session = waiting()
        let used = refusal(.notPermitted, "used")
        #expect(session.receive(.with { $0.refusal = used }, at: 20) == [.disconnect, .end(.failed(.refused(used)))])
        session = waiting()
        #expect(session.receive(.with { $0.refusal = refusal(.unavailable, "locked") }, at: 20) == [.disconnect])
        #expect(session.deadline == 70)
        #expect(session.tick(at: 69) == [])
        #expect(session.tick(at: 70) == [.connect])
        #expect(session.tick(at: 10_000) == [.disconnect, .end(.failed(.unavailable("locked")))])
    }

    @Test func nobodyThere_isTriedEverMoreSeldom_untilTheLimit() {
        var session = started()
        var now: Int64 = 0
        var pauses: [Int64] = []
        while now < 10_000 {
            #expect(session.lost(.lost("nobody listens there"), at: now) == [.disconnect])
            let due = session.deadline ?? -1
            pauses.append(due - now)
            now = due
            guard now < 10_000 else { break }
            #expect(session.tick(at: now) == [.connect])
        }
        #expect(pauses.prefix(6) == [50, 100, 200, 400, 800, 1000])
        #expect(session.tick(at: 10_000) == [.disconnect, .end(.failed(.unreachable("nobody listens there")))])
    }

    @Test func whoDoesNotAnswer_isAskedAgain_onAnotherConnection() {
        var session = started()
        #expect(session.tick(at: EnrolmentSession.connectMilliseconds) == [.disconnect])
        session = waiting()
        #expect(session.tick(at: 10 + EnrolmentSession.answerMilliseconds) == [.disconnect])
        #expect(session.tick(at: 60 + EnrolmentSession.answerMilliseconds) == [.connect])
        #expect(session.connected(at: 9000) == [.enrol])
        #expect(
            session.tick(at: 10_000) == [
                .disconnect, .end(.failed(.unreachable("connected, but not answered within \(EnrolmentSession.answerMilliseconds) ms"))),
            ])
    }

    @Test func connectionThatIsLost_alsoAfterTheKeyWasSent_isMadeAgain() {
        var session = waiting()
        #expect(session.lost(.lost("closed"), at: 20) == [.disconnect])
        #expect(session.tick(at: 70) == [.connect])
        #expect(session.connected(at: 80) == [.enrol])
        #expect(session.receive(.with { $0.enrolled = enrolled }, at: 90).last == .end(.enrolled(enrolled)))
    }

    @Test func deniedAndKeyless_areFinalAtOnce_undecidedIsNot() {
        for (end, cause) in [(EnrolmentSession.ConnectionEnd.denied, EnrolmentError.Cause.denied), (.withoutKeys, .withoutKeys)] {
            var session = started()
            #expect(session.lost(end, at: 5) == [.disconnect, .end(.failed(cause))])
        }
        var session = started()
        #expect(session.lost(.undecided, at: 5) == [.disconnect])
        #expect(session.tick(at: 55) == [.connect])
    }

    @Test func threeHandshakesThatEndInARow_areAnotherCoordinator() {
        var session = started()
        for _ in 0..<2 {
            #expect(session.lost(.shut, at: 0) == [.disconnect])
            #expect(session.tick(at: 1000) == [.connect])
        }
        var interrupted = session
        #expect(session.lost(.shut, at: 1000) == [.disconnect, .end(.failed(.otherCoordinator))])
        #expect(interrupted.lost(.lost("x"), at: 1000) == [.disconnect])
        #expect(interrupted.tick(at: 2000) == [.connect])
        #expect(interrupted.lost(.shut, at: 2000) == [.disconnect])
        #expect(interrupted.tick(at: 10_000) == [.disconnect, .end(.failed(.otherCoordinator))])
    }

    @Test func errors_sayWhatToDo_andWhetherTheTimeIsOver() throws {
        let token = try JoinTokenTests.token(until: 1_795_446_000_000)
        let endpoint = try Endpoint("tcp://coordinator:7600")
        for (cause, now, texts) in [
            (
                .denied, 1_795_446_000_000,
                ["it has expired, it was valid until 2026-11-23T15:00:00Z", "`aop keys token host2` makes another"]
            ),
            (.denied, 1_795_445_999_999, ["it has been used, was revoked, or has expired", "until 2026-11-23T15:00:00Z"]),
            (.unreachable("nobody listens there"), 0, ["nobody listens there", "--connect", "firewall"]),
            (.unavailable("locked"), 0, ["at the moment: locked. The same command may be run again"]),
            (.otherCoordinator, 0, ["is not the coordinator that the token is for"]),
            (.withoutKeys, 0, ["uses no keys", "aop coordinator --keys DIR"]), (.refused(refusal(.notPermitted, "why")), 0, ["why"]),
        ] as [(EnrolmentError.Cause, Int64, [String])] {
            let text = "\(EnrolmentError(cause, token, endpoint, now: now))"
            for part in texts { #expect(text.contains(part), "\(text)") }
        }
    }
}
