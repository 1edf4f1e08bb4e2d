/// A condition made of others. Its components run their own dependent operations, take their own locks and are
/// evaluated each for itself; the composite turns their results into one.
protocol CompositeCondition: AOperationCondition {
    var components: [any AOperationCondition] { get }
    /// Whether the components' dependent operations are run.
    var runsDependentOperations: Bool { get }
    /// One result from those of the components, which come in the order of `components`.
    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult
}

extension CompositeCondition {
    var runsDependentOperations: Bool { true }

    public var exclusion: MutualExclusion? { nil }

    public func dependencyForOperation(_ operation: AOperation) -> AOperation? { nil }

    /// For a caller that evaluates the condition by hand: without dependent operations.
    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionEvaluation.evaluate(self, for: operation, dependencies: [:], completion: completion)
    }
}
