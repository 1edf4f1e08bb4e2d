import Synchronization

/// Lets the elements of one attempt into the spool as long as there is room; its operation's relay waits here.
package final class ElementGate: Sendable {
    /// Bytes of elements that are not on the coordinator's disk; one element passes in any case.
    package static let windowBytes = 1 << 20

    private struct State {
        var bytes = 0
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// What becomes of one that wants to enter.
    package enum Entry: Equatable, Sendable {
        case isIn
        /// There is no room yet.
        case waits
        /// Nothing is wanted any more.
        case isOver
    }

    private let windowBytes: Int
    private let state = Mutex(State())

    package init(windowBytes: Int = ElementGate.windowBytes) { self.windowBytes = windowBytes }

    /// Enters if there is room. One caller at a time.
    package func tryEnter(bytes: Int) -> Entry {
        state.withLock { state in
            guard !state.isOver else { return .isOver }
            guard state.bytes == 0 || state.bytes + bytes <= windowBytes else { return .waits }
            state.bytes += bytes
            return .isIn
        }
    }

    /// Waits for room. One caller at a time.
    /// - Returns: false when nothing is wanted any more.
    func enter(bytes: Int) async -> Bool {
        while true {
            switch tryEnter(bytes: bytes) {
            case .isIn: return true
            case .isOver: return false
            case .waits: break
            }
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    guard !state.isOver, state.bytes > 0, state.bytes + bytes > windowBytes else { return true }
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
