import DequeModule
import Synchronization

/// How many commands this process has open files for. Those beyond begin when others have ended, in the order in which they came.
final class CommandRoom: Sendable {
    private struct Waiter {
        let id: UInt64
        let begin: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var open = 0
        var waiters: Deque<Waiter> = []
        var nextID: UInt64 = 0

        mutating func takePlace(_ max: Int) -> Bool {
            guard open < max else { return false }
            open += 1
            return true
        }
    }

    let max: Int
    private let state = Mutex(State())

    init(max: Int) { self.max = max }

    /// What one needs: both ends of the pipes of stdin, stdout and stderr while it is started, and then their own ends, what tells of its end, and
    /// a file for what is kept of its output.
    private static let filesOfOne = 6
    /// For the connections, files and operations of the process itself, and to look at what commands have left.
    private static let filesBeside = 64

    /// At least one.
    static func max(openFiles: Int, inUse: Int) -> Int { Swift.max(1, (openFiles - inUse - filesBeside) / filesOfOne) }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for its turn.
    /// - Returns: false when it was stopped meanwhile, or before; else ``leave()`` has to follow.
    func enter(_ control: CommandControl) async -> Bool {
        if control.isStopped { return false }
        if state.withLock({ $0.takePlace(max) }) { return true }
        return await withCheckedContinuation { continuation in
            let id: UInt64? = state.withLock { state in
                if state.takePlace(max) { return nil }
                state.nextID += 1
                state.waiters.append(Waiter(id: state.nextID, begin: continuation))
                return state.nextID
            }
            guard let id else { return continuation.resume(returning: true) }
            control.whenStopped { [self] in withdraw(id) }
        }
    }

    /// A command has ended that had entered.
    func leave() {
        let next = state.withLock { state -> Waiter? in
            if let next = state.waiters.popFirst() { return next }
            state.open -= 1
            return nil
        }
        next?.begin.resume(returning: true)
    }

    private func withdraw(_ id: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.begin.resume(returning: false)
    }
}
