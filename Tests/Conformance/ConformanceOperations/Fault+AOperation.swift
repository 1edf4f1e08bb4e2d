import AOperation
import Conformance
import Foundation
import Synchronization

extension Fault {
    /// An error of an operation, as histories have it.
    package init(_ error: AOperationError) {
        self.init(FaultKinds.kind(of: error), by: FaultKinds.publisher(of: error), isOfCondition: error.state == .condition)
    }
}

/// What errors are to histories.
package enum FaultKinds {
    private static let others = Mutex<[@Sendable (any Error) -> Fault.Kind?]>([])

    /// Lets errors be known that come from other processes, in a form that is not the library's.
    package static func register(_ kind: @escaping @Sendable (any Error) -> Fault.Kind?) { others.withLock { $0.append(kind) } }

    private static let names = Mutex<[@Sendable (AOperationError) -> String?]>([])

    /// Lets the names be known by which the program calls what has published an error in another process.
    package static func registerNames(_ name: @escaping @Sendable (AOperationError) -> String?) { names.withLock { $0.append(name) } }

    fileprivate static func publisher(of error: AOperationError) -> String? {
        names.withLock { $0 }.lazy.compactMap { $0(error) }.first ?? error.publisher
    }

    fileprivate static func kind(of error: AOperationError) -> Fault.Kind {
        switch error.publishedError {
        case let error as ScriptError: .own(error.text)
        case let cancelled as AOperationError.IsCancelled:
            .cancelled(names.withLock { $0 }.lazy.compactMap { $0(error) }.first ?? cancelled.operation)
        case is TimeoutObserver.Error: .timeout
        case is AOperationError.QueueTimeout: .queueTimeout
        case is AOperationError.DeadlinePassed: .deadline
        case is AOperationError.IgnoredDuplicate: .duplicate
        case is AOperationError.ReceivedValueIsNil: .receivedNothing
        // The end of what has lost too many workers, and of its like.
        case is AOperationError.WorkerLost, is AOperationError.Quarantined: .workerLost
        case is NoFailedDependencies.Error: .failedDependencies
        case is NoCancelledDependencies.Error: .cancelledDependencies
        case let other: foreign(other, of: error)
        }
    }

    private static func foreign(_ error: any Error, of whole: AOperationError) -> Fault.Kind {
        // Conditions that others decide about have no errors of a type of their own, and those of negations are generic: who
        // has published them says which they are.
        if whole.state == .condition {
            switch whole.publisher {
            case "NoFailedDependencies": return .failedDependencies
            case "NoCancelledDependencies": return .cancelledDependencies
            case Texts.allCondition: return .severalRefuse
            case Texts.anyCondition: return .noAlternative
            case .some(let name) where name.hasPrefix("Not<"): return .negated
            default: break
            }
        }
        return others.withLock { $0 }.lazy.compactMap { $0(error) }.first ?? .other("\(type(of: error)): \(error)")
    }
}
