/// Lets those who would ask for one capability take turns, first come first served.
///
/// Not a lock of the library: that would belong to the operation whose condition asks, and be held until that ends.
final class AuthorizationTurns: Sendable {
    static let shared = AuthorizationTurns()

    private struct Waiting {
        let operation: AOperation
        let begin: () -> Void
    }

    /// Who waits, by the capability's key. A key is there while somebody has its turn.
    private let lines = Guarded<[String: [Waiting]]>([:])

    /// Calls `begin` when the turn of `operation` has come: now, or as soon as all before it have passed it on.
    ///
    /// - Returns: whether it has to wait.
    func join(_ key: String, _ operation: AOperation, _ begin: @escaping () -> Void) -> Bool {
        let mustWait = lines.withLock { lines in
            guard lines[key] != nil else {
                lines[key] = []
                return false
            }
            lines[key, default: []].append(Waiting(operation: operation, begin: begin))
            return true
        }
        if !mustWait { begin() }
        return mustWait
    }

    /// Takes `operation` out of the line; false if it does not wait there.
    func leave(_ key: String, _ operation: AOperation) -> Bool {
        lines.withLock { lines in
            guard let index = lines[key]?.firstIndex(where: { $0.operation === operation }) else { return false }
            lines[key]?.remove(at: index)
            return true
        }
    }

    /// Gives the turn to the next in line. Whoever ends at once passes it on from here: no recursion.
    func pass(_ key: String) {
        let next = lines.withLock { lines -> Waiting? in
            guard let first = lines[key]?.first else {
                lines[key] = nil
                return nil
            }
            lines[key]?.removeFirst()
            return first
        }
        if let next { Trampoline.run(next.begin) }
    }
}
