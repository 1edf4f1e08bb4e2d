import ArgumentParser
import CLinux
import Foundation
import Settings
import Wire

extension WorkerOptions {
    /// Checks values of `--label` and `--resource`.
    ///
    /// - Throws: a `ValidationError` that names the flag and its value.
    public static func validate(labels: [String], resources: [String]) throws {
        _ = try Self.resources(resources)
        for label in labels where label.isEmpty || label.utf8.count > 256 {
            throw ValidationError("--label \"\(label)\": a label has from 1 to 256 bytes")
        }
    }

    /// What this host has, by name: as it was said, and otherwise its processors and its memory.
    static func resources(_ arguments: [String]) throws -> [String: Int64] {
        var named: [String: Int64] = [:]
        for text in arguments {
            let (name, amount) = try ResourceArgument.read(text)
            guard named.updateValue(amount, forKey: name) == nil else {
                throw ValidationError("--resource \(text): `\(name)` is named twice")
            }
        }
        let standard = [
            "cpus": Int64(clinux_processor_count()), ResourceName.memory: Int64(clamping: ProcessInfo.processInfo.physicalMemory),
        ]
        return standard.merging(named) { $1 }
    }
}

/// `gpus=2`, `memory=16GiB`.
enum ResourceArgument {
    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
        ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("KB", 1_000), ("B", 1),
    ]
    /// 1 PiB.
    private static let amountMax: Int64 = 1 << 50

    static func read(_ text: String) throws -> (name: String, amount: Int64) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw ValidationError("--resource \(text): write it as gpus=2 or memory=16GiB") }
        let name = String(parts[0])
        guard ResourceName.isSound(name) else {
            throw ValidationError(
                "--resource \(text): `\(name)` cannot name a resource; use lower-case letters, digits and `_`, a letter first")
        }
        guard let amount = amount(of: String(parts[1])), (0...amountMax).contains(amount) else {
            throw ValidationError("--resource \(text): the amount must be a whole number from 0, or a size such as 16GiB, up to 1 PiB")
        }
        return (name, amount)
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
