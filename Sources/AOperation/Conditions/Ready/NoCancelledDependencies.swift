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
    public struct Error: LocalizedError, Hashable, Sendable {
        /// The names of the cancelled dependencies, in the order in which they were declared.
        public let canceledDependencies: [String]

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
        let cancelled = operation.namesOfDependencies(.cancelled)
        guard !cancelled.isEmpty else { return completion(.success) }
        completion(.failure(AOperationError(Error(canceledDependencies: cancelled))))
    }
}

/// The other spelling of ``NoCancelledDependencies``.
public typealias NoCanceledDependencies = NoCancelledDependencies
