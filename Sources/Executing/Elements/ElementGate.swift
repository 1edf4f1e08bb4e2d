import Synchronization

/// Lets the elements of one attempt into the spool as long as there is room; its operation's relay waits here.
package final class ElementGate: Sendable {
    /// Bytes of elements that are not on the coordinator's disk; one element passes in any case.
    static let windowBytes = 1 << 20

    private struct State {
        var bytes = 0
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits for room. One caller at a time.
    /// - Returns: false when nothing is wanted any more.
    func enter(bytes: Int) async -> Bool {
        while true {
            let (isIn, isOver) = state.withLock { state in
                guard !state.isOver else { return (false, true) }
                guard state.bytes == 0 || state.bytes + bytes <= Self.windowBytes else { return (false, false) }
                state.bytes += bytes
                return (true, false)
            }
            if isIn || isOver { return isIn }
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    guard !state.isOver, state.bytes > 0, state.bytes + bytes > Self.windowBytes else { return true }
                    state.waiter = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        }
    }

    /// So many bytes are on the coordinator's disk.
    func leave(bytes: Int) { change { $0.bytes -= bytes } }

    /// Nothing is wanted any more.
    package func end() { change { $0.isOver = true } }

    private func change(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
