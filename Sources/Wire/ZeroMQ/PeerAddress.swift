import Glibc

/// Addresses of hosts, as text.
public enum PeerAddress {
    /// Where a connection of this process comes from; nil: it is none over IP, or has ended.
    public static func of(fileDescriptor: Int32) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getpeername(fileDescriptor, address, &length) == 0 else { return nil }
                guard [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family)) else { return nil }
                var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
                return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
        }
    }

    /// Whether the text is an address of IP, and not what libzmq says of a process on the same host.
    static func isOfIP(_ text: String) -> Bool {
        var bytes = in6_addr()
        // A link-local address has its interface behind it.
        let address = String(text.prefix { $0 != "%" })
        return inet_pton(AF_INET, address, &bytes) == 1 || inet_pton(AF_INET6, address, &bytes) == 1
    }
}
