import Foundation
import Synchronization
import Wire

/// Blocking work on a thread of its own, awaited.
enum OwnThread {
    /// - Throws: what `body` throws; `ThreadError` when the system has no thread to give; `CancellationError` as soon as the task is cancelled, even while `body` blocks (its
    ///   thread is then left behind, and ends when it can or with the process).
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let waiting = Waiting<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard waiting.begin(continuation) else { return continuation.resume(throwing: CancellationError()) }
                do {
                    _ = try OSThread(name: "aop-work") { waiting.end(Result(catching: body)) }
                } catch {
                    waiting.end(.failure(error))
                }
            }
        } onCancel: {
            waiting.end(.failure(CancellationError()))
        }
    }

    /// The continuation until it is resumed, once.
    private final class Waiting<Value: Sendable>: Sendable {
        private enum State {
            case new
            case waiting(CheckedContinuation<Value, any Error>)
            case over
        }
        private let state = Mutex(State.new)

        /// - Returns: false when it is over already.
        func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
            state.withLock { state in
                guard case .new = state else { return false }
                state = .waiting(continuation)
                return true
            }
        }

        func end(_ result: Result<Value, any Error>) {
            let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
                defer { state = .over }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            continuation?.resume(with: result)
        }
    }
}
