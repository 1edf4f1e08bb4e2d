import Foundation

/// Two network namespaces with a wire between them: two hosts, as far as the network is concerned.
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
    let addresses = ["10.213.77.1", "10.213.77.2"]

    init() throws {
        let mark = String(UInt32.random(in: 0 ... .max), radix: 36)
        names = ["aop-a-\(mark)", "aop-b-\(mark)"]
        do {
            for name in names { try Self.ip("netns", "add", name) }
            let ends = ["aa\(mark)", "ab\(mark)"]
            try Self.ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
            for (index, name) in names.enumerated() {
                try Self.ip("-n", name, "addr", "add", "\(addresses[index])/24", "dev", ends[index])
                try Self.ip("-n", name, "link", "set", ends[index], "up")
                try Self.ip("-n", name, "link", "set", "lo", "up")
            }
        } catch {
            remove()
            throw error
        }
    }

    /// Starts `aop` on one of the hosts.
    func start(_ harness: ProcessHarness, on host: Int, _ arguments: [String]) -> RunningProcess {
        harness.start(Self.program, ["netns", "exec", names[host], BuiltProducts.aop] + arguments)
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
