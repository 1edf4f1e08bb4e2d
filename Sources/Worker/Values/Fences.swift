import Foundation
import Wire

/// The fencing tokens of an attempt, by the key that it runs under.
struct Fences: Sendable, Equatable {
    let tokens: [String: UInt64]

    init(_ tokens: [String: UInt64] = [:]) { self.tokens = tokens }

    init(_ fences: [WireFence]) {
        tokens = Dictionary(fences.map { ($0.key, $0.token) }) { $1 }
    }

    /// What a command is told: each token under a name of its own, and all of them as JSON. Empty without a key.
    func environment() throws -> [String: String] {
        guard !tokens.isEmpty else { return [:] }
        var environment: [String: String] = [:]
        for (key, token) in tokens { environment[Self.environmentName(of: key)] = String(token) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        environment["AOP_FENCES"] = String(decoding: try encoder.encode(tokens.mapValues { String($0) }), as: UTF8.self)
        return environment
    }

    /// `AOP_FENCE_` and the key in upper case, with `_` for everything outside A–Z and 0–9. The coordinator refuses
    /// operations of whose keys two have one name.
    static func environmentName(of key: String) -> String {
        var name = "AOP_FENCE_"
        for scalar in key.unicodeScalars {
            switch scalar {
            case "A"..."Z", "0"..."9": name.unicodeScalars.append(scalar)
            case "a"..."z": name.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) - 32))
            default: name.append("_")
            }
        }
        return name
    }
}
