/// What became of an operation's unique id.
enum Uniqueness {
    case claimed(String)
    case duplicate(Duplicate)

    struct Duplicate {
        let id: String
        /// The operation that has the id.
        let first: AOperation
    }
}

extension AOperation {
    /// Claims the unique id, if the operation has one and has not claimed it before. Returns what it is a duplicate
    /// of.
    final func claimUniqueId() -> Uniqueness.Duplicate? {
        guard let unique = self as? any UniqueOperation else { return nil }
        let known = core.withLock { core -> Uniqueness?? in
            if core.isAttempt { return .some(nil) }
            return core.uniqueness.map { .some($0) }
        }
        if let known {
            guard case .duplicate(let duplicate)? = known else { return nil }
            return duplicate
        }
        let id = unique.uniqueId
        let first = UniquenessTable.shared.claim(id, for: self)
        let found = first.map { Uniqueness.Duplicate(id: id, first: $0) }
        core.withLock { $0.uniqueness = found.map { .duplicate($0) } ?? .claimed(id) }
        return found
    }

    /// Ends the operation, which takes neither lock nor slot nor condition.
    final func endAsDuplicate(of duplicate: Uniqueness.Duplicate) {
        Debugger.event(.ignored(duplicate.id), of: self)
        guard canJoin(duplicate) else {
            let ignored = AOperationError.IgnoredDuplicate(of: duplicate.id, operation: publisherName)
            return failBeforeExecution([AOperationError(ignored, state: .execution, publisher: publisherName)])
        }
        duplicate.first.onEnd { [self] first in
            if let ending = first.ending { end(like: first, with: ending) }
        }
    }

    private func canJoin(_ duplicate: Uniqueness.Duplicate) -> Bool {
        guard let unique = self as? any UniqueOperation, unique.onDuplicate == .join else { return false }
        let first = duplicate.first
        return type(of: first).outputType == type(of: self).outputType
            && enclosing?.enclosesLocks != true
            && !WaitForGraph.leads(from: first, to: self)
    }
}
