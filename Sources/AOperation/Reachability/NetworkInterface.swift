import Foundation

/// A network interface of this machine.
struct NetworkInterface: Equatable, Sendable {
    let name: String
    /// What kind of connection it makes.
    let kind: Connection
    /// Its numeric addresses that others than its direct neighbours can answer to.
    var addresses: Set<String> = []
    /// Up and running, and not the loopback.
    var isUp = false

    /// Whether something beyond this machine may be reached through it.
    var isUsable: Bool { isUp && !addresses.isEmpty }

    /// All interfaces of this machine, those that are down and the loopback included; empty if the system does not
    /// tell.
    static func all() -> [NetworkInterface] {
        var head: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&head) == 0 else { return [] }
        defer { freeifaddrs(head) }
        var interfaces: [String: NetworkInterface] = [:]
        var next = head
        while let entry = next?.pointee {
            let name = String(cString: entry.ifa_name)
            var interface = interfaces[name] ?? NetworkInterface(name: name, kind: kind(of: name))
            let flags = entry.ifa_flags
            let isLoopback = flags & UInt32(IFF_LOOPBACK) != 0
            let needed = UInt32(IFF_UP | IFF_RUNNING)
            interface.isUp = flags & needed == needed && !isLoopback
            if let address = entry.ifa_addr.flatMap({ SocketAddress.text($0) }), !SocketAddress.isLinkLocal(address) {
                interface.addresses.insert(address)
            }
            interfaces[name] = interface
            next = entry.ifa_next
        }
        return interfaces.values.sorted { $0.name < $1.name }
    }

    /// Wireless interfaces are known to the kernel as such, those of mobile networks by their names.
    static func kind(of name: String, system: String = "/sys/class/net") -> Connection {
        let marks = ["wireless", "phy80211"]
        if marks.contains(where: { FileManager.default.fileExists(atPath: "\(system)/\(name)/\($0)") }) { return .wifi }
        return ["wwan", "wwp", "ppp"].contains { name.hasPrefix($0) } ? .cellular : .any
    }
}
