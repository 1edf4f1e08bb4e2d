import AOperation
import Executing
import Synchronization
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
        for try await event in SubmissionEvents(followed, standing: .none) {
            switch event {
            case .status(let status): told.append("\(status.state)")
            case .operations(let events, let status): told += events.map(\.path) + ["\(status.state)"]
            case .interrupted(let reason): told.append(reason)
            }
        }
        #expect(told == ["running", "away", "a", "succeeded"])
    }

    @Test func whatWasMissed_isMadeUpFor_andNothingIsToldTwice() async throws {
        let (followed, source) = FollowedEvents.make()
        let standing = Mutex<[[WireOperationView]]>([])
        func operation(_ unit: UInt32, _ state: WireOperationState, attempt: UInt32 = 1, finished: Int64 = 0) -> WireOperationView {
            .with {
                ($0.unit, $0.path, $0.state, $0.attempts, $0.startedAt) = (unit, "o\(unit)", state, attempt, Int64(attempt) * 10)
                $0.finishedAt = finished
            }
        }
        func event(_ unit: UInt32, _ state: WireOperationState, at: Int64, started: Int64 = 10) -> WireEvent {
            .with { ($0.unit, $0.path, $0.state, $0.attempt, $0.startedAt, $0.at) = (unit, "o\(unit)", state, 1, started, at) }
        }
        let pages = OperationPages(query: .init()) { query in
            standing.withLock { pages in
                .with {
                    let index = Int(query.from)
                    guard index < pages.count else { return }
                    $0.operations = pages[index]
                    $0.next = index + 1 < pages.count ? UInt32(index) + 1 : 0
                }
            }
        }
        var reader = SubmissionEvents(followed, standing: pages).makeAsyncIterator()
        func next() async throws -> [String] {
            switch try await reader.next() {
            case .status(let status)?: ["\(status.state)"]
            case .operations(let events, _)?: events.map { "\($0.path) \($0.state)" }
            case .interrupted(let reason)?: [reason]
            case nil: []
            }
        }
        // What has happened before.
        standing.withLock {
            $0 = [[operation(1, .succeeded, finished: 20)], [operation(2, .queued, attempt: 0)], [operation(3, .running)]]
        }
        source.yield(.view(view(.running)))
        #expect(try await next() == ["running"])
        #expect(try await next() == ["o1 running", "o1 succeeded"])
        #expect(try await next() == ["o3 running"])
        // What is told late is not told again.
        source.yield(
            .events([event(1, .queued, at: 5, started: 0), event(1, .running, at: 10), event(1, .succeeded, at: 20)], view(.running)))
        source.yield(.events([event(2, .blocked, at: 25, started: 0), event(3, .failed, at: 30)], view(.running)))
        #expect(try await next() == [])
        #expect(try await next() == ["o2 blocked", "o3 failed"])
        // What happened while it was not heard.
        standing.withLock {
            $0 = [[operation(1, .succeeded, finished: 20)], [operation(2, .cancelled, finished: 50), operation(3, .failed, finished: 30)]]
        }
        source.yield(.interrupted(reason: "away"))
        source.yield(.view(view(.failed)))
        source.finish()
        #expect(try await next() == ["away"])
        #expect(try await next() == ["failed"])
        #expect(try await next() == ["o2 running", "o2 cancelled"])
        let end = try await reader.next()
        #expect(end == nil)
    }

    @Test func slowReader_isToldHowItStands_insteadOfMoreThanAreKept() async throws {
        let (followed, source) = FollowedEvents.make()
        let max = FollowedEvents.unreadMax
        var reader = SubmissionEvents(followed, standing: .none).makeAsyncIterator()
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
        let reader = Task { for try await _ in SubmissionEvents(followed, standing: .none) {} }
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

extension OperationPages {
    fileprivate static var none: OperationPages { OperationPages(query: .init()) { _ in .init() } }
}
