import GraphFile
import Wire

/// Work that is run on a coordinator and a worker host, processes of this machine.
///
/// The operations do nothing, so that what is measured is what the cluster costs.
enum ClusterWorkload: String, CaseIterable, Sendable {
    /// Independent operations in one group.
    case flood = "W1"
    /// Operations one after another, each of which receives the value of the one before.
    case chain = "W2"
    /// The same of operations that may be computed again.
    case recomputableChain = "W2r"
    /// One producer, many that receive from it, and one that receives from all of those.
    case fan = "W3"
    /// Submissions of one operation, one after another.
    case latency = "W4"
    /// Commands.
    case commands = "W6"
    /// Operations that need one of ten keys.
    case contention = "W7"
    /// Submissions of one operation, one after another, while a flood runs.
    case fairness = "W9"

    /// The workload with this id, in upper or lower case.
    init?(id: String) {
        guard let workload = Self.allCases.first(where: { $0.id.uppercased() == id.uppercased() }) else { return nil }
        self = workload
    }

    var id: String { rawValue }

    /// A word or two, for tables.
    var name: String {
        switch self {
        case .flood: "flood"
        case .chain: "chain"
        case .recomputableChain: "recomputable chain"
        case .fan: "fan-out, fan-in"
        case .latency: "latency"
        case .commands: "commands"
        case .contention: "contention"
        case .fairness: "fairness"
        }
    }

    var standardSize: Int {
        switch self {
        case .flood: 50_000
        case .chain, .recomputableChain, .fan, .latency: 1_000
        case .commands: 2_000
        case .contention: 10_000
        case .fairness: 50_000
        }
    }

    var allSizes: [Int] {
        switch self {
        case .flood: [10_000, 50_000, 1_000_000]
        case .chain, .recomputableChain: [1_000, 10_000]
        case .fan, .latency, .commands, .contention: [standardSize]
        case .fairness: [50_000, 100_000]
        }
    }

    /// How many keys ``contention`` has.
    static let keys = 10

    /// The slots of the worker; of ``contention`` more than the machine has processors, so that keys are what is waited for.
    var slots: Int { self == .contention ? 8 : 2 }

    /// What is submitted, with `count` operations: of ``latency`` over and over, of ``fairness`` beside that.
    func graph(count: Int) throws -> WireGraph {
        let name = "\(id)-\(count)"
        return try GraphFileLoader.load(text: "{\"name\": \"\(name)\", \(root(count))}", file: name).graph
    }

    /// A graph of one operation.
    static func single() throws -> WireGraph {
        try GraphFileLoader.load(text: "{\"name\": \"one\", \"group\": [{\"op\": \"noop\"}]}", file: "one").graph
    }

    private func root(_ count: Int) -> String {
        func group(of nodes: some Sequence<String>, kind: String = "group") -> String {
            "\"\(kind)\": [\(nodes.joined(separator: ",\n"))]"
        }
        let range = 0..<count
        let value = "\"exec\": [\"/bin/echo\", \"1\"]"
        switch self {
        case .flood, .fairness:
            return group(of: range.lazy.map { _ in "{\"op\": \"noop\"}" })
        case .chain, .recomputableChain:
            return group(
                of: range.lazy.map {
                    $0 == 0 ? "{\"id\": \"n0\", \(value)}" : "{\"id\": \"n\($0)\", \"op\": \"noop\", \"receives\": \"n\($0 - 1)\"}"
                },
                kind: "ordered") + (self == .recomputableChain ? ", \"recomputable\": true" : "")
        case .fan:
            let receivers = range.map { "{\"id\": \"r\($0)\", \"op\": \"noop\", \"receives\": \"first\"}" }
            let all = range.map { "\"r\($0)\"" }.joined(separator: ",")
            return group(
                of: ["{\"id\": \"first\", \(value)}"] + receivers + ["{\"id\": \"last\", \"op\": \"noop\", \"receives\": [\(all)]}"])
        case .latency:
            return group(of: ["{\"op\": \"noop\"}"])
        case .commands:
            return group(of: range.lazy.map { _ in "{\"exec\": [\"/bin/true\"]}" })
        case .contention:
            return group(of: range.lazy.map { "{\"op\": \"noop\", \"exclusive\": \"k\($0 % Self.keys)\"}" })
        }
    }

    /// How many operations a run of it has.
    func operations(count: Int) -> Int { self == .fan ? count + 2 : count }
}
