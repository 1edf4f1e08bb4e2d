/// What must hold before an attempt of a node starts. A group's is about the group as a whole.
public struct Condition: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Nothing that the node waits for by `receives` or `after` failed or was cancelled.
        case noFailedDependencies
        /// Nothing that the node waits for by `receives` or `after` was cancelled.
        case noCancelledDependencies
        /// It is a certain time of day. Never fails: the node waits for it.
        case timeWindow(TimeWindow)
        /// Few enough others have started lately. Never fails, unless it is negated: the node waits for its turn.
        case rateLimit(RateLimit)
        /// What a worker that could run the node finds.
        case probe(Probe)

        /// Its name in errors, as the local library calls it.
        var key: String {
            switch self {
            case .noFailedDependencies: "NoFailedDependencies"
            case .noCancelledDependencies: "NoCancelledDependencies"
            case .timeWindow: "TimeWindow"
            case .rateLimit: "RateLimit"
            case .probe(let probe): probe.key
            }
        }
    }
    public var kind: Kind
    public var isNegated: Bool

    public init(_ kind: Kind, isNegated: Bool = false) {
        self.kind = kind
        self.isNegated = isNegated
    }

    /// Its name in errors, as the local library calls it.
    public var key: String { isNegated ? "Not<\(kind.key)>" : kind.key }

    /// The limit that it looks at.
    var rate: RateLimit? { if case .rateLimit(let limit) = kind { limit } else { nil } }

    /// The limit under which a start counts.
    var countedRate: RateLimit? { isNegated ? nil : rate }
}

/// A condition that a worker evaluates.
public struct Probe: Hashable, Sendable {
    /// Registered name.
    public var type: String
    /// Index into `Graph.parameters`.
    public var parameters: Int
    /// `${name}` in the parameters' strings is replaced by the worker.
    public var isTemplated: Bool
    /// What does not hold is asked again, and is no failure.
    public var waits: Bool
    /// It exists in the process that submitted the graph, which evaluates it.
    public var isHosted: Bool

    public init(type: String, parameters: Int, isTemplated: Bool = false, waits: Bool = false, isHosted: Bool = false) {
        self.isHosted = isHosted
        self.type = type
        self.parameters = parameters
        self.isTemplated = isTemplated
        self.waits = waits
    }

    fileprivate var key: String {
        switch type {
        case "reachable": "ReachabilityCondition"
        case "fileExists": "FileExists"
        case "command": "Command"
        default: type
        }
    }
}

/// What a worker says of one condition.
public struct ConditionAnswer: Hashable, Sendable {
    public enum Finding: Hashable, Sendable {
        case satisfied
        case failed
        /// It does not hold, and that is no failure: the operation is cancelled.
        case ignored
        /// Not now: it is to be asked again.
        case retryAfter(milliseconds: Int64)
    }
    /// Position among the node's conditions.
    public var condition: Int
    public var finding: Finding
    public var reason: String
    /// Of a failure: the encoded image of a registered Codable error; empty: none.
    public var image: [UInt8]

    public init(condition: Int, finding: Finding, reason: String = "", image: [UInt8] = []) {
        self.condition = condition
        self.finding = finding
        self.reason = reason
        self.image = image
    }
}

/// At most `count` attempts start within any `perMilliseconds`, in the whole cluster, among those that name the key.
/// Where they name different limits each keeps to its own; all starts count for all.
public struct RateLimit: Hashable, Sendable {
    public var key: String
    public var count: Int
    public var perMilliseconds: Int64

    public init(key: String, count: Int, perMilliseconds: Int64) {
        self.key = key
        self.count = count
        self.perMilliseconds = perMilliseconds
    }

    /// "`api` (10 in 1 s)"
    var text: String { "`\(key)` (\(count) in \(Duration.text(milliseconds: perMilliseconds)))" }
}

extension Node {
    /// What must hold before an attempt of it starts.
    var conditions: [Condition] { hasOptions ? options.conditions : [] }

    /// Types of the conditions that a worker evaluates, each once, sorted. Without those that the submitter evaluates.
    var probeTypes: [String] {
        guard hasOptions else { return [] }
        var types: [String] = []
        for condition in options.conditions {
            if case .probe(let probe) = condition.kind, !probe.isHosted, !types.contains(probe.type) { types.append(probe.type) }
        }
        return types.sorted()
    }
}

/// What the evaluation of one condition said.
public struct Verdict: Hashable, Sendable {
    public enum Finding: Hashable, Sendable {
        case satisfied
        case failed
        /// It does not hold, and that is no failure: the unit is cancelled.
        case ignored
        /// It is to be asked again at this wall time.
        case notNow(until: Int64)
    }
    /// Position among the node's conditions.
    public var condition: Int
    public var finding: Finding
    /// Why; empty for what needs no reason.
    public var reason: String
    /// The worker that evaluated it; empty: the coordinator.
    public var evaluator: String
    /// Wall time.
    public var at: Int64
    /// Of a failure: the encoded image of a registered Codable error; empty: none.
    public var image: [UInt8]

    public init(condition: Int, finding: Finding, reason: String = "", evaluator: String = "", at: Int64, image: [UInt8] = []) {
        self.condition = condition
        self.finding = finding
        self.reason = reason
        self.image = image
        self.evaluator = evaluator
        self.at = at
    }
}

/// A verdict as it is shown.
public struct ConditionView: Hashable, Sendable {
    public var key: String
    public var verdict: Verdict

    public init(key: String, verdict: Verdict) {
        self.key = key
        self.verdict = verdict
    }

    var approximateBytes: Int { 48 + key.utf8.count + verdict.reason.utf8.count + verdict.evaluator.utf8.count }
}
