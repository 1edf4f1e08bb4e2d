import Foundation

/// An operation whose work is an `async` function.
///
/// ```swift
/// final class Fetch: AsyncOperation<Data>, @unchecked Sendable {
///     override func run() async throws -> Data { try await client.get(url) }
/// }
/// ```
/// Cancelling the operation cancels its task; the body ends when `run()` returns. The task has the priority that the
/// operation's `qualityOfService`, or its queue's, stands for; it knows no task-local values of who added the operation.
/// What `run()` awaits it awaits with the operation's slot and locks: to await another operation that needs one of these is to
/// wait for ever. Let that one deliver to this one, or wrap it in a ``WrapperOperation``.
///
/// Invariant behind `@unchecked Sendable`: `task` is only reached under its lock.
open class AsyncOperation<Output>: ResultableOperation<Output>, @unchecked Sendable {
    private let task = Guarded<Task<Void, Never>?>(nil)

    public override init() {
        super.init()
    }

    /// The work. Its value, or the error it throws, is the operation's result. Override it, do not call `super`.
    open func run() async throws -> Output {
        throw AOperationError(AOperationError.ResultIsMissing(self))
    }

    /// Starts the task that calls ``run()-swift.method``.
    public final override func execute() {
        let started = Task(priority: priority) {
            do {
                finish(with: .success(try await run()))
            } catch {
                finish(with: .failure(AOperationError(error)))
            }
            task.withLock { $0 = nil }
        }
        task.withLock { $0 = started }
        // The outcome may have been decided, and the task may have ended, before the task was stored.
        if isCancelled { started.cancel() }
        if isEnded { task.withLock { $0 = nil } }
    }

    /// As its quality of service asks for, or that of its queue; nil: the usual one.
    private final var priority: TaskPriority? {
        let own = qualityOfService
        let quality = own == .default ? core.withLock { $0.membership?.lane }?.root.quality ?? .default : own
        return switch quality {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        case .default: nil
        @unknown default: nil
        }
    }

    open override func cancel() {
        super.cancel()
        task.withLock { $0 }?.cancel()
    }
}
