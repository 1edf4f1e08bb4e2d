import Foundation

/// What a group does on somebody's behalf while it is asked what follows: it is kept for whoever asks, and does not become part
/// of the group by itself.
///
/// Invariant behind `@unchecked Sendable`: what is kept is only reached under the lock; `group` is constant.
package final class DecisionCapture: @unchecked Sendable {
    @TaskLocal private static var current: DecisionCapture?

    private struct State {
        var isOpen = true
        var kept = DecidedAdditions()
    }

    private let group: ObjectIdentifier
    private let state = Guarded(State())

    package init(for group: GroupOperation) { self.group = ObjectIdentifier(group) }

    /// Runs `body`, and keeps what the group does in it, or in a task that it makes, until the capture is closed.
    package func collect(_ body: () -> Void) { Self.$current.withValue(self, operation: body) }

    /// What comes later comes too late.
    package func close() -> DecidedAdditions {
        state.withLock { state in
            state.isOpen = false
            defer { state.kept = DecidedAdditions() }
            return state.kept
        }
    }

    /// - Returns: whether it was kept.
    static func keep(for group: GroupOperation, _ change: (inout DecidedAdditions) -> Void) -> Bool {
        guard let current, current.group == ObjectIdentifier(group) else { return false }
        return current.state.withLock { state in
            if state.isOpen { change(&state.kept) }
            return state.isOpen
        }
    }
}

/// What a group has decided.
///
/// Invariant behind `@unchecked Sendable`: it is handed on from one owner to the next, and operations are shared in any case.
package struct DecidedAdditions: @unchecked Sendable {
    /// What it adds, in this order.
    package var operations: [Foundation.Operation] = []
    /// Of a sequence: which of these is its next step.
    package var step: AOperation?
    /// Children that alone do not make it fail.
    package var forgiven: [Foundation.Operation] = []
    /// Errors of its own.
    package var errors: [AOperationError] = []

    package init() {}
}

extension GroupOperation {
    /// It is asked what it does next, and does nothing else.
    final func becomeDecider() { roster.withLock { $0.mirror() } }
}
