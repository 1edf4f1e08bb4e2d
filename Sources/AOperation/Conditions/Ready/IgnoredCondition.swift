/// Another condition whose failure is none: the operation is cancelled then instead of failing.
///
/// ```swift
/// sync.conditions(IgnoredCondition(ReachabilityCondition()))        // offline: not today, and nothing went wrong
/// ```
/// The dependent operation and the lock of the other condition are its own. A `.failure` becomes `.ignored`;
/// `.success`, `.retry` and `.ignored` pass unchanged. Where another condition of the operation fails as well, the
/// operation fails.
public struct IgnoredCondition<T: AOperationCondition>: AOperationCondition, CompositeCondition {
    public static var key: String { "Ignored<\(T.key)>" }

    public static var isMutuallyExclusive: Bool { T.isMutuallyExclusive }

    let components: [any AOperationCondition]

    var form: CompositeForm { .ignorance }

    /// Cancels the operation, instead of failing it, when `condition` fails.
    public init(_ condition: T) {
        components = [condition]
    }

    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult {
        switch OperationConditionResult.combined(results) {
        case .success: .success
        case .failure, .ignored: .ignored
        case .retry(let duration, let reason): .retry(after: duration, because: reason)
        }
    }
}
