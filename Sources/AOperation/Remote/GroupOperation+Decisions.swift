import Foundation

/// Who is told that a child has ended: the group itself, or whoever asks it on behalf of a cluster.
extension GroupOperation {
    final func tell(
        _ operation: Foundation.Operation, _ outcome: OperationOutcome<Any>, _ errors: [AOperationError], isMirrored: Bool
    ) {
        guard isMirrored || !isPlainGroup else { return operationDidFinish(operation, withErrors: errors) }
        if let group = self as? any ClusterGroup {
            // Of one that runs elsewhere somebody else is asked.
            guard !isMirrored, type(of: group).decides(after: outcome) else { return }
        }
        guard isMirrored, let desk = attachment(\.decisions) else { return operationDidFinish(operation, withErrors: errors) }
        desk.collect(.end(ObjectIdentifier(operation)), of: self, isLast: false) { operationDidFinish(operation, withErrors: errors) }
    }

    /// Outcome and body of a child are over.
    final func tellEnd(of operation: Foundation.Operation) {
        guard !isPlainGroup, let desk = attachment(\.decisions) else { return childEnded(operation) }
        desk.collect(.end(ObjectIdentifier(operation)), of: self, isLast: true) { childEnded(operation) }
    }

    /// The group begins; one that is asked what it does next has been asked with that for the first time.
    final func begin(_ execute: () -> Void) {
        guard !isPlainGroup, let desk = attachment(\.decisions) else { return execute() }
        desk.collect(.begin, of: self, isLast: true, execute)
    }

    /// Who decides, if it runs elsewhere, what it does next.
    final var decider: OperationManifest.Decider? {
        guard !isPlainGroup, type(of: self) != ComposedOperation.self, type(of: self) != GatedOperation.self else { return nil }
        // What is repeated comes from an iterator, which no other process has.
        guard let group = self as? any ClusterGroup, !(self is RepeatOperation) else { return .hosted("\(type(of: self))".shownName) }
        guard !(self is OperationSequence) else { return .registered(group, .steps) }
        switch type(of: group).decidesAfter {
        case .never: return nil
        case .eachChild: return .registered(group, .eachChild)
        case .failures: return .registered(group, .failures)
        }
    }

    /// Whether it is a mirror of one that workers ask what it does next.
    final var isDecidedElsewhere: Bool {
        guard isMirror, case .registered? = decider else { return false }
        return true
    }

    /// From now on what it adds, because it begins or a child has ended, is kept for ``decision(_:whenMade:)``.
    final func decideOnRequest() { withAttachments { $0.decisions = DecisionDesk() } }

    /// What follows from its begin, or from the end of a child; told when that is known here. Each is asked for once.
    package final func decision(
        after child: Foundation.Operation?, whenMade handler: @escaping @Sendable (DecidedAdditions) -> Void
    ) {
        guard let desk = attachment(\.decisions) else { return handler(DecidedAdditions()) }
        desk.take(child.map { .end(ObjectIdentifier($0)) } ?? .begin, handler)
    }

    /// Errors of the group's own that its decisions have brought elsewhere.
    package final func takeDecisionErrors(_ errors: [AOperationError]) {
        roster.withLock { roster in for error in errors { roster.add(error) } }
    }

    /// Nothing is asked any more: what was kept ends.
    final func closeDecisions() {
        guard let desk = attachment(\.decisions) else { return }
        for operation in desk.close() {
            lendCallbackQueue(to: operation)
            operation.cancelUnqueued()
        }
    }
}

extension ClusterGroup {
    fileprivate static func decides(after outcome: OperationOutcome<Any>) -> Bool {
        // A sequence is asked otherwise.
        guard !(Self.self is OperationSequence.Type) else { return false }
        return switch decidesAfter {
        case .eachChild: true
        case .failures: outcome.isFailure
        case .never: false
        }
    }
}

/// What a group that runs elsewhere has decided here, until somebody asks for it.
///
/// Invariant behind `@unchecked Sendable`: everything is only reached under the lock.
final class DecisionDesk: @unchecked Sendable {
    enum Occasion: Hashable {
        case begin
        case end(ObjectIdentifier)
    }

    private struct Record {
        var capture: DecisionCapture?
        var made: DecidedAdditions?
        var handler: (@Sendable (DecidedAdditions) -> Void)?
    }

    private struct State {
        var records: [Occasion: Record] = [:]
        var isClosed = false
    }

    private let state = Guarded(State())

    /// - Parameter isLast: nothing more belongs to it.
    func collect(_ occasion: Occasion, of group: GroupOperation, isLast: Bool, _ body: () -> Void) {
        let capture = state.withLock { state in
            let capture = state.records[occasion]?.capture ?? DecisionCapture(for: group)
            state.records[occasion, default: Record()].capture = capture
            return capture
        }
        capture.collect(body)
        guard isLast else { return }
        let made = capture.close()
        let (handler, left) = state.withLock { state -> ((@Sendable (DecidedAdditions) -> Void)?, [Foundation.Operation]) in
            guard !state.isClosed else { return (nil, made.operations) }
            if let handler = state.records[occasion]?.handler {
                state.records[occasion] = nil
                return (handler, [])
            }
            state.records[occasion]?.made = made
            return (nil, [])
        }
        for operation in left { operation.cancelUnqueued() }
        handler?(made)
    }

    func take(_ occasion: Occasion, _ handler: @escaping @Sendable (DecidedAdditions) -> Void) {
        let made = state.withLock { state -> DecidedAdditions? in
            guard !state.isClosed else { return DecidedAdditions() }
            guard let made = state.records[occasion]?.made else {
                state.records[occasion, default: Record()].handler = handler
                return nil
            }
            state.records[occasion] = nil
            return made
        }
        if let made { handler(made) }
    }

    /// - Returns: what nobody has asked for.
    func close() -> [Foundation.Operation] {
        let (records, handlers) = state.withLock { state in
            state.isClosed = true
            defer { state.records = [:] }
            return (state.records.values.compactMap(\.made), state.records.values.compactMap(\.handler))
        }
        for handler in handlers { handler(DecidedAdditions()) }
        return records.flatMap(\.operations)
    }
}
