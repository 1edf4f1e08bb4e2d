import Foundation
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
    /// Large values, each handed on to an operation that receives it.
    case payload = "W5"
    /// Commands.
    case commands = "W6"
    /// Operations that need one of ten keys.
    case contention = "W7"
    /// Groups of groups, as large as a graph may be, whose coordinator is killed in the middle.
    case scale = "W8"
    /// Submissions of one operation, one after another, while a flood runs.
    case fairness = "W9"
    /// Short chains, one after another, while a flood runs on far more slots than the machine has processors.
    case wideFairness = "W9w"

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
        case .payload: "payload"
        case .commands: "commands"
        case .contention: "contention"
        case .scale: "scale"
        case .fairness: "fairness"
        case .wideFairness: "fairness of 64 slots"
        }
    }

    var standardSize: Int {
        switch self {
        case .flood: 50_000
        case .chain, .recomputableChain, .fan, .latency, .payload: 1_000
        case .commands: 2_000
        case .contention: 10_000
        case .scale: 100_000
        case .fairness: 50_000
        case .wideFairness: 100_000
        }
    }

    var allSizes: [Int] {
        switch self {
        case .flood: [10_000, 50_000, 1_000_000]
        case .chain, .recomputableChain: [1_000, 10_000]
        case .fan, .latency, .payload, .commands, .contention: [standardSize]
        case .scale: [100_000, 1_000_000]
        case .fairness: [50_000, 100_000]
        case .wideFairness: [standardSize]
        }
    }

    /// How many keys ``contention`` has.
    static let keys = 10

    /// The executors of the worker.
    var processes: Int { self == .wideFairness ? 4 : 1 }

    /// The slots of each executor; of ``contention`` more than the machine has processors, so that keys are what is waited for.
    var slots: Int {
        switch self {
        case .contention: 8
        case .wideFairness: 16
        case .flood, .chain, .recomputableChain, .fan, .latency, .payload, .commands, .scale, .fairness: 2
        }
    }

    /// What is submitted over and over before and beside a flood; nil: nothing is.
    var probe: Probe? {
        switch self {
        case .fairness: Probe(count: 100, operations: 1)
        case .wideFairness: Probe(count: 20, operations: 10)
        case .flood, .chain, .recomputableChain, .fan, .latency, .payload, .commands, .contention, .scale: nil
        }
    }

    /// Submissions of a few operations one after another.
    struct Probe {
        let count: Int
        let operations: Int

        func graph() throws -> WireGraph {
            let nodes = repeatElement("{\"op\": \"noop\"}", count: operations).joined(separator: ",")
            return try GraphFileLoader.load(text: "{\"name\": \"probe\", \"ordered\": [\(nodes)]}", file: "probe").graph
        }
    }

    /// Bytes of each value of ``payload``: more than travels within messages.
    static let payloadBytes = 100 << 10

    /// What is submitted, with `count` operations: of ``latency`` over and over, of ``fairness`` and ``wideFairness`` beside others; of ``payload`` so many values, of
    /// ``scale`` so many units, the groups among them.
    ///
    /// - Parameter directory: where the values of ``payload`` come from, see ``writeValues(count:in:)``.
    func graph(count: Int, directory: String = "") throws -> WireGraph {
        let name = "\(id)-\(count)"
        return try GraphFileLoader.load(text: "{\"name\": \"\(name)\", \(try root(count, directory))}", file: name).graph
    }

    /// The files of which the operations of ``payload`` are the content: no two alike, since what is the same is stored once.
    static func writeValues(count: Int, in directory: String) throws {
        let random = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        defer { try? random.close() }
        for index in 0..<count {
            // A whole value at a time: the standard generator asks the system for each eight bytes.
            let value = try random.read(upToCount: payloadBytes) ?? Data()
            try value.write(to: URL(fileURLWithPath: "\(directory)/v\(index)"))
        }
    }

    private func root(_ count: Int, _ directory: String) throws -> String {
        func group(of nodes: some Sequence<String>, kind: String = "group") -> String {
            "\"\(kind)\": [\(nodes.joined(separator: ",\n"))]"
        }
        let range = 0..<count
        let value = "\"exec\": [\"/bin/echo\", \"1\"]"
        switch self {
        case .flood, .fairness, .wideFairness:
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
        case .payload:
            let path = String(decoding: try JSONEncoder().encode("\(directory)/v").dropLast(), as: UTF8.self)
            return group(
                of: range.lazy.flatMap {
                    [
                        "{\"id\": \"v\($0)\", \"op\": \"readFile\", \"with\": {\"path\": \(path)\($0)\"}}",
                        "{\"op\": \"noop\", \"receives\": \"v\($0)\"}",
                    ]
                })
        case .commands:
            return group(of: range.lazy.map { _ in "{\"exec\": [\"/bin/true\"]}" })
        case .contention:
            return group(of: range.lazy.map { "{\"op\": \"noop\", \"exclusive\": \"k\($0 % Self.keys)\"}" })
        case .scale:
            let (groups, operations) = (Self.groups(count), operations(count: count))
            return group(
                of: (0..<groups).lazy.map { index in
                    let members = operations * (index + 1) / groups - operations * index / groups
                    return "{\(group(of: repeatElement("{\"op\": \"noop\"}", count: members)))}"
                })
        }
    }

    /// How many operations a run of it has.
    func operations(count: Int) -> Int {
        switch self {
        case .fan: count + 2
        case .payload: 2 * count
        case .scale: max(1, count - Self.groups(count) - 1)
        case .flood, .chain, .recomputableChain, .latency, .commands, .contention, .fairness, .wideFairness: count
        }
    }

    /// How many groups of ``scale`` are in its outermost one, each of about as many operations.
    private static func groups(_ count: Int) -> Int { max(1, Int(Double(count).squareRoot())) }
}
