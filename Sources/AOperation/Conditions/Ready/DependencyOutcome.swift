import Foundation

/// How a dependency ended, as the conditions on dependencies see it.
enum DependencyOutcome {
    case succeeded
    case failed
    case cancelled

    /// Of an AOperation the decided outcome counts, or what it has told those who receive from it. A plain operation knows no failure; it counts as cancelled when
    /// its flag is set, even if that came after its work.
    ///
    /// - Parameter orThere: of one that runs elsewhere counts what is known of there, before it has taken that over.
    init(of dependency: Foundation.Operation, orThere: Bool) {
        let ending = (dependency as? AOperation)?.core.withLock { core -> Self? in
            switch core.state.delivered {
            case .success: return .succeeded
            case .failure: return .failed
            case .cancelled: return .cancelled
            case nil: break
            }
            return orThere ? core.attachments?.remote?.endThere : nil
        }
        self = (ending ?? nil) ?? (dependency.isCancelled ? .cancelled : .succeeded)
    }

    init(_ ending: RemoteEnding) {
        switch ending {
        case .success: self = .succeeded
        case .failure: self = .failed
        case .cancelled: self = .cancelled
        }
    }
}

extension AOperation {
    /// The names of those of the operations that failed, and of those that were cancelled, in their order.
    package static func namesOfUnsuccessful(_ operations: [Foundation.Operation]) -> (failed: [String], cancelled: [String]) {
        func names(_ outcome: DependencyOutcome) -> [String] {
            operations.filter { DependencyOutcome(of: $0, orThere: false) == outcome }.map { $0.name ?? String(describing: type(of: $0)) }
        }
        return (names(.failed), names(.cancelled))
    }

    /// The names of the declared dependencies that ended like this, in the order of declaration.
    ///
    /// Only what the program declared is in `dependencies`: neither the dependent operations of conditions nor those
    /// who held a lock before.
    final func namesOfDependencies(_ outcome: DependencyOutcome, orThere: Bool) -> [String] {
        dependencies
            .filter { DependencyOutcome(of: $0, orThere: orThere) == outcome }
            .map { $0.name ?? String(describing: type(of: $0)) }
    }
}

extension [String] {
    private static let namesMax = 10

    /// As a text that stays readable, whatever the number of dependencies.
    var listed: String {
        let names = prefix(Self.namesMax).joined(separator: ", ")
        return count > Self.namesMax ? "\(names) and \(count - Self.namesMax) more" : names
    }
}
