/// Another condition without its dependent operation: it is asked whether it holds, and nothing is done to make it
/// hold.
///
/// ```swift
/// refresh.conditions(SilentCondition(AuthorizedFor(Photos())))      // nobody is asked for permission
/// ```
/// The dependent operations of everything inside it are not run; locks are taken. Results pass unchanged,
/// `.retry` and `.ignored` included. A condition that leaves its evaluation to its dependent operation always holds
/// when it is silent.
public struct SilentCondition<T: AOperationCondition>: AOperationCondition, CompositeCondition {
    public static var key: String { "Silent<\(T.key)>" }

    public static var isMutuallyExclusive: Bool { T.isMutuallyExclusive }

    let components: [any AOperationCondition]

    var runsDependentOperations: Bool { false }

    var form: CompositeForm { .silence }

    /// Holds when `condition` does; runs nothing for it.
    public init(_ condition: T) {
        components = [condition]
    }

    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult {
        OperationConditionResult.combined(results)
    }
}
