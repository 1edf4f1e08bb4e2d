import Foundation

/// A condition as somebody elsewhere must know it to evaluate it.
package struct ConditionManifest {
    package enum Kind {
        case noFailedDependencies
        case noCancelledDependencies
        case reachable(URL, waits: Bool)
        case registered(any ClusterCondition)
    }

    package let kind: Kind
    package let isNegated: Bool
}

/// What becomes of an operation's conditions elsewhere.
struct ConditionManifests {
    private(set) var conditions: [ConditionManifest] = []
    private(set) var exclusions: [MutualExclusion] = []
    /// What keeps them here.
    private(set) var localParts: [OperationManifest.LocalPart] = []

    init(of conditions: [any AOperationCondition], for operation: AOperation) {
        for condition in conditions { take(condition, for: operation, isNegated: false, isSilent: false) }
    }

    private mutating func take(_ condition: any AOperationCondition, for operation: AOperation, isNegated: Bool, isSilent: Bool) {
        switch condition {
        case let lock as any LockCondition where !isNegated:
            if let exclusion = lock.exclusion { exclusions.append(exclusion) }
        case let composite as any CompositeCondition:
            takeApart(composite, for: operation, isNegated: isNegated, isSilent: isSilent)
        case is TrueCondition where !isNegated:
            break
        case let dependencies as NoFailedDependencies:
            guard !dependencies.ignoreCancellations else {
                return refuse(condition, "which ignores cancellations", "let it count them")
            }
            add(.noFailedDependencies, isNegated)
        case is NoCancelledDependencies:
            add(.noCancelledDependencies, isNegated)
        case let reachability as ReachabilityCondition:
            guard let (url, waits) = reachability.portableForm else {
                return refuse(
                    condition, "with more than a URL and `waitToConnect`", "give it these alone, or register a ClusterCondition")
            }
            add(.reachable(url, waits: waits), isNegated)
        case let registered as any ClusterCondition:
            guard isSilent || registered.dependencyForOperation(operation) == nil else {
                return refuse(condition, "with a dependent operation", "make that an operation of the graph, or the condition silent")
            }
            if let exclusion = registered.exclusion { exclusions.append(exclusion) }
            add(.registered(registered), isNegated)
        default:
            refuse(
                condition, "whose code is in this process", "take it off, or conform it to ClusterCondition and register it with a worker")
        }
    }

    private mutating func takeApart(
        _ composite: any CompositeCondition, for operation: AOperation, isNegated: Bool, isSilent: Bool
    ) {
        switch composite.form {
        case .negation:
            for part in composite.components { take(part, for: operation, isNegated: !isNegated, isSilent: isSilent) }
        case .silence:
            for part in composite.components { take(part, for: operation, isNegated: isNegated, isSilent: true) }
        case .other:
            refuse(composite, "which is made of others", "give the operation these conditions one by one")
        }
    }

    private mutating func add(_ kind: ConditionManifest.Kind, _ isNegated: Bool) {
        conditions.append(ConditionManifest(kind: kind, isNegated: isNegated))
    }

    private mutating func refuse(_ condition: any AOperationCondition, _ why: String, _ remedy: String) {
        localParts.append(.init("has the condition \(type(of: condition).key), \(why)", remedy))
    }
}
