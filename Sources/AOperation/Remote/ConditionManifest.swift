import Foundation

/// A condition as somebody elsewhere must know it to evaluate it.
package struct ConditionManifest {
    package enum Kind {
        case noFailedDependencies
        case noCancelledDependencies
        case reachable(URL, waits: Bool)
        case registered(any ClusterCondition)
        /// It can be evaluated in this process only.
        case hosted(HostedCondition)
        /// It is made of others, of which none is hosted.
        case composed(ComposedForm, [ConditionManifest])
    }

    /// What is done with those that a condition is made of.
    package enum ComposedForm {
        case all, any
        /// Of one.
        case not, ignored
    }

    package let kind: Kind
    package let isNegated: Bool
    /// What it, or what it is made of, wants done before it is evaluated.
    package var dependents: [DependentManifest] = []

    /// It, or those that it is made of in the order of a walk: what is evaluated by itself.
    package var leaves: [ConditionManifest] {
        if case .composed(_, let parts) = kind { parts.flatMap(\.leaves) } else { [self] }
    }
}

/// The dependent operation of a condition.
///
/// Invariant behind `@unchecked Sendable`: the condition is constant, and the library asks conditions on any thread.
package struct DependentManifest: @unchecked Sendable {
    package let operation: AOperation
    /// The place of the condition among those that another one is made of, which is evaluated as a whole; nil: it is none of these.
    package let part: Int?
    private let condition: any AOperationCondition

    init?(of condition: any AOperationCondition, part: Int? = nil, for dependent: AOperation) {
        guard let operation = condition.dependencyForOperation(dependent) else { return nil }
        self.operation = operation
        self.part = part
        self.condition = condition
    }

    /// Those of all that `whole` is made of.
    fileprivate static func all(of whole: ConditionTree, for dependent: AOperation) -> [DependentManifest] {
        whole.leaves.enumerated().compactMap { place, leaf in
            leaf.runsDependentOperation ? DependentManifest(of: leaf.condition, part: place, for: dependent) : nil
        }
    }

    /// For another attempt of `dependent`: what the condition gives then, in its place.
    package func again(for dependent: AOperation) -> AOperation? { condition.dependencyForOperation(dependent)?.readyForUse }
}

/// A condition that is evaluated in this process on somebody else's behalf.
///
/// Invariant behind `@unchecked Sendable`: the condition is constant, and the library evaluates conditions on any thread.
package struct HostedCondition: @unchecked Sendable {
    private let condition: any AOperationCondition

    init(_ condition: any AOperationCondition) { self.condition = condition }

    /// Its name in errors.
    package var key: String { type(of: condition).key.shownName }

    /// Whether it is to be asked only when everything else holds.
    package var isGate: Bool { condition is Gate }

    /// Calls `completion` with every answer; the first counts.
    ///
    /// - Parameter failedParts: why dependent operations failed of what it is made of, by the places of these in it.
    package func evaluate(
        for operation: AOperation, failedParts: [Int: AOperationError],
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard condition is any CompositeCondition else { return condition.evaluateForOperation(operation, completion: completion) }
        ConditionEvaluation.evaluate(condition, for: operation, failures: failedParts, completion: completion)
    }
}

/// What becomes of an operation's conditions elsewhere.
struct ConditionManifests {
    private(set) var conditions: [ConditionManifest] = []
    private(set) var exclusions: [MutualExclusion] = []
    /// What keeps them here.
    private(set) var localParts: [OperationManifest.LocalPart] = []

    /// Whether the operation executes in this process: then so do its conditions.
    private let isHosted: Bool

    init(of conditions: [any AOperationCondition], for operation: AOperation, isHosted: Bool) {
        self.isHosted = isHosted
        for condition in conditions { take(condition, of: condition, for: operation, isNegated: false, isSilent: false) }
    }

    /// - Parameter whole: what the operation was given, which `condition` is inside of.
    private mutating func take(
        _ condition: any AOperationCondition, of whole: any AOperationCondition, for operation: AOperation, isNegated: Bool,
        isSilent: Bool
    ) {
        switch condition {
        case let lock as any LockCondition where !isNegated:
            if let exclusion = lock.exclusion { exclusions.append(exclusion) }
        case let composite as any CompositeCondition:
            takeApart(composite, of: whole, for: operation, isNegated: isNegated, isSilent: isSilent)
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
            guard !isHosted, let (url, waits) = reachability.portableForm else {
                return host(condition, of: whole, for: operation)
            }
            add(.reachable(url, waits: waits), isNegated)
        case let registered as any ClusterCondition where !isHosted:
            if let exclusion = registered.exclusion { exclusions.append(exclusion) }
            let dependent = isSilent ? nil : DependentManifest(of: registered, for: operation)
            add(.registered(registered), isNegated, dependent.map { [$0] } ?? [])
        default:
            host(condition, of: whole, for: operation)
        }
    }

    /// It is evaluated as the operation was given it, so that it says the same; so it is the whole that says what comes of it when
    /// a dependent operation inside of it has failed.
    private mutating func host(
        _ condition: any AOperationCondition, of whole: any AOperationCondition, for operation: AOperation
    ) {
        guard !(whole is any CompositeCondition) else { return hostAll(whole, for: operation) }
        if let exclusion = condition.exclusion { exclusions.append(exclusion) }
        add(.hosted(HostedCondition(whole)), false, DependentManifest(of: condition, for: operation).map { [$0] } ?? [])
    }

    /// What is made of others is evaluated here as a whole, whatever they are.
    private mutating func hostAll(_ whole: any AOperationCondition, for operation: AOperation) {
        let tree = ConditionTree([whole])
        exclusions += tree.exclusions
        add(.hosted(HostedCondition(whole)), false, DependentManifest.all(of: tree, for: operation))
    }

    private mutating func takeApart(
        _ composite: any CompositeCondition, of whole: any AOperationCondition, for operation: AOperation, isNegated: Bool,
        isSilent: Bool
    ) {
        switch composite.form {
        case .negation where !isNegated:
            for part in composite.components { take(part, of: whole, for: operation, isNegated: true, isSilent: isSilent) }
        case .silence:
            for part in composite.components { take(part, of: whole, for: operation, isNegated: isNegated, isSilent: true) }
        case .negation, .all, .any, .ignorance, .other:
            // Conditions are asked for their dependent operations once.
            guard composed(whole, for: operation, isSilent: true) != nil, let condition = composed(whole, for: operation) else {
                return hostAll(whole, for: operation)
            }
            exclusions += ConditionTree([whole]).exclusions
            conditions.append(condition)
        }
    }

    /// What is made of others that can all be evaluated elsewhere; nil: it is evaluated here as a whole.
    private func composed(
        _ condition: any AOperationCondition, for operation: AOperation, isSilent: Bool = false
    ) -> ConditionManifest? {
        guard !isHosted else { return nil }
        func leaf(_ kind: ConditionManifest.Kind) -> ConditionManifest { ConditionManifest(kind: kind, isNegated: false) }
        func group(_ form: ConditionManifest.ComposedForm, _ parts: [any AOperationCondition]) -> ConditionManifest? {
            let made = parts.compactMap { composed($0, for: operation, isSilent: isSilent) }
            return made.count == parts.count ? leaf(.composed(form, made)) : nil
        }
        switch condition {
        // It holds; its lock is taken with those of the whole.
        case is any LockCondition, is TrueCondition: return leaf(.composed(.all, []))
        case let composite as any CompositeCondition:
            switch composite.form {
            case .all: return group(.all, composite.components)
            case .any: return group(.any, composite.components)
            case .ignorance: return group(.ignored, composite.components)
            case .silence:
                return composite.components.first.flatMap { composed($0, for: operation, isSilent: true) }
            case .negation:
                guard let part = composite.components.first, !(part is any LockCondition), !(part is TrueCondition),
                    let made = composed(part, for: operation, isSilent: isSilent)
                else { return nil }
                // The contrary of one is evaluated where that is.
                if case .composed = made.kind { return leaf(.composed(.not, [made])) }
                guard !made.isNegated else { return leaf(.composed(.not, [made])) }
                return ConditionManifest(kind: made.kind, isNegated: true, dependents: made.dependents)
            case .other: return nil
            }
        case let dependencies as NoFailedDependencies: return dependencies.ignoreCancellations ? nil : leaf(.noFailedDependencies)
        case is NoCancelledDependencies: return leaf(.noCancelledDependencies)
        case let reachability as ReachabilityCondition:
            return reachability.portableForm.map { leaf(.reachable($0.0, waits: $0.waits)) }
        case let registered as any ClusterCondition:
            let dependent = isSilent ? nil : DependentManifest(of: registered, for: operation)
            return ConditionManifest(kind: .registered(registered), isNegated: false, dependents: dependent.map { [$0] } ?? [])
        default: return nil
        }
    }

    private mutating func add(_ kind: ConditionManifest.Kind, _ isNegated: Bool, _ dependents: [DependentManifest] = []) {
        conditions.append(ConditionManifest(kind: kind, isNegated: isNegated, dependents: dependents))
    }

    private mutating func refuse(_ condition: any AOperationCondition, _ why: String, _ remedy: String) {
        localParts.append(.init("has the condition \(type(of: condition).key), \(why)", remedy))
    }
}
