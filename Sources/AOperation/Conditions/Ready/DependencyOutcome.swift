import Foundation

/// How a dependency ended, as the conditions on dependencies see it.
enum DependencyOutcome {
    case succeeded
    case failed
    case cancelled

    /// Of an AOperation the decided outcome counts, or what it has told those who receive from it. A plain operation knows no failure; it counts as cancelled when
    /// its flag is set, even if that came after its work.
    init(of dependency: Foundation.Operation) {
        switch (dependency as? AOperation)?.core.withLock({ $0.state.delivered }) {
        case .success: self = .succeeded
        case .failure: self = .failed
        case .cancelled: self = .cancelled
        case nil: self = dependency.isCancelled ? .cancelled : .succeeded
        }
    }
}

extension AOperation {
    /// The names of the declared dependencies that ended like this, in the order of declaration.
    ///
    /// Only what the program declared is in `dependencies`: neither the dependent operations of conditions nor those
    /// who held a lock before.
    final func namesOfDependencies(_ outcome: DependencyOutcome) -> [String] {
        dependencies
            .filter { DependencyOutcome(of: $0) == outcome }
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
