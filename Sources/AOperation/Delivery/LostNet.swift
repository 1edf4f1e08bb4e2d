/// What belonged with an operation that was cancelled before it was in any queue. Held by nobody for its sake.
struct LostNet {
    private struct Reference {
        weak let operation: AOperation?
    }

    private let before: [Reference]
    private let after: [Reference]
    private let declared: [Reference]

    init(producers: [AOperation], receivers: [AOperation], dependencies: [AOperation]) {
        before = producers.map { Reference(operation: $0) }
        after = receivers.map { Reference(operation: $0) }
        declared = dependencies.map { Reference(operation: $0) }
    }

    var producers: [AOperation] { before.compactMap(\.operation) }
    var receivers: [AOperation] { after.compactMap(\.operation) }
    var dependencies: [AOperation] { declared.compactMap(\.operation) }
}
