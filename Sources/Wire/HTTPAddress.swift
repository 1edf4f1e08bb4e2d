/// Where HTTP is served: `127.0.0.1:7601`, `[::1]:7601`; port 0 takes any free one.
public struct HTTPAddress: Sendable, Hashable, CustomStringConvertible {
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`.
    ///
    /// - Throws: ``HTTPAddressError``, which quotes the text.
    public init(_ text: String) throws(HTTPAddressError) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw HTTPAddressError(text: text)
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw HTTPAddressError(text: text)
        }
        guard !host.isEmpty else { throw HTTPAddressError(text: text) }
        self.init(host: host, port: Int(port))
    }

    /// Whether only processes of this host can reach it.
    public var isLoopback: Bool {
        let bracketed = host.contains(":") ? "[\(host)]" : host
        do { return try Endpoint("tcp://\(bracketed):\(port)").isLoopback } catch { return false }
    }

    public var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// A text that is no ``HTTPAddress``.
public struct HTTPAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String

    public init(text: String) { self.text = text }

    /// What to write instead.
    public var remedy: String { "write HOST:PORT, e.g. 127.0.0.1:7601" }
    public var description: String { "`\(text)` is no address for HTTP; \(remedy)" }
}
