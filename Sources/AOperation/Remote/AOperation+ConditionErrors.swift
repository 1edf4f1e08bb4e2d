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
            switch told(by: condition, as: key) {
            case .another: continue
            case .unknown: return nil
            case .error(let error): return error
            }
        }
        return nil
    }

    private enum Told {
        /// It is another condition's.
        case another
        /// It is this one's, which only the one knows who has evaluated it.
        case unknown
        case error(AOperationError)
    }

    /// - Parameter condition: it, or one that it is made of, did not hold.
    private func told(by condition: any AOperationCondition, as key: String) -> Told {
        if let composite = condition as? any CompositeCondition {
            if case .negation = composite.form, condition.keyElsewhere == key {
                return composite.combine([.success]).error.map { .error($0) } ?? .unknown
            }
            for component in composite.components {
                let told = told(by: component, as: key)
                guard case .another = told else { return told }
            }
            return .another
        }
        guard condition.keyElsewhere == key else { return .another }
        let error: (any Error)? =
            switch condition {
            case let condition as NoFailedDependencies: condition.error(of: self, orThere: true)
            case let condition as NoCancelledDependencies: condition.error(of: self, orThere: true)
            default: nil
            }
        return error.map { .error(AOperationError($0)) } ?? .unknown
    }
}

extension AOperationCondition {
    /// Whether it may be able to say here why it does not hold.
    var tellsItsErrorHere: Bool { self is any CompositeCondition || self is NoFailedDependencies || self is NoCancelledDependencies }

    /// What it is called where others judge it; nil: nobody else does.
    fileprivate var keyElsewhere: String? {
        switch self {
        case is NoFailedDependencies: return "NoFailedDependencies"
        case is NoCancelledDependencies: return "NoCancelledDependencies"
        case is ReachabilityCondition: return ReachabilityCondition.key
        case let condition as any ClusterCondition: return type(of: condition).conditionName
        case let composite as any CompositeCondition:
            let part = composite.components.first?.keyElsewhere
            switch composite.form {
            case .negation: return part.map { "Not<\($0)>" }
            case .silence: return part
            case .ignorance: return part.map { "Ignored<\($0)>" }
            case .all: return "AndCondition"
            case .any: return "OrCondition"
            case .other: return nil
            }
        default: return nil
        }
    }
}
