import Wire

/// What a worker has of something, as people write it: `gpus=2`, `memory=16GiB`.
package struct ResourceAmount: Sendable, Hashable {
    package let name: String
    package let amount: Int64

    /// A text that is none: what to write instead.
    package struct Refusal: Error, Hashable, Sendable {
        package let remedy: String
    }

    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
        ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("KB", 1_000), ("B", 1),
    ]
    /// 1 PiB.
    private static let amountMax: Int64 = 1 << 50

    /// - Throws: ``Refusal``.
    package init(_ text: String) throws(Refusal) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Refusal(remedy: "write it as gpus=2 or memory=16GiB") }
        let name = String(parts[0])
        guard ResourceName.isSound(name) else {
            throw Refusal(remedy: "`\(name)` cannot name a resource: use lower-case letters, digits and `_`, a letter first")
        }
        guard let amount = Self.amount(of: String(parts[1])), (0...Self.amountMax).contains(amount) else {
            throw Refusal(remedy: "the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB")
        }
        (self.name, self.amount) = (name, amount)
    }

    private static func amount(of text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(digits.count)
        guard let number = Int64(digits) else { return nil }
        if rest.isEmpty { return number }
        guard let unit = units.first(where: { $0.name == rest }) else { return nil }
        let (product, overflows) = number.multipliedReportingOverflow(by: unit.bytes)
        return overflows ? nil : product
    }
}
