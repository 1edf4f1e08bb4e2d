import Wire

/// What few nodes ask for.
struct OptionsDraft: Hashable {
    var delayMilliseconds: Int64 = 0
    /// Milliseconds since 1970; 0: whenever it can.
    var notBefore: Int64 = 0
    var deadline: GraphDeadline?
    var queueTimeoutMilliseconds: Int64 = 0
    var exclusive: [ExclusiveKey] = []
    var conditions: [WireCondition] = []

    func write(to node: inout WireNode) {
        node.delayMilliseconds = UInt64(delayMilliseconds)
        node.notBefore = notBefore
        switch deadline {
        case .within(let milliseconds): node.deadlineMilliseconds = UInt64(milliseconds)
        case .by(let time): node.deadline = time
        case nil: break
        }
        node.queueTimeoutMilliseconds = UInt64(queueTimeoutMilliseconds)
        node.exclusive = exclusive.map { exclusive in
            .with {
                $0.key = exclusive.key
                $0.limit = UInt32(exclusive.limit)
            }
        }
        node.conditions = conditions
    }
}

/// A lock that a node names.
struct ExclusiveKey: Hashable {
    let key: String
    let limit: Int
}

extension GraphReader {
    /// `delay`, `notBefore`, `deadline`, `queueTimeout`.
    mutating func readOptions(_ fields: [NodeKey: Field], into index: Int, reportingAs node: Int) {
        if let field = fields[.delay] { drafts[index].options.delayMilliseconds = readDuration(field, node: node) ?? 0 }
        if let field = fields[.notBefore] {
            drafts[index].options.notBefore = readQuantity(field, example: TimeStamp.example, node: node, TimeStamp.read) ?? 0
        }
        if let field = fields[.deadline] {
            drafts[index].options.deadline = readQuantity(field, example: GraphDeadline.example, node: node, GraphDeadline.read)
        }
        if let field = fields[.queueTimeout], let milliseconds = readDuration(field, node: node) {
            if milliseconds == 0 { report("`queueTimeout` must be longer than 0", value: field.value, node: node) }
            drafts[index].options.queueTimeoutMilliseconds = milliseconds
        }
    }
}
