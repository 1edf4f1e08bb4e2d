/// A submission's graph as it was admitted: nodes in pre-order, node 0 is the root group.
public struct Graph: Hashable, Sendable {
    public var name: String
    public var nodes: [Node]
    /// Operation parameters (JSON), each once; `OperationNode.parameters` points here.
    public var parameters: [[UInt8]]

    public init(name: String, nodes: [Node], parameters: [[UInt8]]) {
        self.name = name
        self.nodes = nodes
        self.parameters = parameters
    }
}

/// One node of a graph. References are node indices.
public struct Node: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case operation(OperationNode)
        case group(GroupNode)
        /// Its only child is the body, made once for each element.
        case forEach(ForEachNode)
        /// Decides what the group does next that it stands in; none of its children.
        case decider(DeciderNode)
    }
    /// Path component; empty for the root and for a forEach's body.
    public var id: String
    /// The root names itself.
    public var parent: Int
    public var kind: Kind
    /// Producers in declared order.
    public var receives: [Int]
    /// The value is an array even for one producer.
    public var receivesArray: Bool
    public var after: [Int]
    /// Attempts after the first.
    public var retries: Int
    /// Of one attempt, from its start; 0: none.
    public var timeoutMilliseconds: Int64
    /// On a group or forEach: for all inside that names none. nil: as what is around it, the root: the worker's default.
    public var graceMilliseconds: Int64?
    /// Ends with its producer's failure without running.
    public var forwardsFailure: Bool
    private var boxed = BoxedOptions.standard
    /// What few nodes ask for.
    public var options: NodeOptions {
        get { boxed.options }
        set { boxed = BoxedOptions(newValue) }
    }
    /// Whether it asks for any of that. Cheaper than to look at it.
    var hasOptions: Bool { if case .own = boxed { true } else { false } }

    public init(
        id: String, parent: Int, kind: Kind, receives: [Int] = [], receivesArray: Bool = false, after: [Int] = [],
        retries: Int = 0, timeoutMilliseconds: Int64 = 0, graceMilliseconds: Int64? = nil, forwardsFailure: Bool = false,
        options: NodeOptions = .standard
    ) {
        self.id = id
        self.parent = parent
        self.kind = kind
        self.receives = receives
        self.receivesArray = receivesArray
        self.after = after
        self.retries = retries
        self.timeoutMilliseconds = timeoutMilliseconds
        self.graceMilliseconds = graceMilliseconds
        self.forwardsFailure = forwardsFailure
        boxed = BoxedOptions(options)
    }
}

public struct OperationNode: Hashable, Sendable {
    /// Registered name.
    public var type: String
    /// 0: whichever the worker has.
    public var version: Int
    /// Index into `Graph.parameters`.
    public var parameters: Int
    /// `${name}` in the parameters' strings is replaced by the worker.
    public var isTemplated: Bool

    public init(type: String, version: Int = 0, parameters: Int, isTemplated: Bool = false) {
        self.type = type
        self.version = version
        self.parameters = parameters
        self.isTemplated = isTemplated
    }
}

public struct GroupNode: Hashable, Sendable {
    public var isOrdered: Bool
    public var stopsOnFailure: Bool
    /// 0: no limit.
    public var maxConcurrent: Int

    public init(isOrdered: Bool, stopsOnFailure: Bool = false, maxConcurrent: Int = 0) {
        self.isOrdered = isOrdered
        self.stopsOnFailure = stopsOnFailure
        self.maxConcurrent = maxConcurrent
    }
}

public struct ForEachNode: Hashable, Sendable {
    /// The element's name in the body.
    public var name: String
    /// The list when it is written in the graph (JSON each); nil: the only producer in `receives` delivers it.
    public var elements: [[UInt8]]?
    public var stopsOnFailure: Bool
    /// 0: no limit.
    public var maxConcurrent: Int

    public init(name: String, elements: [[UInt8]]? = nil, stopsOnFailure: Bool = false, maxConcurrent: Int = 0) {
        self.name = name
        self.elements = elements
        self.stopsOnFailure = stopsOnFailure
        self.maxConcurrent = maxConcurrent
    }
}
