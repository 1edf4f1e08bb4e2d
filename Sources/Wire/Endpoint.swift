import Glibc

/// Where a coordinator listens: `tcp://HOST:PORT`, `ipc:///PATH` or, within one process, `inproc://NAME`.
///
/// ```swift
/// let endpoint = try Endpoint("tcp://127.0.0.1:7600")
/// ```
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    private enum Address: Sendable, Hashable {
        /// `port` 0 asks for any free one (written `*` on the wire to libzmq).
        case tcp(host: String, port: UInt16)
        /// An absolute path, or `@name` in Linux's abstract namespace.
        case ipc(path: String)
        case inproc(name: String)
    }

    private let address: Address

    /// Where a coordinator listens, and its peers look for it, unless told otherwise.
    public static let standard = Endpoint(address: .tcp(host: "127.0.0.1", port: 7600))

    private init(address: Address) { self.address = address }

    /// Reads an endpoint as people write it.
    ///
    /// - Throws: ``EndpointError`` that quotes `text` and says what it should look like.
    public init(_ text: String) throws(EndpointError) {
        guard let separator = text.firstRange(of: "://") else {
            throw EndpointError(text: text, problem: "has no scheme", remedy: "write tcp://\(text.isEmpty ? "HOST:PORT" : text)")
        }
        let rest = text[separator.upperBound...]
        switch text[..<separator.lowerBound] {
        case "tcp": address = try Self.tcp(rest, in: text)
        case "ipc": address = try Self.ipc(rest, in: text)
        case "inproc":
            guard !rest.isEmpty, rest.utf8.count <= 200 else {
                throw EndpointError(text: text, problem: "needs a name of 1 to 200 bytes", remedy: "write inproc://NAME")
            }
            address = .inproc(name: String(rest))
        case let scheme:
            throw EndpointError(text: text, problem: "has the unknown scheme `\(scheme)`", remedy: "use tcp://HOST:PORT or ipc:///PATH")
        }
    }

    /// Reads an endpoint that is in another process.
    ///
    /// - Throws: ``EndpointError``, also of one that only its own process reaches.
    public init(ofOtherProcess text: String) throws(EndpointError) {
        try self.init(text)
        guard !isWithinProcess else {
            throw EndpointError(
                text: text, problem: "is reached from within its own process only", remedy: "write tcp://HOST:PORT or ipc:///PATH")
        }
    }

    /// Whether no other process can reach it: inproc.
    public var isWithinProcess: Bool { if case .inproc = address { true } else { false } }

    /// Whether only processes of this host can reach it: ipc, inproc, 127.0.0.0/8, ::1 and `localhost`.
    public var isLoopback: Bool {
        switch address {
        case .ipc, .inproc: true
        case .tcp(let host, _): Self.isLoopback(host: host)
        }
    }

    /// Whether it says where to listen, and not where to connect: all addresses of the host, or any free port.
    public var isForListeners: Bool {
        guard case .tcp(let host, let port) = address else { return false }
        return port == 0 || ["0.0.0.0", "::", "*"].contains(host)
    }

    /// The host of a tcp endpoint, as it was written, without brackets.
    public var host: String? {
        guard case .tcp(let host, _) = address else { return nil }
        return host
    }

    /// The port of a tcp endpoint; 0: any free one.
    public var port: UInt16? {
        guard case .tcp(_, let port) = address else { return nil }
        return port
    }

    /// With the same port, for processes of this host only; itself where it has none.
    public var onLoopback: Endpoint {
        guard case .tcp(_, let port) = address else { return self }
        return Endpoint(address: .tcp(host: "127.0.0.1", port: port))
    }

    /// The file of an ipc endpoint; nil for tcp, inproc and abstract sockets.
    public var path: String? {
        guard case .ipc(let path) = address, path.hasPrefix("/") else { return nil }
        return path
    }

    public var description: String {
        switch address {
        case .tcp(let host, let port): "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .ipc(let path): "ipc://\(path)"
        case .inproc(let name): "inproc://\(name)"
        }
    }

    /// As libzmq wants it: any free port is `*`.
    var zmqText: String {
        guard case .tcp(let host, 0) = address else { return description }
        return "tcp://\(host.contains(":") ? "[\(host)]" : host):*"
    }

    /// Whether the sockets that use it must be allowed to use IPv6.
    var needsIPv6: Bool {
        guard case .tcp(let host, _) = address else { return false }
        return host.contains(":")
    }

    private static func tcp(_ rest: Substring, in text: String) throws(EndpointError) -> Address {
        guard let colon = rest.lastIndex(of: ":"), !rest.hasSuffix("]") else {
            throw EndpointError(text: text, problem: "has no port", remedy: "write \(text):7600")
        }
        var host = String(rest[..<colon])
        let portText = rest[rest.index(after: colon)...]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw EndpointError(text: text, problem: "has an IPv6 address without brackets", remedy: "write tcp://[ADDRESS]:PORT")
        }
        guard !host.isEmpty, host.utf8.count <= 253,
            host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ";") })
        else {
            throw EndpointError(text: text, problem: "has no valid host", remedy: "write tcp://HOST:PORT, e.g. \(Endpoint.standard)")
        }
        if portText == "*" { return .tcp(host: host, port: 0) }
        guard portText.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = UInt16(portText) else {
            throw EndpointError(
                text: text, problem: "has the port `\(portText)`", remedy: "use a number from 1 to 65535, or 0 to listen on any free port")
        }
        return .tcp(host: host, port: port)
    }

    private static func ipc(_ rest: Substring, in text: String) throws(EndpointError) -> Address {
        guard rest.hasPrefix("/") || (rest.hasPrefix("@") && rest.count > 1) else {
            throw EndpointError(text: text, problem: "does not name an absolute path", remedy: "write ipc:///run/user/1000/aop.sock")
        }
        // sockaddr_un.sun_path, with its closing zero.
        guard rest.utf8.count <= 107 else {
            throw EndpointError(
                text: text, problem: "has a path of \(rest.utf8.count) bytes; Linux allows 107 for a socket",
                remedy: "choose a shorter directory")
        }
        return .ipc(path: String(rest))
    }

    private static func isLoopback(host: String) -> Bool {
        if host == "localhost" { return true }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        return withUnsafeBytes(of: &six) { bytes in
            let zeros = bytes[0..<10].allSatisfy { $0 == 0 }
            let isOne = zeros && bytes[10..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
            let isMapped127 = zeros && bytes[10] == 0xff && bytes[11] == 0xff && bytes[12] == 127
            return isOne || isMapped127
        }
    }
}

/// A text that is not an endpoint.
public struct EndpointError: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public let problem: String
    public let remedy: String

    public var description: String { "the endpoint `\(text)` \(problem); \(remedy)" }
}
