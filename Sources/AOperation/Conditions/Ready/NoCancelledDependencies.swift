import Foundation

/// Holds unless one of the operation's dependencies was cancelled. Failed ones do not matter: see
/// ``NoFailedDependencies``.
///
/// ```swift
/// publish.dependencies([build, test]).conditions(NoCancelledDependencies())
/// ```
/// It looks at the dependencies that the program declared, with `addDependency` or `deliver`: not at the dependent
/// operations of conditions, nor at operations that held a lock before. It fails with ``Error``.
public struct NoCancelledDependencies: AOperationCondition, Sendable {
    /// Dependencies were cancelled.
    public struct Error: LocalizedError, PortableError, Hashable, Sendable {
        /// The names of the cancelled dependencies, in the order in which they were declared.
        public package(set) var canceledDependencies: [String]

        public init(canceledDependencies: [String]) {
            self.canceledDependencies = canceledDependencies
        }

        public var errorDescription: String? {
            "These dependencies were cancelled: \(canceledDependencies.listed)"
        }
    }

    public init() {}

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(error(of: operation).map { .failure(AOperationError($0)) } ?? .success)
    }

    /// nil: it holds.
    ///
    /// - Parameter orThere: ends that are known of where the dependency runs count, too, before it has taken them over.
    func error(of operation: AOperation, orThere: Bool = false) -> Error? {
        let cancelled = operation.namesOfDependencies(.cancelled, orThere: orThere)
        return cancelled.isEmpty ? nil : Error(canceledDependencies: cancelled)
    }
}

/// The other spelling of ``NoCancelledDependencies``.
public typealias NoCanceledDependencies = NoCancelledDependencies
