import Synchronization

/// A value that comes once and that many may await: the first `set` counts.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Value, Never>])
        case set(Value)
    }
    private let state = Mutex(State.waiting([]))

    /// Waits for the value. Not cancelled: whoever owns this sees to it that a value comes.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known: Value? = state.withLock { state in
                    switch state {
                    case .waiting(let others):
                        state = .waiting(others + [continuation])
                        return nil
                    case .set(let value): return value
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    func set(_ value: Value) {
        let waiting: [CheckedContinuation<Value, Never>] = state.withLock { state in
            guard case .waiting(let waiting) = state else { return [] }
            state = .set(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }
}
