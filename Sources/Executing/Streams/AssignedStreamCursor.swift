import AOperation
import Foundation
import Synchronization
import Wire

/// Reads the stream of an assignment: the next page is asked for when the last one was read.
final class AssignedStreamCursor: StreamCursor {
    /// Asks for a page on the desk's thread; tells by which number the question is forgotten.
    typealias Ask =
        @Sendable (WireReadElements, _ asked: @escaping @Sendable (UInt64) -> Void, _ answer: @escaping StreamDesk.Answer) -> Void

    private let submission: String
    private let path: String
    private let ask: Ask
    private let error: @Sendable (WireOperationFailure) -> AOperationError
    private let forget: @Sendable (UInt64) -> Void
    private let pages: Mutex<StreamPages>

    init(
        _ assignment: WireAssignment, error: @escaping @Sendable (WireOperationFailure) -> AOperationError, ask: @escaping Ask,
        forget: @escaping @Sendable (UInt64) -> Void
    ) {
        self.error = error
        submission = assignment.submission
        path = assignment.stream.path
        self.ask = ask
        self.forget = forget
        pages = Mutex(StreamPages(attempt: assignment.stream.attemptNumber))
    }

    func next() async throws -> StreamEvent {
        while true {
            if let event = pages.withLock({ $0.take() }) { return event }
            let page = try await nextPage()
            pages.withLock { $0.read(page, error: error) }
        }
    }

    private func nextPage() async throws -> WireElementPage {
        let request = pages.withLock { pages in
            WireReadElements.with {
                $0.submission = submission
                $0.path = path
                $0.attempt = pages.attempt
                $0.index = pages.index
                $0.wait = true
            }
        }
        let waiting = Waiting()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard waiting.begin(continuation) else { return }
                ask(request) { [forget] number in
                    if waiting.note(number) { forget(number) }
                } _: { answer in
                    waiting.end(answer.mapError { $0 as any Error })
                }
            }
        } onCancel: {
            // Before the reader goes on, so that nobody takes it for one that waits.
            if let number = waiting.cancel() { forget(number) }
            waiting.end(.failure(CancellationError()))
        }
    }

    /// One page that is waited for. Answers and cancellations come from different threads.
    private final class Waiting: Sendable {
        private struct State {
            var continuation: CheckedContinuation<WireElementPage, any Error>?
            var number: UInt64?
            var isCancelled = false
        }

        private let state = Mutex(State())

        /// False: it was cancelled before.
        func begin(_ continuation: CheckedContinuation<WireElementPage, any Error>) -> Bool {
            let isCancelled = state.withLock { state in
                if !state.isCancelled { state.continuation = continuation }
                return state.isCancelled
            }
            if isCancelled { continuation.resume(throwing: CancellationError()) }
            return !isCancelled
        }

        /// Returns whether nobody waits any more.
        func note(_ number: UInt64) -> Bool {
            state.withLock { state in
                state.number = number
                return state.isCancelled
            }
        }

        func end(_ result: Result<WireElementPage, any Error>) { take()?.resume(with: result) }

        /// - Returns: the question to be forgotten.
        func cancel() -> UInt64? {
            state.withLock { state in
                state.isCancelled = true
                return state.number
            }
        }

        private func take() -> CheckedContinuation<WireElementPage, any Error>? {
            state.withLock { state in
                defer { state.continuation = nil }
                return state.continuation
            }
        }
    }
}
