/// A condition made of others. Its components run their own dependent operations, take their own locks and are
/// evaluated each for itself; the composite turns their results into one.
protocol CompositeCondition: AOperationCondition {
    var components: [any AOperationCondition] { get }
    /// Whether the components' dependent operations are run.
    var runsDependentOperations: Bool { get }
    /// What it does with them, as far as others must know.
    var form: CompositeForm { get }
    /// One result from those of the components, which come in the order of `components`.
    func combine(_ results: [OperationConditionResult]) -> OperationConditionResult
}

/// What a composite does with its components.
enum CompositeForm {
    /// Holds when its one component does not.
    case negation
    /// Holds when its one component does, without its dependent operation.
    case silence
    /// Holds when all of its components do.
    case all
    /// Holds when one of its components does.
    case any
    /// As its one component, whose failure is none.
    case ignorance
    case other
}

extension CompositeCondition {
    var runsDependentOperations: Bool { true }

    var form: CompositeForm { .other }

    public var exclusion: MutualExclusion? { nil }

    public func dependencyForOperation(_ operation: AOperation) -> AOperation? { nil }

    /// For a caller that evaluates the condition by hand: without dependent operations.
    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        ConditionEvaluation.evaluate(self, for: operation, failures: [:], completion: completion)
    }
}
