/// What decides what a group does next, and is asked when something in it has ended.
///
/// It stands in the group and is none of its children: it has no place in their order, their number, their outcomes and
/// their values, and nobody refers to it.
public struct DeciderNode: Hashable, Sendable {
    public enum Occasion: UInt8, Hashable, Sendable {
        /// A child has ended, however.
        case eachChild = 0
        /// A child has failed.
        case failures = 1
        /// What it has added last, as a step, has ended.
        case steps = 2
    }
    /// Registered name of the group; of one that its submitter decides: as it is shown.
    public var type: String
    /// 0: whichever the worker has.
    public var version: Int
    /// Index into `Graph.parameters`.
    public var parameters: Int
    public var occasion: Occasion
    /// It is asked when the group begins as well.
    public var isAskedAtBegin: Bool
    /// The group stands for the first product that it is given: it delivers what that delivers, and fails as that does.
    public var isWrapper: Bool

    public init(
        type: String, version: Int = 0, parameters: Int, occasion: Occasion = .eachChild, isAskedAtBegin: Bool = false,
        isWrapper: Bool = false
    ) {
        self.isWrapper = isWrapper
        self.type = type
        self.version = version
        self.parameters = parameters
        self.occasion = occasion
        self.isAskedAtBegin = isAskedAtBegin
    }
}

/// What was decided, as it is committed: all of it, or nothing.
public struct GroupDecision: Hashable, Sendable {
    /// What the group remembers from now on; nil: what it did.
    public var state: [UInt8]?
    /// New children.
    public var addition: Addition?
    /// Units of children of the group that alone do not make it fail.
    public var forgiven: [Int]
    /// The same of what is added: nodes of the addition.
    public var forgivenNodes: [Int]
    /// Errors of the group's own.
    public var failures: [Failure]

    public init(
        state: [UInt8]? = nil, addition: Addition? = nil, forgiven: [Int] = [], forgivenNodes: [Int] = [], failures: [Failure] = []
    ) {
        self.state = state
        self.addition = addition
        self.forgiven = forgiven
        self.forgivenNodes = forgivenNodes
        self.failures = failures
    }
}

/// What a decide unit is asked.
public struct DecisionQuestion: Hashable, Sendable {
    /// From 1.
    public var number: Int
    /// Path of the child that has ended; nil: the group has begun.
    public var child: String?
    /// Its unit.
    public var childUnit: Int?
    /// It was cancelled. One that has failed may have the error of something else that was.
    public var isChildCancelled: Bool
    /// Of a child that is an operation: what it was made of.
    public var type: String
    public var version: Int
    public var parameters: [UInt8]
    /// What the group remembers; nil: nothing yet.
    public var state: [UInt8]?

    public init(
        number: Int, child: String?, childUnit: Int? = nil, isChildCancelled: Bool = false, type: String, version: Int,
        parameters: [UInt8], state: [UInt8]? = nil
    ) {
        self.number = number
        self.child = child
        self.childUnit = childUnit
        self.isChildCancelled = isChildCancelled
        self.type = type
        self.version = version
        self.parameters = parameters
        self.state = state
    }
}

extension Node {
    var isDecider: Bool { if case .decider = kind { true } else { false } }

    /// The registered type that a worker must have for it, and of which version; nil: none.
    var registered: (type: String, version: Int)? {
        guard !isHosted else { return nil }
        return switch kind {
        case .operation(let operation): (operation.type, operation.version)
        case .decider(let decider): (decider.type, decider.version)
        case .group, .forEach: nil
        }
    }
}

extension Graph {
    /// Deciders that are where they cannot be, or ask for what only operations have.
    func deciderFaults() -> [AdmissionError] {
        var decided: Set<Int> = []
        var faults: [AdmissionError] = []
        for (index, node) in nodes.enumerated() where node.isDecider {
            if !decided.insert(node.parent).inserted { faults.append(fault(index, "is the second decider of its group")) }
            var options = NodeOptions()
            options.isHosted = node.isHosted
            options.hostedTimeoutMilliseconds = node.options.hostedTimeoutMilliseconds
            let isPlain =
                node.receives.isEmpty && node.after.isEmpty && node.retries == 0 && node.timeoutMilliseconds == 0
                && (node.hasOptions ? node.options : .standard) == options
            if !isPlain { faults.append(fault(index, "is a decider, and asks for what only operations have")) }
        }
        guard !decided.isEmpty else { return [] }
        for (index, node) in nodes.enumerated() {
            for target in node.receives + node.after where nodes[target].isDecider {
                faults.append(fault(index, "waits for a decider; refer to its group"))
            }
        }
        return faults
    }
}
