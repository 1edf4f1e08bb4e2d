/// So much of a resource: of `memory` bytes, of others what the operator counts.
public struct ResourceAmount: Hashable, Sendable {
    /// `cpus`, `gpus`, `memory`, or a name of the operator's own: lower-case letters, digits and `_`, a letter first.
    public var name: String
    public var amount: Int64

    public init(name: String, amount: Int64) {
        self.name = name
        self.amount = amount
    }
}

/// What a worker must have to run a node.
public struct Requirements: Hashable, Sendable {
    /// Labels of the worker, all of them: sorted, each once.
    public private(set) var labels: [String]
    /// Sorted by name. An amount of 0 takes back what a group around the node asks for.
    public private(set) var resources: [ResourceAmount]

    /// - Precondition: no resource is named twice.
    public init(labels: [String] = [], resources: [ResourceAmount] = []) {
        // Most nodes of most graphs require nothing, and each has one of these while it is read.
        self.labels = labels.count > 1 ? Set(labels).sorted() : labels
        self.resources = resources.count > 1 ? resources.sorted { $0.name < $1.name } : resources
    }

    public var isEmpty: Bool { labels.isEmpty && resources.isEmpty }

    /// As they hold inside of a group that has `outer`: labels add up, an own amount takes the place of the group's.
    func inside(_ outer: Requirements) -> Requirements {
        let own = Set(resources.map(\.name))
        return Requirements(labels: labels + outer.labels, resources: resources + outer.resources.filter { !own.contains($0.name) })
    }

    /// What an operation asks for: what was taken back is left out.
    var ofOperation: Requirements { Requirements(labels: labels, resources: resources.filter { $0.amount > 0 }) }

    /// Where the conditions of a group are evaluated.
    var ofGroup: Requirements { Requirements(labels: labels) }

    /// "4 gpus, 2 GiB of memory and the label `fast`"
    var text: String {
        let parts = resources.map(\.text) + labels.map { "the label `\($0)`" }
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "nothing" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }

    /// The flags of a worker that has it.
    var flags: String {
        (resources.map { "--resource \($0.name)=\($0.isMemory ? ByteCount.exact($0.amount) : "\($0.amount)")" }
            + labels.map { "--label \($0)" }).joined(separator: " ")
    }
}

extension ResourceAmount {
    static let memory = "memory"

    var isMemory: Bool { name == Self.memory }

    /// Whether each attempt that has some of it is told which: numbers from 0.
    var isNumbered: Bool { !isMemory && amount <= Self.numberedMax }

    /// Larger amounts are sizes or rates, and nobody counts them one by one.
    private static let numberedMax: Int64 = 1_024

    /// "4 gpus", "2 GiB of memory", "`licence` 3"
    var text: String {
        switch name {
        case Self.memory: "\(ByteCount.text(amount)) of memory"
        case "cpus", "gpus": "\(amount) \(amount == 1 ? String(name.dropLast()) : name)"
        default: "\(amount) of `\(name)`"
        }
    }

    /// What is wrong with the name; nil: nothing.
    static func problem(withName name: String) -> String? {
        let isSound =
            name.utf8.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? false
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "_")
            }
        if !isSound { return "the name `\(name)` of a resource must be lower-case letters, digits and `_`, a letter first" }
        if name.utf8.count > 64 { return "the name of a resource has \(name.utf8.count) bytes; at most 64 are possible" }
        return name == "label" || name == "labels" ? "`\(name)` names no resource" : nil
    }
}

/// Sizes as people write them.
enum ByteCount {
    private static let units: [(name: String, bytes: Int64)] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

    /// "2 GiB", "1.5 GiB", "700 bytes"; rounded down to tenths.
    static func text(_ bytes: Int64) -> String {
        guard let unit = units.first(where: { bytes >= $0.bytes }) else { return "\(bytes) byte\(bytes == 1 ? "" : "s")" }
        let whole = bytes / unit.bytes
        let tenths = (bytes % unit.bytes) / (unit.bytes / 1_024) * 10 / 1_024
        return tenths == 0 ? "\(whole) \(unit.name)" : "\(whole).\(tenths) \(unit.name)"
    }

    /// "2GiB", or bytes where nothing shorter says the same.
    static func exact(_ bytes: Int64) -> String {
        guard bytes > 0, let unit = units.first(where: { bytes.isMultiple(of: $0.bytes) }) else { return "\(bytes)" }
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}

extension [ResourceAmount] {
    func amount(of name: String) -> Int64 { first { $0.name == name }?.amount ?? 0 }
}
