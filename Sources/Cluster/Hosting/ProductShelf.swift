import AOperation
import Executing

/// What operations have produced that execute in this process: real ones, which wait until the coordinator has made them part
/// of the graph. Mirrors from the moment in which they are sent.
struct ProductShelf {
    struct Key: Hashable {
        /// Of the operation that has produced it.
        let attempt: UInt64
        /// Nil: what goes with the success of the attempt.
        let id: String?
    }

    struct Product {
        let member: OperationGraph.Member
        /// Known once it is part of the graph.
        let path: SubmissionPlace
    }

    /// By node of the addition.
    private var products: [Key: [Int: Product]] = [:]

    mutating func put(_ list: [Int: Product], _ key: Key) { products[key] = list }

    mutating func move(_ key: Key, to other: Key) {
        if key != other, let list = products.removeValue(forKey: key) { products[other] = list }
    }

    /// Takes what has become part of the graph.
    mutating func take(_ key: Key, node: Int) -> Product? {
        let product = products[key]?.removeValue(forKey: node)
        if products[key]?.isEmpty == true { products[key] = nil }
        return product
    }

    /// Takes what has not, and will not.
    mutating func takeAll(_ key: Key) -> [AOperation] { (products.removeValue(forKey: key) ?? [:]).inOrder }

    mutating func takeAll() -> [AOperation] {
        defer { products = [:] }
        return products.values.flatMap(\.inOrder)
    }
}

extension [Int: ProductShelf.Product] {
    fileprivate var inOrder: [AOperation] { sorted { $0.key < $1.key }.compactMap(\.value.member.operation) }
}
