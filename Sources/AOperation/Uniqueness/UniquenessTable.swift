/// The unique ids of this process, with the operations that have them until they have ended.
final class UniquenessTable: Sendable {
    static let shared = UniquenessTable()

    private let claims = Guarded<[String: AOperation]>([:])

    /// Claims `id` for `operation`. Returns nil if it has it now, else the operation that has it.
    func claim(_ id: String, for operation: AOperation) -> AOperation? {
        claims.withLock { claims in
            // One that was cancelled while it was added has ended, and is about to free the id.
            if let first = claims[id], first !== operation, !first.isEnded { return first }
            claims[id] = operation
            return nil
        }
    }

    /// Frees `id`, if `operation` has it.
    func release(_ id: String, by operation: AOperation) {
        claims.withLock { claims in
            if claims[id] === operation { claims[id] = nil }
        }
    }
}
