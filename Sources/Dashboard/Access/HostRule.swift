import Glibc

/// Which names a request may call this server by.
///
/// A page of another site that has its own name point here (DNS rebinding) is told by that name. An address cannot be pointed
/// anywhere.
struct HostRule: Sendable {
    /// In lower case, without port.
    let names: Set<String>

    /// - Parameter names: what proxies and people call the host besides its own name.
    init(names: [String], hostName: String) {
        self.names = Set((names + [hostName, "localhost"]).map { $0.lowercased() })
    }

    /// - Parameter host: of the request, with port if it has one.
    func allows(_ host: String) -> Bool {
        guard let name = Self.name(of: host) else { return false }
        return names.contains(name) || Self.isAddress(name)
    }

    /// Without port, and without the brackets of an IPv6 address.
    private static func name(of host: String) -> String? {
        let host = host.lowercased()
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            return String(host[host.index(after: host.startIndex)..<end])
        }
        guard let colon = host.firstIndex(of: ":") else { return host.isEmpty ? nil : host }
        guard isPort(host[colon...]), colon > host.startIndex else { return nil }
        return String(host[..<colon])
    }

    private static func isPort(_ text: Substring) -> Bool { text.first == ":" && UInt16(text.dropFirst()) != nil }

    private static func isAddress(_ name: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1
    }
}
