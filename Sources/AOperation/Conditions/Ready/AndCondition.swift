import Foundation

/// Holds when all of its conditions hold; an empty one holds.
///
/// Conditions given to an operation one by one are required together anyway: this is for use inside an
/// ``OrCondition`` or a ``NegatedCondition``.
///
/// ```swift
/// backup.conditions(OrCondition(AndCondition(OnMainsPower(), Idle()), Forced()))
/// ```
/// All conditions are evaluated; dependent operations and locks are their own. The result is, in this order:
/// `.failure` if any failed; `.ignored` if any was; `.retry`, after the longest of the times asked for; `.success`.
/// One failure is passed on as it is, several become an ``Error`` that holds them all.
public struct AndCondition: AOperationCondition, CompositeCondition {
    /// Several conditions that are required together failed.
    public struct Error: LocalizedError, Sendable {
        /// What they failed with, in the order of the conditions.
        public let errors: [AOperationError]

        public init(errors: [AOperationError]) {
            self.errors = errors
        }

        public var errorDescription: String? {
            "\(errors.count) of the required conditions do not hold: \(errors.listed)"
        }
    }

    let components: [any AOperationCondition]

    var form: CompositeForm { .all }

    /// Holds when all of `conditions` do; with none it holds.
    public init(_ conditions: any AOperationCondition...) {
        components = conditions
    }

    /// Holds when all of `conditions` do; with none it holds.
    public init(_ conditions: [any AOperationCondition]) {
        components = conditions
    }

    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult {
        let errors = results.compactMap(\.error)
        guard errors.count > 1 else { return OperationConditionResult.combined(results) }
        return .failure(AOperationError(Error(errors: errors)))
    }
}

extension OperationConditionResult {
    /// What the condition failed with.
    var error: AOperationError? {
        switch self {
        case .failure(let error): error
        case .success, .retry, .ignored: nil
        }
    }
}

extension [AOperationError] {
    /// Their texts, each with the key of the condition that published it.
    var listed: String {
        map { error in error.publisher.map { "\($0): \(error.localizedDescription)" } ?? error.localizedDescription }
            .joined(separator: "; ")
    }
}
