import Foundation

extension GroupOperation {
    /// The children in child order, those included that belong to a child's delivery net: what the group would run if
    /// it started now.
    package final func settledChildren() -> [Foundation.Operation] {
        let list = listWithNets(operations)
        roster.withLock { $0.relist(list) }
        return list
    }

    /// The group has ended elsewhere: so it does here when all its children have.
    final func takeGroupEnd(_ ending: RemoteEnding, hasStarted: Bool) {
        guard !takeConcludedEnd(ending) else { return }
        let wasStarted = core.withLock { core -> Bool? in
            guard let remote = core.attachments?.remote else { return nil }
            switch remote.phase {
            case .ended, .over: return nil
            case .here, .away: break
            }
            // How it was cancelled there has still to be carried out here.
            if case .cancelled = ending { remote.close(with: ending) } else { remote.phase = .ended(ending) }
            return hasStarted || remote.hasStarted || isClosedGate(ending)
        }
        guard let wasStarted else { return }
        closeDecisions()
        switch ending {
        case .success:
            takeForgiveness()
            remoteDidStart()
        case .failure(let errors) where wasStarted:
            if !errors.isEmpty { roster.withLock { $0.impose(.failure(errors)) } }
            remoteDidStart()
        case .failure(let errors):
            failBeforeExecution(errors)
        case .cancelled:
            takeRemoteCancellation()
        }
        if !core.withLock({ $0.attachments?.remote?.conclusion.wasAsked ?? false }) { letGo() }
    }

    /// It stands for one that another process has made: of which type that is, and what it makes of its children, is known there alone.
    package final func standForAnother() { withAttachments { $0.isStandIn = true } }

    /// A success elsewhere of a sequence, or of what may be one: failures of its steps were dealt with, maybe by another process.
    final func takeForgiveness() {
        guard attachment({ $0.isStandIn }) == true || self is OperationSequence else { return }
        roster.withLock { $0.impose(.success) }
    }

    /// A closed gate is a condition elsewhere; here it is asked by a body, which has begun.
    private func isClosedGate(_ ending: RemoteEnding) -> Bool {
        guard self is GatedOperation, case .failure(let errors) = ending else { return false }
        return errors.contains { $0.publishedError is AOperationError.GateIsClosed }
    }

    /// Its child was cancelled elsewhere: because the group has stopped, or by somebody. What happens here in which order says
    /// nothing about that.
    package final func noteCancellation(of child: AOperation, isByGroup: Bool) {
        roster.withLock { $0.noteCancellation(of: child, isByGroup: isByGroup) }
    }

    /// The group runs elsewhere and got one more child there, whose mirror this is.
    package final func adopt(_ child: AOperation) { add(child, isMirror: true) }

    /// Something was added to a group that runs elsewhere.
    final func refuse(_ operation: Foundation.Operation) {
        let line =
            "an operation was added to the group \(publisherName) after that was handed over to a cluster; "
            + "add all children before"
        Debugger.error(line)
        guard let operation = operation as? AOperation else { return operation.cancel() }
        lendCallbackQueue(to: operation)
        operation.refuse(AOperationError(AddedTooLate(group: publisherName, operation: operation.publisherName)))
    }
}

extension AOperation {
    /// Says that something was set on a mirror, where it has no effect any more.
    final func tooLate(_ what: String) {
        Debugger.error(
            "\(what) was set on the operation \(publisherName) after that was handed over to a cluster: it has no effect there")
    }
}

/// An operation was added to a group that runs on a cluster.
public struct AddedTooLate: LocalizedError, PortableError, Hashable, Sendable {
    /// The name of the group.
    public let group: String
    /// The name of the operation.
    public let operation: String

    public var errorDescription: String? {
        "The Operation \(operation) was added to the group \(group) after that was handed over to a cluster. Add it before"
    }
}
