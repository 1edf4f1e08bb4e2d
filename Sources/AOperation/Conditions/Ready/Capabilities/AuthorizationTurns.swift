/// Lets those who would ask for one capability take turns, first come first served.
///
/// Not a lock of the library: that would belong to the operation whose condition asks, and be held until that ends.
final class AuthorizationTurns: Sendable {
    static let shared = AuthorizationTurns()

    /// The right to ask, until it is passed on.
    final class Turn: Sendable {
        private let line: Guarded<(turns: AuthorizationTurns, key: String)?>

        fileprivate init(_ turns: AuthorizationTurns, _ key: String) {
            line = Guarded((turns, key))
        }

        /// Gives the turn to the next in line; once.
        func pass() {
            let line = line.withLock { line in
                defer { line = nil }
                return line
            }
            if let line { line.turns.advance(line.key) }
        }
    }

    private struct Waiting {
        let operation: AOperation
        let begin: (Turn) -> Void
    }

    /// Who waits, by the capability's key. A key is there while somebody has its turn.
    private let lines = Guarded<[String: [Waiting]]>([:])

    /// Calls `begin` when the turn of `operation` has come: now, or as soon as all before it have passed it on.
    ///
    /// - Returns: whether it has to wait.
    func join(_ key: String, _ operation: AOperation, _ begin: @escaping (Turn) -> Void) -> Bool {
        let mustWait = lines.withLock { lines in
            guard lines[key] != nil else {
                lines[key] = []
                return false
            }
            lines[key, default: []].append(Waiting(operation: operation, begin: begin))
            return true
        }
        if !mustWait { begin(Turn(self, key)) }
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

    /// The turn is free. Whoever passes it on at once does so from here: no recursion.
    private func advance(_ key: String) {
        let next = lines.withLock { lines -> Waiting? in
            guard let first = lines[key]?.first else {
                lines[key] = nil
                return nil
            }
            lines[key]?.removeFirst()
            return first
        }
        guard let next else { return }
        let turn = Turn(self, key)
        Trampoline.run { next.begin(turn) }
    }
}
