import Foundation

/// Holds when another condition does not.
///
/// ```swift
/// upload.conditions(NegatedCondition(OnBattery()))
/// ```
/// The dependent operation and the lock of the other condition are its own. Its results become:
///
/// | the other condition | this one |
/// |---|---|
/// | `.success` | `.failure` with ``Error`` |
/// | `.failure`, `.ignored` | `.success` |
/// | `.retry` | `.retry`: nothing is decided yet |
public struct NegatedCondition<T: AOperationCondition>: AOperationCondition, CompositeCondition {
    /// The condition that should not hold does.
    public typealias Error = NegatedConditionError

    public static var key: String { "Not<\(T.key)>" }

    public static var isMutuallyExclusive: Bool { T.isMutuallyExclusive }

    let components: [any AOperationCondition]

    var form: CompositeForm { .negation }

    /// Holds when `condition` fails.
    public init(_ condition: T) {
        components = [condition]
    }

    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult {
        switch OperationConditionResult.combined(results) {
        case .success: .failure(AOperationError(Error(negatedConditionKey: T.key)))
        case .failure, .ignored: .success
        case .retry(let duration, let reason): .retry(after: duration, because: reason)
        }
    }
}

/// A condition holds that should not: see ``NegatedCondition``.
public struct NegatedConditionError: LocalizedError, PortableError, Hashable, Sendable {
    /// The key of the condition that should not hold.
    public let negatedConditionKey: String

    public init(negatedConditionKey: String) {
        self.negatedConditionKey = negatedConditionKey
    }

    public var errorDescription: String? { "The condition \(negatedConditionKey) succeed" }
}
