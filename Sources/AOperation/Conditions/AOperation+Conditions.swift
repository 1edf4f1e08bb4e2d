extension AOperation {
    /// Adds a condition. Once conditions are being evaluated it is too late and nothing happens.
    public final func addCondition(_ condition: any AOperationCondition) {
        let (isMirror, dropped) = core.withLock { core -> (Bool, Preparation?) in
            guard core.attachments?.remote == nil else { return (true, nil) }
            switch core.state {
            case .initialized, .waiting, .ready:
                guard !core.isPrepared else { return (false, nil) }
                core.conditions.append(condition)
                defer { core.preparation = nil }  // made early, when the group around it asked for locks
                return (false, core.preparation)
            case .preparing, .executing, .deliberating, .retrying, .provisional, .holding, .telling, .finished, .ended: break
            }
            return (false, nil)
        }
        withExtendedLifetime(dropped) {}  // outside of the lock
        if isMirror { return tooLate("a condition") }
        forgetLockScan()
    }

    /// Adds conditions, in this order.
    @discardableResult
    public final func conditions(_ conditions: any AOperationCondition...) -> Self {
        self.conditions(conditions)
    }

    /// Adds conditions, in this order.
    @discardableResult
    public final func conditions(_ conditions: [any AOperationCondition]) -> Self {
        for condition in conditions { addCondition(condition) }
        return self
    }

    /// Adds a condition made of a closure, which calls what it is given once, now or later.
    @discardableResult
    public final func condition(
        _ block: @escaping @Sendable (_ completion: @escaping @Sendable (OperationConditionResult) -> Void) -> Void
    ) -> Self {
        conditions(BlockCondition(block))
    }

    /// Lets the operation exclude others that name `key`: see ``MutualExclusion``.
    @discardableResult
    public final func exclusive(_ key: String, limit: Int = 1) -> Self {
        conditions(ExclusiveCondition(MutualExclusion(key: key, limit: limit)))
    }
}

/// A condition made of a closure.
public struct BlockCondition: AOperationCondition {
    private let block: @Sendable (@escaping @Sendable (OperationConditionResult) -> Void) -> Void

    public init(_ block: @escaping @Sendable (_ completion: @escaping @Sendable (OperationConditionResult) -> Void) -> Void) {
        self.block = block
    }

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        block(completion)
    }
}

/// The same by its other name.
public typealias ConditionBlock = BlockCondition

/// Takes a lock by name; always holds.
struct ExclusiveCondition: LockCondition {
    let exclusion: MutualExclusion?

    init(_ exclusion: MutualExclusion) {
        self.exclusion = exclusion
    }

    static var isMutuallyExclusive: Bool { true }
}
