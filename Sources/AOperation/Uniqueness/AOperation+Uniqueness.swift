/// What became of an operation's unique id.
enum Uniqueness {
    case claimed(String)
    case duplicate(Duplicate)

    struct Duplicate {
        let id: String
        /// The operation that has the id.
        let first: AOperation
        /// Whether it waits for that one; if not it ends at once.
        var joins: Bool
    }
}

extension AOperation {
    /// Claims the unique id, if the operation has one and has not claimed it before. Returns what it is a duplicate
    /// of.
    final func claimUniqueId() -> Uniqueness.Duplicate? {
        guard let unique = self as? any UniqueOperation else { return nil }
        let known = core.withLock { core -> Uniqueness?? in
            // On a cluster the id is the cluster's.
            if core.isAttempt || core.attachments?.remote != nil { return .some(nil) }
            return core.uniqueness.map { .some($0) }
        }
        if let known {
            guard case .duplicate(let duplicate)? = known else { return nil }
            return duplicate
        }
        let id = unique.uniqueId
        let first = UniquenessTable.shared.claim(id, for: self)
        let found = first.map { Uniqueness.Duplicate(id: id, first: $0, joins: unique.onDuplicate == .join) }
        let hasEnded = core.withLock { core in
            if !core.state.isEnded { core.uniqueness = found.map { .duplicate($0) } ?? .claimed(id) }
            return core.state.isEnded
        }
        if hasEnded { UniquenessTable.shared.release(id, by: self) }
        return found
    }

    /// Makes the operation run under its id without a look at this process's others: it was claimed elsewhere.
    package final func adoptUniqueId() {
        guard let unique = self as? any UniqueOperation else { return }
        let id = unique.uniqueId
        core.withLock { $0.uniqueness = .claimed(id) }
    }

    /// Ends the operation, which takes neither lock nor slot nor condition.
    final func endAsDuplicate(of duplicate: Uniqueness.Duplicate) {
        Debugger.event(.ignored(duplicate.id), of: self)
        noteCrossing()  // who comes to wait for it from now on looks for circles
        guard canJoin(duplicate) else { return ignore(as: duplicate) }
        duplicate.first.core.withLock { $0.joiners += 1 }
        duplicate.first.endIsFollowedOutside()
        onEnd { _ in
            let scope = duplicate.first.core.withLock { core in
                core.joiners -= 1
                return core.retryScope
            }
            scope?.noteWait()
        }
        duplicate.first.onEnd { [self] first in
            if let ending = first.ending { end(like: first, with: ending) }
        }
    }

    /// What it has joined has come to wait for it.
    final func stopJoining() {
        let duplicate = core.withLock { core -> Uniqueness.Duplicate? in
            guard case .duplicate(let duplicate)? = core.uniqueness else { return nil }
            return duplicate.joins ? duplicate : nil
        }
        if let duplicate { ignore(as: duplicate) }
    }

    private func ignore(as duplicate: Uniqueness.Duplicate) {
        core.withLock { core in
            guard case .duplicate(var duplicate)? = core.uniqueness else { return }
            duplicate.joins = false
            core.uniqueness = .duplicate(duplicate)
        }
        let ignored = AOperationError.IgnoredDuplicate(of: duplicate.id, operation: publisherName)
        failBeforeExecution([AOperationError(ignored, state: .execution, publisher: publisherName)])
    }

    private func canJoin(_ duplicate: Uniqueness.Duplicate) -> Bool {
        guard let unique = self as? any UniqueOperation, unique.onDuplicate == .join else { return false }
        let first = duplicate.first
        return type(of: first).outputType == type(of: self).outputType
            && enclosing?.nearestHolder == nil
            && (!isWaitedFor || !WaitForGraph.leads(from: first, to: self))
    }
}
