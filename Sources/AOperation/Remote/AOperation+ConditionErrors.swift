extension AOperation {
    /// The error of a condition that somebody elsewhere has judged, as the condition gives it here; nil if it cannot be told
    /// without evaluating it.
    ///
    /// Of conditions on dependencies, whose ends are known here, too, and of negated ones. The operation has not ended.
    ///
    /// - Parameter key: the condition's, as it travels.
    package final func errorOfCondition(_ key: String) -> AOperationError? {
        let conditions = core.withLock { $0.attachments?.remote?.tellingConditions } ?? []
        for condition in conditions {
            guard let part = JudgedPart(of: condition), part.key == key else { continue }
            guard case .failure(let error)? = failure(of: condition, part) else { return nil }
            return error
        }
        return nil
    }

    /// What the condition comes to, as it does not hold.
    private func failure(of condition: any AOperationCondition, _ part: JudgedPart) -> OperationConditionResult? {
        if let composite = condition as? any CompositeCondition {
            return composite.components.first.flatMap { failure(of: $0, part) }.map { composite.combine([$0]) }
        }
        // It was told of as failed: so what is negated holds.
        guard !part.isNegated else { return .success }
        let error: (any Error)? =
            switch condition {
            case let condition as NoFailedDependencies: condition.error(of: self, orThere: true)
            case let condition as NoCancelledDependencies: condition.error(of: self, orThere: true)
            default: nil
            }
        return error.map { .failure(AOperationError($0)) }
    }
}

extension AOperationCondition {
    /// Whether it may be able to say here why it does not hold.
    var tellsItsErrorHere: Bool { self is any CompositeCondition || self is NoFailedDependencies || self is NoCancelledDependencies }
}

/// What is judged elsewhere of a condition: the one that it was made of, or its contrary.
private struct JudgedPart {
    let isNegated: Bool
    /// Its name on the way.
    let key: String

    /// nil: it is made of several, or is judged here.
    init?(of condition: any AOperationCondition) {
        var condition = condition
        var isNegated = false
        while let composite = condition as? any CompositeCondition {
            switch composite.form {
            case .negation: isNegated.toggle()
            case .silence: break
            case .other: return nil
            }
            guard composite.components.count == 1, let component = composite.components.first else { return nil }
            condition = component
        }
        let name: String
        switch condition {
        case is NoFailedDependencies: name = "NoFailedDependencies"
        case is NoCancelledDependencies: name = "NoCancelledDependencies"
        case is ReachabilityCondition: name = "Reachable"
        case let condition as any ClusterCondition: name = type(of: condition).conditionName
        default: return nil
        }
        self.isNegated = isNegated
        key = isNegated ? "Not<\(name)>" : name
    }
}
