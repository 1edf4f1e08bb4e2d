import AOperation
import Synchronization
import Wire

/// The errors with which the last attempts ended that this process has executed: what comes back of them from the
/// coordinator has lost its type.
package final class HostedErrors: Sendable {
    private struct Kept {
        let failure: WireOperationFailure
        let error: AOperationError
    }

    /// Which graph it is, in this process.
    package struct GraphNumber: Hashable, Sendable {
        private static let last = Atomic<UInt64>(0)
        private let number = last.add(1, ordering: .relaxed).newValue

        fileprivate init() {}
    }

    package let graph = GraphNumber()

    /// By path of the operation.
    private let kept = Mutex<[String: [Kept]]>([:])

    package init() {}

    /// Errors of an attempt, or of an evaluation, with what was said of them.
    package func keep(_ errors: [AOperationError], as failures: [WireOperationFailure], of path: String) {
        kept.withLock { $0[path] = zip(errors, failures).map { Kept(failure: $1, error: $0) } }
    }

    /// The error of which `failure` is an image.
    ///
    /// - Parameter path: of the operation in which it was born.
    package func original(of failure: WireOperationFailure, at path: String) -> AOperationError? {
        kept.withLock { $0[path] }?.first { one in
            // One that was passed on is not one of the operation's own with the same text.
            (one.failure.origin.isEmpty || one.failure.origin == failure.origin) && one.failure.message == failure.message
                && one.failure.state == failure.state && one.failure.publisher == failure.publisher
        }?.error
    }
}
