import Foundation

/// What is to be reached.
enum ReachabilityTarget: Equatable, Sendable {
    /// Anything beyond this machine.
    case network
    case host(String, port: UInt16)
    /// The URL names no host, or no port.
    case unusable(reason: String)

    init(_ url: URL?) {
        guard let url else {
            self = .network
            return
        }
        let scheme = url.scheme?.lowercased() ?? ""
        guard let host = url.host, !host.isEmpty else {
            self = .unusable(reason: "the URL names no host; give it the form https://host or tcp://host:port")
            return
        }
        guard let port = url.port ?? Self.ports[scheme] else {
            self = .unusable(reason: "the URL of \(host) names no port, and the scheme \"\(scheme)\" has no known one")
            return
        }
        guard let number = UInt16(exactly: port), number > 0 else {
            self = .unusable(reason: "the URL of \(host) names the port \(port); it must be between 1 and 65535")
            return
        }
        self = .host(host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: number)
    }

    private static let ports = ["http": 80, "ws": 80, "https": 443, "wss": 443]
}

extension ReachabilityTarget: CustomStringConvertible {
    /// At the beginning of a sentence.
    var description: String {
        switch self {
        case .network: "The network"
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unusable: "The URL"
        }
    }
}
