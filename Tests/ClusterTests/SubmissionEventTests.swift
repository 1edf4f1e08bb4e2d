import AOperation
import Executing
import Testing
import Wire

@testable import Cluster

/// What programs are told of a submission, in the library's own words.
@Suite(.timeLimit(.minutes(1))) struct SubmissionEventTests {
    private func view(_ state: WireSubmissionState) -> WireSubmissionView {
        .with {
            $0.id = "abc"
            $0.state = state
            $0.counts.total = 2
            $0.submittedAt = 1_500
            if state.isFinal { $0.finishedAt = 2_500 }
        }
    }

    @Test(arguments: WireSubmissionState.allCases) func stateOfASubmission_isThatOfTheWire(_ state: WireSubmissionState) {
        let status = SubmissionStatus(view(state))
        #expect(status.state.rawValue == "\(state)")
        #expect((status.state.outcome != nil) == state.isFinal && (status.finishedAt != nil) == state.isFinal)
        #expect(status.state.outcome == OutcomeState(state))
        #expect(status.submittedAt.timeIntervalSince1970 == 1.5 && status.counts.total == 2)
    }

    @Test(arguments: WireOperationState.allCases) func stateOfAnOperation_isThatOfTheWire(_ state: WireOperationState) {
        let event = OperationEvent(.with { $0.state = state }, in: .init())
        #expect(event.state.rawValue == "\(state)")
        #expect((event.state.outcome != nil) == state.isFinal)
    }

    @Test func stateOfANewerCoordinator_isUnknown_andNoEnd() {
        #expect(SubmissionStatus(view(.UNRECOGNIZED(77))).state == .unknown)
        #expect(OperationEvent(.with { $0.state = .UNRECOGNIZED(77) }, in: .init()).state == .unknown)
        #expect(OutcomeState(.UNRECOGNIZED(77)) == nil)
    }

    @Test func failure_isTold_withItsErrors_alsoWhereNothingIsKnownOfTheOperations() {
        let failure = WireOperationFailure.with {
            $0.code = .exit
            $0.message = "words"
        }
        let event = OperationEvent(
            .with {
                $0.unit = 7
                $0.path = "a/b"
                $0.state = .failed
                $0.errors = [failure]
            }, in: .init())
        #expect(event.path == "a/b" && event.errors.map(\.localizedDescription) == ["words"])
    }

    @Test func events_endWithTheEnd() async throws {
        let (followed, source) = FollowedEvents.make()
        source.yield(.view(view(.running)))
        source.yield(.interrupted(reason: "away"))
        source.yield(.events([.with { $0.path = "a" }], view(.succeeded)))
        source.finish()
        var told: [String] = []
        for try await event in SubmissionEvents(followed) {
            switch event {
            case .status(let status): told.append("\(status.state)")
            case .operations(let events, let status): told += events.map(\.path) + ["\(status.state)"]
            case .interrupted(let reason): told.append(reason)
            }
        }
        #expect(told == ["running", "away", "a", "succeeded"])
    }

    @Test func slowReader_isToldHowItStands_insteadOfMoreThanAreKept() async throws {
        let (followed, source) = FollowedEvents.make()
        let max = FollowedEvents.unreadMax
        var reader = SubmissionEvents(followed).makeAsyncIterator()
        source.yield(.view(view(.running)))
        source.yield(.events(Array(repeating: .with { $0.path = "a" }, count: max - 1), view(.running)))
        guard case .status? = try await reader.next() else {
            Issue.record("no view")
            return
        }
        source.yield(.events([.with { $0.path = "b" }], view(.running)))
        guard case .operations(let kept, _)? = try await reader.next() else {
            Issue.record("left out too early")
            return
        }
        #expect(kept.count == max - 1)
        // One more than there is room for, behind an interruption that is over by then.
        source.yield(.interrupted(reason: "away"))
        source.yield(.events(Array(repeating: .with { $0.path = "c" }, count: max - 1), view(.paused)))
        source.yield(.events([.with { $0.path = "d" }], view(.succeeded)))
        source.finish()
        guard case .status(let status)? = try await reader.next() else {
            Issue.record("no view of what was left out")
            return
        }
        #expect(status.state == .paused)
        guard case .operations(let last, let end)? = try await reader.next() else {
            Issue.record("the last is not told")
            return
        }
        #expect(last.map(\.path) == ["d"] && end.state == .succeeded)
        let next = try await reader.next()
        #expect(next == nil)
    }

    /// One message of the coordinator's may be larger than all that is kept.
    @Test func readerThatIsNotSlow_isToldAll() async throws {
        let (followed, source) = FollowedEvents.make()
        source.yield(.events(Array(repeating: .with { $0.path = "a" }, count: 3 * FollowedEvents.unreadMax), view(.running)))
        for reason in ["1", "2", "3"] { source.yield(.interrupted(reason: reason)) }
        var reader = followed.makeAsyncIterator()
        guard case .events(let events, _)? = try await reader.next() else {
            Issue.record("left out")
            return
        }
        #expect(events.count == 3 * FollowedEvents.unreadMax)
        let next = try await reader.next()
        #expect(next == .interrupted(reason: "3"))
    }

    @Test func readerThatIsCancelled_isNotToldOfAnEnd() async throws {
        let (followed, source) = FollowedEvents.make()
        source.yield(.view(view(.running)))
        let reader = Task { for try await _ in SubmissionEvents(followed) {} }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test func outcome_isTheCoordinators_butForWhatFailedHere() {
        let all = OutcomeState.allCases
        #expect(all.map { OutcomeState(told: $0, isSuccessHere: true) } == [.succeeded, .failed, .cancelled])
        #expect(all.map { OutcomeState(told: $0, isSuccessHere: false) } == [.failed, .failed, .cancelled])
        #expect(OutcomeState(told: nil, isSuccessHere: false) == .failed)
    }
}
