/// Work that is run on an `AOperationQueue` and, beside it, on Foundation's `OperationQueue`.
///
/// The operations do nothing, so that what is measured is what a queue costs: making the operations, connecting and
/// adding them, running them, and waiting for the last.
public enum Workload: String, CaseIterable, Sendable {
    /// Independent operations, each added by itself and let go.
    case flood = "L1"
    /// Operations of which each depends on the one before, added as one list.
    case chain = "L2"
    /// Operations with a value, and one that receives all values.
    case fanIn = "L3"
    /// A group of groups. Foundation has no groups: there an operation that depends on all members stands for each.
    case groups = "L4"

    /// The workload with this id, in upper or lower case.
    public init?(id: String) {
        self.init(rawValue: id.uppercased())
    }

    public var id: String { rawValue }

    /// A word or two, for tables.
    public var name: String {
        switch self {
        case .flood: "flood"
        case .chain: "chain"
        case .fanIn: "fan-in"
        case .groups: "group of groups"
        }
    }

    /// The sizes that are measured unless others are asked for.
    public var standardSizes: [Int] {
        switch self {
        case .flood: [50_000]
        case .chain: [10_000, 100_000]
        case .fanIn: [10_000]
        case .groups: [10_000]
        }
    }

    /// All sizes worth a look, for those who have the time.
    public var allSizes: [Int] {
        switch self {
        case .flood: [10_000, 50_000, 1_000_000]
        case .chain: [10_000, 100_000, 1_000_000]
        case .fanIn, .groups: [10_000, 100_000]
        }
    }

    /// The most operations that Foundation is given, where its cost for each rises with their number: it looks
    /// through all that wait whenever one ends, which makes a chain quadratic.
    public var foundationMaximum: Int {
        switch self {
        case .flood, .fanIn: .max
        case .chain: 1_000
        case .groups: 10_000
        }
    }

    /// Which kinds of operations and which limits are measured.
    public var variants: [Variant] {
        switch self {
        case .flood, .chain, .groups:
            [
                Variant(kind: .subclass, limit: nil), Variant(kind: .subclass, limit: 2),
                Variant(kind: .block, limit: nil), Variant(kind: .block, limit: 2),
            ]
        case .fanIn:
            [Variant(kind: .subclass, limit: nil), Variant(kind: .subclass, limit: 2)]
        }
    }
}

/// One way of running a workload.
public struct Variant: Sendable, Hashable {
    public enum Kind: String, Sendable {
        /// Subclasses: a `VoidOperation` that finishes at once, and an `Operation` with an empty `main`.
        case subclass
        /// Closures: an `AOperationBlock` that finishes at once, and a `BlockOperation` that does nothing.
        case block
    }

    public var kind: Kind
    /// The `maxConcurrentOperationCount` of both queues; nil: the default of both, which is unlimited.
    public var limit: Int?

    public init(kind: Kind, limit: Int?) {
        self.kind = kind
        self.limit = limit
    }
}
