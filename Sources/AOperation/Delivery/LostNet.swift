/// What belonged with an operation that was cancelled before it was in any queue: it is added with it. What comes before it
/// is held, as it was before: nobody else may do so, and others may wait for what comes before that.
struct LostNet {
    private struct Reference {
        weak let operation: AOperation?
    }

    let producers: [AOperation]
    let dependencies: [AOperation]
    private let after: [Reference]

    init(producers: [AOperation], receivers: [AOperation], dependencies: [AOperation]) {
        self.producers = producers
        self.dependencies = dependencies
        after = receivers.map { Reference(operation: $0) }
    }

    var receivers: [AOperation] { after.compactMap(\.operation) }
}
