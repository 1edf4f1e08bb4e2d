/// The unique ids of this process, with the operations that have them.
final class UniquenessTable: Sendable {
    static let shared = UniquenessTable()

    private struct Claim {
        weak var operation: AOperation?
        let owner: ObjectIdentifier
    }

    private let claims = Guarded<[String: Claim]>([:])

    /// Claims `id` for `operation`. Returns nil if it has it now, else the operation that has it.
    func claim(_ id: String, for operation: AOperation) -> AOperation? {
        claims.withLock { claims in
            // Bound first: `claims[id]?.operation` reads the weak reference from memory that is gone, in debug builds (6.3.1).
            if let claim = claims[id], let first = claim.operation, first !== operation { return first }
            claims[id] = Claim(operation: operation, owner: ObjectIdentifier(operation))
            return nil
        }
    }

    /// Frees `id`, if `operation` has it.
    func release(_ id: String, by operation: AOperation) {
        claims.withLock { claims in
            if claims[id]?.owner == ObjectIdentifier(operation) { claims[id] = nil }
        }
    }
}
