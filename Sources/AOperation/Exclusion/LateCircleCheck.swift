import Foundation

/// Looks for circles through operations of which a short look does not know: where very much waits, and somebody waits for a lock in
/// another one's scope.
///
/// What is in a circle does not start, so it may be looked for later; and what is behind all those waits is looked at once for all that
/// were added meanwhile. While a long chain is added that costs one thread a part of the time, where a look for each would cost the square
/// of its length.
enum LateCircleCheck {
    private struct Waiting {
        weak var operation: AOperation?
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    private static let state = Guarded(State())

    /// Looks at `operation`, which waits for something, and from now on at others that come meanwhile.
    static func begin(with operation: AOperation) {
        let isIdle = state.withLock { state in
            state.waiting.append(Waiting(operation: operation))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isIdle { DispatchQueue.global().async { lookAtAll() } }
    }

    /// Looks at `operation` as well, if others are being looked at.
    ///
    /// - Returns: whether it does.
    static func join(_ operation: AOperation) -> Bool {
        state.withLock { state in
            if state.isRunning { state.waiting.append(Waiting(operation: operation)) }
            return state.isRunning
        }
    }

    /// Whether all have been looked at.
    static var isIdle: Bool { state.withLock { !$0.isRunning } }

    private static func lookAtAll() {
        while let operations = next() {
            // The one that came last closed the circle, and is to fail.
            for operation in WaitForGraph.thoseInReachOfCrossings(among: operations).reversed() where operation.waitOnceMore() {
                operation.openCircles(unlessIn: isAsked, then: postpone)
                operation.dependencyEnded()
            }
        }
    }

    /// Whether one in the circle came later: it is looked at next.
    private static func isAsked(in circle: WaitForGraph.Circle) -> Bool {
        let members = Set(circle.operations.map { ObjectIdentifier($0) })
        let asked = state.withLock { $0.waiting.compactMap(\.operation) }
        return asked.contains { members.contains(ObjectIdentifier($0)) }
    }

    /// It may be in another circle, of which nobody else knows: it is looked at once more, after those that came later.
    private static func postpone(_ operation: AOperation) {
        state.withLock { $0.waiting.insert(Waiting(operation: operation), at: 0) }
    }

    private static func next() -> [AOperation]? {
        state.withLock { state in
            defer { state.waiting = [] }
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning ? state.waiting.compactMap(\.operation) : nil
        }
    }
}
