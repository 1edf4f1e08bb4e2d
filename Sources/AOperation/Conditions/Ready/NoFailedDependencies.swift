import Foundation

/// Holds if all of the operation's dependencies succeeded.
///
/// ```swift
/// publish.dependencies([build, test]).conditions(NoFailedDependencies())
/// ```
/// It looks at the dependencies that the program declared, with `addDependency` or `deliver`: not at the dependent
/// operations of conditions, nor at operations that held a lock before. A plain Foundation operation cannot fail; it
/// can be cancelled. It fails with ``Error``.
public struct NoFailedDependencies: AOperationCondition, Sendable {
    /// Dependencies failed, or were cancelled.
    public struct Error: LocalizedError, PortableError, Hashable, Sendable {
        /// The names of the failed dependencies, in the order in which they were declared.
        public package(set) var failedDependencies: [String]
        /// The names of the cancelled dependencies, in the order in which they were declared; empty if the condition
        /// ignores cancellations.
        public package(set) var canceledDependencies: [String]

        public init(failedDependencies: [String], canceledDependencies: [String]) {
            self.failedDependencies = failedDependencies
            self.canceledDependencies = canceledDependencies
        }

        public var errorDescription: String? {
            let parts = [("failed", failedDependencies), ("cancelled", canceledDependencies)]
                .filter { !$0.1.isEmpty }
                .map { "\($0.0): \($0.1.listed)" }
            return "Not all dependencies succeeded; \(parts.joined(separator: "; "))"
        }
    }

    let ignoreCancellations: Bool

    /// - Parameter ignoreCancellations: whether cancelled dependencies do not matter; they do by default.
    public init(ignoreCancellations: Bool = false) {
        self.ignoreCancellations = ignoreCancellations
    }

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(error(of: operation).map { .failure(AOperationError($0)) } ?? .success)
    }

    /// nil: it holds.
    ///
    /// - Parameter orThere: ends that are known of where the dependency runs count, too, before it has taken them over.
    func error(of operation: AOperation, orThere: Bool = false) -> Error? {
        let failed = operation.namesOfDependencies(.failed, orThere: orThere)
        let cancelled = ignoreCancellations ? [] : operation.namesOfDependencies(.cancelled, orThere: orThere)
        guard !failed.isEmpty || !cancelled.isEmpty else { return nil }
        return Error(failedDependencies: failed, canceledDependencies: cancelled)
    }
}

/// The longer name of ``NoFailedDependencies``.
public typealias NoFailedDependenciesCondition = NoFailedDependencies
