import Glibc
import Wire

/// What a coordinator's name stands for, where nobody answers at it.
enum HostNames {
    /// Why nobody can be reached by that name; nil: it has an IPv4 address, which is what is connected to, or it is none.
    ///
    /// - Parameter resolves: whether a name has an address of a family (`AF_INET`, `AF_INET6`); asks name servers by default, and waits for them.
    static func trouble(of endpoint: Endpoint, resolves: (String, Int32) -> Bool = HostNames.isThere) -> Finding? {
        guard let host = endpoint.host, let port = endpoint.port, !host.contains(":"), !resolves(host, AF_INET) else { return nil }
        guard resolves(host, AF_INET6) else {
            return Finding(
                .coordinator, .error, "the name \(host) stands for no address",
                remedy: "look into /etc/hosts and ask the name server (getent ahosts \(host)), or write the coordinator's address")
        }
        return Finding(
            .coordinator, .error, "the name \(host) stands for IPv6 addresses alone, and names are taken for IPv4",
            remedy: "write the address (getent ahostsv6 \(host)): tcp://[ADDRESS]:\(port)")
    }

    private static func isThere(_ host: String, _ family: Int32) -> Bool {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &found) == 0 else { return false }
        freeaddrinfo(found)
        return true
    }
}
