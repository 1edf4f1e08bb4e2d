import Foundation

/// Holds when at least one of its conditions holds; an empty one fails.
///
/// ```swift
/// upload.conditions(OrCondition(ReachabilityCondition(connection: .wifi), NegatedCondition(LargeFile())))
/// ```
/// All conditions are evaluated; dependent operations and locks are their own. The result is, in this order:
/// `.success` if any holds; `.retry` if any asks for it, after the shortest of the times asked for; `.failure` with
/// ``Error`` if any failed; `.ignored` if all were.
public struct OrCondition: AOperationCondition, CompositeCondition {
    /// None of the conditions holds.
    public struct Error: LocalizedError, Sendable {
        /// What they failed with, in the order of the conditions; empty if there was no condition.
        public let errors: [AOperationError]

        public init(errors: [AOperationError]) {
            self.errors = errors
        }

        public var errorDescription: String? {
            errors.isEmpty
                ? "An OrCondition without conditions never holds: give it at least one"
                : "None of the alternative conditions holds: \(errors.listed)"
        }
    }

    let components: [any AOperationCondition]

    var form: CompositeForm { .any }

    /// Holds when one of `conditions` does.
    public init(_ conditions: any AOperationCondition...) {
        components = conditions
    }

    /// Holds when one of `conditions` does.
    public init(_ conditions: [any AOperationCondition]) {
        components = conditions
    }

    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult {
        var errors: [AOperationError] = []
        var wait: (duration: Duration, reason: String)?
        for result in results {
            switch result {
            case .success: return .success
            case .failure(let error): errors.append(error)
            case .ignored: break
            case .retry(let duration, let reason):
                if wait.map({ duration < $0.duration }) ?? true { wait = (duration, reason) }
            }
        }
        if let wait { return .retry(after: wait.duration, because: wait.reason) }
        guard errors.isEmpty, !results.isEmpty else { return .failure(AOperationError(Error(errors: errors))) }
        return .ignored
    }
}
