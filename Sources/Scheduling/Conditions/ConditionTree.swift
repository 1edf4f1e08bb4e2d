/// What is made of a node's conditions: each is evaluated by itself, and what they come to together counts.
public indirect enum ConditionTree: Hashable, Sendable {
    /// Position among the node's conditions.
    case leaf(Int)
    /// Holds when all do; without any it holds.
    case all([ConditionTree])
    /// Holds when one does; without any it fails.
    case any([ConditionTree])
    /// Holds when it does not.
    case not(ConditionTree)
    /// Holds when it does; otherwise the operation is cancelled instead of failing.
    case ignored(ConditionTree)

    public var parts: [ConditionTree] {
        switch self {
        case .leaf: []
        case .all(let parts), .any(let parts): parts
        case .not(let part), .ignored(let part): [part]
        }
    }

    /// Positions of the conditions that it is made of, from left to right.
    public var leaves: [Int] {
        if case .leaf(let position) = self { [position] } else { parts.flatMap(\.leaves) }
    }

    /// How many there are, those that are made of others included.
    var size: Int { parts.reduce(1) { $0 + $1.size } }

    var depth: Int { 1 + (parts.map(\.depth).max() ?? 0) }

    /// Its name in errors, as the local library calls it.
    func key(_ conditions: [Condition]) -> String {
        switch self {
        case .leaf(let position): conditions[position].key
        case .all: "AndCondition"
        case .any: "OrCondition"
        case .not(let part): "Not<\(part.key(conditions))>"
        case .ignored(let part): "Ignored<\(part.key(conditions))>"
        }
    }

    /// Its conditions that have to hold so that it does: those under which a start counts.
    fileprivate func wanted(isNegated: Bool) -> [Int] {
        switch self {
        case .leaf(let position): isNegated ? [] : [position]
        case .not(let part): part.wanted(isNegated: !isNegated)
        case .all, .any, .ignored: parts.flatMap { $0.wanted(isNegated: isNegated) }
        }
    }
}

/// What one of the things comes to that a node requires.
enum ConditionResult: Equatable {
    case satisfied
    case failed(Failure)
    /// It does not hold, and that is no failure: the unit is cancelled.
    case ignored
    /// Not now: this is what is waited for.
    case notNow(Verdict)
    /// Not all has been evaluated that it depends on.
    case unknown

    var failure: Failure? { if case .failed(let failure) = self { failure } else { nil } }

    var until: Verdict? { if case .notNow(let verdict) = self { verdict } else { nil } }
}

extension Node {
    /// What it requires, in order: its conditions, and what is made of them.
    var requiredConditions: [ConditionTree] {
        guard hasOptions else { return [] }
        return options.conditionTrees.isEmpty ? options.conditions.indices.map { .leaf($0) } : options.conditionTrees
    }

    /// Whether the node requires the condition by itself, whatever becomes of the others.
    func requiresAlone(_ condition: Int) -> Bool {
        options.conditionTrees.isEmpty || options.conditionTrees.contains(.leaf(condition))
    }

    /// The limits under which a start of it counts.
    var countedLimits: [RateLimit] {
        guard hasOptions else { return [] }
        guard !options.conditionTrees.isEmpty else { return options.conditions.compactMap(\.countedRate) }
        return requiredConditions.flatMap { $0.wanted(isNegated: false) }.compactMap { options.conditions[$0].countedRate }
    }
}

extension Submission {
    /// The limits under which a start of the unit counts.
    func countedLimits(of unit: Int) -> [RateLimit] { node(unit).countedLimits }

    /// What the unit's conditions come to, as far as `verdicts` say; in their order.
    func results(of unit: Int, _ verdicts: [Verdict]) -> [ConditionResult] {
        let byCondition = Dictionary(verdicts.map { ($0.condition, $0) }) { $1 }
        return node(unit).requiredConditions.map { result(of: $0, unit, byCondition) }
    }

    /// As the conditions of the local library that are made of others do it.
    private func result(of tree: ConditionTree, _ unit: Int, _ verdicts: [Int: Verdict]) -> ConditionResult {
        let results = tree.parts.map { result(of: $0, unit, verdicts) }
        switch tree {
        case .leaf(let position): return result(ofLeaf: position, unit, verdicts[position])
        case .all: return all(results, unit, tree)
        case .any: return any(results, unit, tree)
        case .not(let part):
            switch results.first {
            case .satisfied?:
                let name = part.key(conditions(of: unit))
                var failure = failure(unit, tree, "The condition \(name) succeed", [])
                failure.detail = .negated(name)
                return .failed(failure)
            case .failed?, .ignored?: return .satisfied
            case .notNow(let verdict)?: return .notNow(verdict)
            case .unknown?, nil: return .unknown
            }
        case .ignored:
            switch results.first {
            case .satisfied?: return .satisfied
            case .failed?, .ignored?: return .ignored
            case .notNow(let verdict)?: return .notNow(verdict)
            case .unknown?, nil: return .unknown
            }
        }
    }

    private func result(ofLeaf position: Int, _ unit: Int, _ verdict: Verdict?) -> ConditionResult {
        guard let verdict else { return .unknown }
        switch verdict.finding {
        case .satisfied: return .satisfied
        case .failed: return .failed(conditionFailure(unit, conditions(of: unit)[position], verdict))
        case .ignored: return .ignored
        case .notNow: return .notNow(verdict)
        }
    }

    private func all(_ results: [ConditionResult], _ unit: Int, _ tree: ConditionTree) -> ConditionResult {
        let failures = results.compactMap(\.failure)
        let longest = results.compactMap(\.until).max { outranks($1, $0, unit) }
        if results.contains(.unknown) {
            // What fails in the end fails with all of its errors.
            guard failures.isEmpty, !results.contains(.ignored), let longest else { return .unknown }
            return .notNow(longest)
        }
        if failures.count > 1 {
            let text = "\(failures.count) of the required conditions do not hold: \(Self.listed(failures))"
            return .failed(failure(unit, tree, text, failures))
        }
        if let failure = failures.first { return .failed(failure) }
        if results.contains(.ignored) { return .ignored }
        return longest.map { .notNow($0) } ?? .satisfied
    }

    private func any(_ results: [ConditionResult], _ unit: Int, _ tree: ConditionTree) -> ConditionResult {
        if results.contains(.satisfied) { return .satisfied }
        if results.contains(.unknown) { return .unknown }
        if let shortest = results.compactMap(\.until).min(by: { ($0.until ?? 0) < ($1.until ?? 0) }) { return .notNow(shortest) }
        let failures = results.compactMap(\.failure)
        guard failures.isEmpty, !results.isEmpty else {
            let text =
                failures.isEmpty
                ? "An OrCondition without conditions never holds: give it at least one"
                : "None of the alternative conditions holds: \(Self.listed(failures))"
            return .failed(failure(unit, tree, text, failures))
        }
        return .ignored
    }

    /// Which of two waits comes first: for a time of day, during which locks are given back; for an answer; for a turn.
    private func outranks(_ one: Verdict, _ other: Verdict, _ unit: Int) -> Bool {
        let conditions = conditions(of: unit)
        func rank(_ verdict: Verdict) -> Int {
            switch conditions[verdict.condition].kind {
            case .timeWindow: 2
            case .probe, .noFailedDependencies, .noCancelledDependencies: 1
            case .rateLimit: 0
            }
        }
        return (rank(one), one.until ?? 0) > (rank(other), other.until ?? 0)
    }

    private func failure(_ unit: Int, _ tree: ConditionTree, _ text: String, _ parts: [Failure]) -> Failure {
        let key = tree.key(conditions(of: unit))
        var failure = Failure(
            code: .condition, isCondition: true, publisher: key, message: text, typeName: "\(key).Error", origin: path(of: unit))
        failure.parts = parts
        return failure
    }

    private static func listed(_ failures: [Failure]) -> String {
        let text = failures.map { $0.publisher.isEmpty ? $0.message : "\($0.publisher): \($0.message)" }.joined(separator: "; ")
        return String(text.prefix(listedCharactersMax))
    }

    /// The parts have their texts as well.
    private static let listedCharactersMax = 16 * 1_024
}

extension Graph {
    /// What is wrong with what is made of a node's conditions.
    func problems(withTreesOf node: Node) -> [String] {
        let trees = node.options.conditionTrees
        guard !trees.isEmpty else { return [] }
        guard trees.allSatisfy({ $0.depth <= Self.treeDepthMax }) else {
            return ["has conditions that are made of others more than \(Self.treeDepthMax) deep"]
        }
        let size = trees.reduce(0) { $0 + $1.size }
        guard size <= Self.treeSizeMax else {
            return ["has conditions that are made of \(size) others, more than the limit of \(Self.treeSizeMax)"]
        }
        guard trees.flatMap(\.leaves) == Array(node.options.conditions.indices) else {
            return ["has conditions that are made of others which it has not, or not in their order"]
        }
        guard trees.flatMap(\.parts).flatMap(\.leaves).allSatisfy({ !node.options.conditions[$0].isHosted }) else {
            return ["has a condition that its submitter evaluates inside of one that it does not; it evaluates the whole"]
        }
        return []
    }

    private static let treeDepthMax = 32
    private static let treeSizeMax = 1_024
}

extension Failure {
    /// Of a condition that is made of others: why these do not hold. They stand in the place of an image, so that journals are as
    /// they were.
    public var parts: [Failure] {
        get {
            guard image.first == Self.partsTag else { return [] }
            var reader = ByteReader(image.dropFirst())
            return (try? reader.wholeFailures()) ?? []
        }
        set {
            guard !newValue.isEmpty else {
                if image.first == Self.partsTag { image = [] }
                return
            }
            var writer = ByteWriter()
            writer.write(Self.partsTag)
            writer.write(wholeFailures: newValue)
            image = writer.bytes
        }
    }

    /// No image begins with it: these are JSON.
    static let partsTag: UInt8 = 0
}
