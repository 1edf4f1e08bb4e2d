/// A lock that a node names: at most `limit` operations hold it at once, in the whole cluster.
public struct Exclusion: Hashable, Sendable {
    public var key: String
    /// 1: mutual exclusion; more: a semaphore. Where those that hold a key or wait for it name different limits, the
    /// smallest counts.
    public var limit: Int

    public init(key: String, limit: Int = 1) {
        self.key = key
        self.limit = limit
    }

    /// What a command calls the key's fencing token: `AOP_FENCE_` and the key in upper case, with `_` for everything
    /// outside A–Z and 0–9. Workers name it in the same way.
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

extension Node {
    /// The locks that it names.
    var exclusive: [Exclusion] { hasOptions ? options.exclusive : [] }
}

/// The token of an attempt for one of the keys that it runs under.
public struct Fence: Hashable, Sendable {
    public var key: String
    /// Rises with every attempt under the key, for ever: the epoch in the upper 32 bits.
    public var token: UInt64

    public init(key: String, token: UInt64) {
        self.key = key
        self.token = token
    }
}
