import Wire

/// What few nodes ask for.
struct OptionsDraft: Hashable {
    var delayMilliseconds: Int64 = 0
    /// Milliseconds since 1970; 0: whenever it can.
    var notBefore: Int64 = 0
    var deadline: GraphDeadline?
    var queueTimeoutMilliseconds: Int64 = 0
    var backoff: BackoffDraft?
    var retryOn: [RetryReasonDraft] = []
    var retriesNet = false
    var atMostOnce = false
    var recomputable = false
    /// nil: as the group around it.
    var crashLimit: Int?
    /// nil: as the group around it.
    var priority: Int?
    /// Of the root; 0: it has not said.
    var weight = 0
    var requires = RequirementsDraft()
    var exclusive: [ExclusiveKey] = []
    var conditions: [WireCondition] = []
    var unique: WireUnique?

    func write(to node: inout WireNode) {
        node.delayMilliseconds = UInt64(delayMilliseconds)
        node.notBefore = notBefore
        switch deadline {
        case .within(let milliseconds): node.deadlineMilliseconds = UInt64(milliseconds)
        case .by(let time): node.deadline = time
        case nil: break
        }
        node.queueTimeoutMilliseconds = UInt64(queueTimeoutMilliseconds)
        if let backoff { node.backoff = backoff.wire }
        node.retryOn = retryOn.map(\.wire)
        node.retriesNet = retriesNet
        node.atMostOnce = atMostOnce
        node.recomputable = recomputable
        if let crashLimit { node.crashLimit = UInt32(crashLimit) }
        if let priority { node.priority = Int32(priority) }
        node.weight = UInt32(weight)
        if !requires.isEmpty { node.requires = requires.wire }
        node.exclusive = exclusive.map { exclusive in
            .with {
                $0.key = exclusive.key
                $0.limit = UInt32(exclusive.limit)
            }
        }
        node.conditions = conditions
        if let unique { node.unique = unique }
    }
}

/// A lock that a node names.
struct ExclusiveKey: Hashable {
    let key: String
    let limit: Int
}

extension GraphReader {
    /// `delay`, `notBefore`, `deadline`, `queueTimeout`, `atMostOnce`, `recomputable`, `crashLimit`, `priority`.
    mutating func readOptions(_ fields: [NodeKey: Field], form: NodeForm?, into index: Int, reportingAs node: Int) {
        if let field = fields[.delay] { drafts[index].options.delayMilliseconds = readDuration(field, node: node) ?? 0 }
        if let field = fields[.notBefore] {
            drafts[index].options.notBefore = readQuantity(field, example: TimeStamp.example, node: node, TimeStamp.read) ?? 0
        }
        if let field = fields[.deadline] {
            drafts[index].options.deadline = readQuantity(field, example: GraphDeadline.example, node: node, GraphDeadline.read)
        }
        if let field = fields[.priority] { drafts[index].options.priority = readPriority(field, node: node) }
        if let field = fields[.crashLimit] {
            drafts[index].options.crashLimit = readNumber(field, "crashLimit", FileLimits.crashLimits, node: node)
        }
        if let field = fields[.atMostOnce] {
            drafts[index].options.atMostOnce = readFlag(field, node: node) ?? false
            if drafts[index].options.atMostOnce, drafts[index].retries > 0 {
                report(
                    "`atMostOnce` and `retry` exclude each other: what must not run twice is not tried again; leave one out",
                    at: field.keyPosition, node: node)
            }
        }
        if let field = fields[.recomputable] { drafts[index].options.recomputable = readFlag(field, node: node) ?? false }
        // That a group has one is told at the key; the coordinator, which is asked about the rest, would tell it once more.
        if form?.isGroup != true, let field = fields[.queueTimeout], let milliseconds = readDuration(field, node: node) {
            if milliseconds == 0 { report("`queueTimeout` must be longer than 0", value: field.value, node: node) }
            drafts[index].options.queueTimeoutMilliseconds = milliseconds
        }
    }

    private mutating func readPriority(_ field: Field, node: Int) -> Int? {
        readNumber(field, "priority", FileLimits.priorities, node: node)
    }

    /// Of the top level.
    mutating func readWeight(_ fields: [NodeKey: Field]) {
        guard let field = fields[.weight] else { return }
        drafts[0].options.weight = readNumber(field, "weight", FileLimits.weights, node: 0) ?? 0
    }

    private mutating func readNumber(_ field: Field, _ key: String, _ range: ClosedRange<Int>, node: Int) -> Int? {
        guard case .number(let text)? = document.scalar(field.value)?.value, let number = Int(text), range.contains(number) else {
            report(
                "`\(key)` must be a whole number from \(range.lowerBound) to \(range.upperBound), found"
                    + " \(document.description(field.value))", value: field.value, node: node)
            return nil
        }
        return number
    }
}
