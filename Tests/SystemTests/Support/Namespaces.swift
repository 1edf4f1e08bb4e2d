import Foundation

/// Network namespaces in a star: hosts, as far as the network is concerned. The first one has a wire to each other one, and a
/// network of its own with it.
final class Namespaces: Sendable {
    /// Whether this machine lets us make them.
    static let areThere: Bool = {
        guard let hosts = try? Namespaces() else { return false }
        hosts.remove()
        return true
    }()

    private struct Failed: Error {
        let arguments: [String]
    }

    let names: [String]
    private let mark = String(UInt32.random(in: 0 ... .max), radix: 36)

    init(_ count: Int = 2) throws {
        names = (0..<count).map { [mark] in "aop-\($0)-\(mark)" }
        do {
            for name in names {
                try Self.ip("netns", "add", name)
                try Self.ip("-n", name, "link", "set", "lo", "up")
            }
            for host in 1..<count {
                try Self.ip("link", "add", hub(host), "netns", names[0], "type", "veth", "peer", "name", wire(host), "netns", names[host])
                try Self.ip("-n", names[0], "addr", "add", "\(Self.address(ofHubFor: host))/24", "dev", hub(host))
                try Self.ip("-n", names[host], "addr", "add", "\(Self.address(of: host))/24", "dev", wire(host))
                try Self.ip("-n", names[0], "link", "set", hub(host), "up")
                try Self.ip("-n", names[host], "link", "set", wire(host), "up")
            }
        } catch {
            remove()
            throw error
        }
    }

    /// Where a host reaches the first one.
    static func address(ofHubFor host: Int) -> String { "10.213.\(host).1" }
    static func address(of host: Int) -> String { "10.213.\(host).2" }

    private func hub(_ host: Int) -> String { "h\(host)\(mark)" }
    private func wire(_ host: Int) -> String { "w\(host)\(mark)" }

    /// Starts `aop` on one of the hosts.
    func start(_ harness: ProcessHarness, on host: Int, _ arguments: [String]) -> RunningProcess {
        harness.start(Self.program, ["netns", "exec", names[host], BuiltProducts.aop] + arguments)
    }

    /// Nothing gets to the host or from it any more, and nobody is told so.
    func cut(_ host: Int) throws { try Self.ip("-n", names[host], "link", "set", wire(host), "down") }

    /// The wire is whole again.
    func heal(_ host: Int) throws { try Self.ip("-n", names[host], "link", "set", wire(host), "up") }

    /// Whether this machine also lets us send what nobody hears; nil: it does, else why not.
    static let whyNotSilent: String? = {
        guard areThere else { return "this machine lets nobody make network namespaces" }
        do {
            let hosts = try Namespaces()
            defer { hosts.remove() }
            try hosts.silence(1)
            return nil
        } catch { return "this machine lets nobody set a neighbour's address: \(error)" }
    }()

    /// What is sent to the host or by it is lost on the way: wires, addresses and routes are as before, sending succeeds, and nobody is told
    /// anything. Each side takes the other one to be at an address of the wire where nobody is.
    func silence(_ host: Int) throws {
        for (name, wire, other) in ends(host) {
            try Self.ip("-n", name, "neigh", "replace", other, "lladdr", "02:00:00:00:00:99", "dev", wire, "nud", "permanent")
        }
    }

    /// The end of that.
    func endSilence(_ host: Int) throws {
        for (name, wire, other) in ends(host) { try Self.ip("-n", name, "neigh", "del", other, "dev", wire) }
    }

    private func ends(_ host: Int) -> [(name: String, wire: String, other: String)] {
        [(names[0], hub(host), Self.address(of: host)), (names[host], wire(host), Self.address(ofHubFor: host))]
    }

    /// The host has another address from now on; what it had under the old one is cut off.
    func readdress(_ host: Int) throws {
        try Self.ip("-n", names[host], "addr", "del", "\(Self.address(of: host))/24", "dev", wire(host))
        try Self.ip("-n", names[host], "addr", "add", "10.213.\(host).77/24", "dev", wire(host))
    }

    func remove() {
        for name in names { try? Self.ip("netns", "del", name) }
    }

    private static let program =
        ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/usr/sbin/ip"

    private static func ip(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments) }
    }
}
