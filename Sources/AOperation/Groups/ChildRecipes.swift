import Foundation

/// What the children of a group are made of again, for another attempt of the group.
///
/// Taken before they start, since an operation lets go of its conditions, its policy and its dependencies at its end.
/// A child that is a plain group is made of its own children in the same way.
///
/// Invariant behind `@unchecked Sendable`: constant; what it holds is shared by operations in any case.
struct ChildRecipes: @unchecked Sendable {
    private let recipes: [ChildRecipe]

    /// Nil unless all of `children` can be made anew: none may have started, and what they deliver and receive is delivered among them and
    /// those in nested groups, for what is outside is not made anew.
    init?(of children: [Foundation.Operation]) {
        self.init(ofParts: children)
        var made: Set<ObjectIdentifier> = []
        forEach { made.insert(ObjectIdentifier($0.child)) }
        var isClosed = true
        forEach { recipe in
            if !recipe.neighbours.allSatisfy({ made.contains(ObjectIdentifier($0)) }) { isClosed = false }
        }
        if !isClosed { return nil }
    }

    /// Of a nested group, for one.
    fileprivate init?(ofParts children: [Foundation.Operation]) {
        var recipes: [ChildRecipe] = []
        for child in children {
            guard let child = child as? AOperation, let recipe = ChildRecipe(of: child) else { return nil }
            recipes.append(recipe)
        }
        self.recipes = recipes
    }

    /// Those of nested groups included.
    fileprivate func forEach(_ body: (ChildRecipe) -> Void) {
        for recipe in recipes {
            body(recipe)
            recipe.members?.forEach(body)
        }
    }

    /// Fresh children, in the same order; nil if one of them could not be made.
    func make() -> [AOperation]? {
        var fresh: [ObjectIdentifier: AOperation] = [:]
        guard let children = make(noting: &fresh) else { return nil }
        connect(fresh)
        return children
    }

    /// - Parameter fresh: the fresh operations, those in nested groups included, by the ones they stand for.
    fileprivate func make(noting fresh: inout [ObjectIdentifier: AOperation]) -> [AOperation]? {
        var children: [AOperation] = []
        for recipe in recipes {
            guard let child = recipe.make(noting: &fresh) else { return nil }
            children.append(child)
        }
        return children
    }

    /// Lets the fresh ones wait for one another, and receive from one another, as the first ones did.
    fileprivate func connect(_ fresh: [ObjectIdentifier: AOperation]) {
        for recipe in recipes { recipe.connect(fresh) }
    }
}

/// What one child is made of again.
private struct ChildRecipe {
    let child: AOperation
    /// Of a plain group.
    let members: ChildRecipes?
    /// Who delivers to it, and to whom it delivers.
    let neighbours: [AOperation]
    private let connection: DeliveryNet.Connection?
    private let conditions: [any AOperationCondition]
    private let observers: [any AttemptObserver]
    private let retryDecider: RetryDecider?
    private let timeLimits: TimeLimits
    private let grace: Duration?
    private let dependencies: [Foundation.Operation]

    init?(of child: AOperation) {
        if child.isRetryable {
            members = nil
        } else {
            guard let group = child as? GroupOperation, group.isPlainGroup, let members = ChildRecipes(ofParts: group.operations)
            else { return nil }
            self.members = members
        }
        self.child = child
        // What is read while it is made is not delivered by its end.
        let (core, streams) = child.core.withLock { core in
            (core, core.attachments.map { $0.stream != nil || !$0.streams.isEmpty } ?? false)
        }
        guard core.state.isInitialized, core.injections.isEmpty, !streams else { return nil }
        neighbours = core.producers + core.receivers
        connection =
            core.producers.isEmpty
            ? nil : DeliveryNet.Connection(producers: core.producers, form: core.delivery, inbox: core.inbox)
        conditions = core.conditions
        observers = core.attemptObservers
        retryDecider = core.retryDecider
        timeLimits = core.timeLimits
        grace = core.grace
        dependencies = core.dependencies.all
    }

    func make(noting fresh: inout [ObjectIdentifier: AOperation]) -> AOperation? {
        let made: AOperation?
        if let members {
            made = members.make(noting: &fresh).flatMap { (child as? GroupOperation)?.plainGroup(of: $0) }
        } else {
            made = child.makeAttempt()
        }
        guard let made, made !== child, made.isInitialized else { return nil }
        made.dropListeners()
        made.replaceSettings { core in
            core.isRemade = true
            core.conditions = conditions
            core.attemptObservers = observers
            core.retryDecider = retryDecider
            core.timeLimits = timeLimits.anew
            core.grace = grace
        }
        made.name = child.name
        made.queuePriority = child.queuePriority
        if child.qualityOfService != .default { made.qualityOfService = child.qualityOfService }
        child.passSettings(to: made)
        fresh[ObjectIdentifier(child)] = made
        return made
    }

    func connect(_ fresh: [ObjectIdentifier: AOperation]) {
        if let made = fresh[ObjectIdentifier(child)] {
            for dependency in dependencies { made.addDependency(fresh[ObjectIdentifier(dependency)] ?? dependency) }
            if let connection { DeliveryNet.connect(made, as: connection, to: fresh) }
        }
        members?.connect(fresh)
    }
}
