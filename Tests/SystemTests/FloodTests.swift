import Foundation
import Testing

extension SystemTests {
    /// Strangers who bring garbage, beside a client that may come in. By how much they slow it `make check-flood` measures.
    @Suite struct Floods {
        /// What a connection brings.
        private enum Garbage: CaseIterable {
            /// It is closed at once.
            case nothing
            /// Bytes of no protocol.
            case noise
            /// A greeting of ZMTP 3.0 that asks for no security.
            case plainGreeting
            /// A greeting that asks for CURVE, and a HELLO that nobody has signed.
            case forgedHello
            /// It stays and says nothing.
            case silence
        }

        private static let roundsOfEach = 60
        private static let openMax = 100
        /// Of the coordinator's memory, for everything that strangers and work leave there.
        private static let growthBytesMax = 128 << 20
        /// Of the log, in the minute that it takes at most.
        private static let linesMax = 100

        @Test func connectionsWithGarbage_stopNoWork_leaveNothingBehind_andAreCounted() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let worker = cluster.startWorker("--slots", "2")
                try await cluster.waitForExecutors(1)
                let graph = try harness.write(
                    "work.yaml", "name: work\ngroup:\n" + String(repeating: "  - {op: noop}\n", count: 50))
                func work() async throws { #expect(try await cluster.aop(as: "submit", "submit", graph, "--wait").status == 0) }
                try await work()
                let coordinator = try await cluster.coordinator.pid()
                let (files, memory) = (try openFiles(of: coordinator), try ProcessTable.residentBytes(of: coordinator))

                let port = try #require(UInt16(cluster.endpoint.split(separator: ":").last ?? ""))
                var flood = Flood(port: port, openMax: Self.openMax)
                for _ in 0..<4 {
                    async let worked: Void = work()
                    for _ in 0..<Self.roundsOfEach / 4 {
                        for garbage in Garbage.allCases { try flood.connect(bytes(of: garbage), stays: garbage != .nothing) }
                        await Task.yield()
                    }
                    try await worked
                }
                flood.end()

                try await eventually("the noise is counted", last: { cluster.coordinator.stderr }) {
                    total("handshake", cluster.coordinator.stderr) >= Self.roundsOfEach
                }
                try await eventually("those without a key are counted", last: { cluster.coordinator.stderr }) {
                    total("keyless", cluster.coordinator.stderr) >= Self.roundsOfEach
                }
                try await eventually("their files are closed", last: { "\((try? openFiles(of: coordinator)) ?? -1), and \(files) before" })
                {
                    // SQLite opens and closes some of its own.
                    try openFiles(of: coordinator) <= files + 8
                }
                let grown = try ProcessTable.residentBytes(of: coordinator) - memory
                #expect(grown <= Self.growthBytesMax, "it has \(grown) bytes more")
                let lines = cluster.coordinator.stderr.split(separator: "\n").count
                #expect(lines <= Self.linesMax, "\(cluster.coordinator.stderr)")
                try await work()
                try await cluster.waitForExecutors(1)
                #expect(try await cluster.coordinator.pid() == coordinator && kill(coordinator, 0) == 0, "\(worker.stderr)")
            }
        }

        private func bytes(of garbage: Garbage) -> [UInt8] {
            func greeting(_ mechanism: String) -> [UInt8] {
                // https://rfc.zeromq.org/spec/23/
                let name = Array(mechanism.utf8) + Array(repeating: 0, count: 20 - mechanism.utf8.count)
                return [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 0] + name + Array(repeating: 0, count: 32)
            }
            func noise(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 1) } }
            switch garbage {
            case .nothing, .silence: return []
            case .noise: return noise(1024)
            case .plainGreeting: return greeting("NULL") + [0x04, 0x06, 0x05] + Array("READY".utf8)
            case .forgedHello:
                let body = Array("\u{5}HELLO".utf8) + [1, 0] + Array(repeating: 0, count: 72) + noise(120)
                return greeting("CURVE") + [0x04, UInt8(body.count)] + body
            }
        }

        /// The last number that the log has of a kind; lines that are kept quiet are in it.
        private func total(_ kind: String, _ log: String) -> Int {
            log.matches(of: #/total=(\d+) \[\w+\] (\w+): /#).last { $0.2 == kind }.flatMap { Int($0.1) } ?? 0
        }

        /// Whoever connects needs no key to take a descriptor.
        @Test func connectionsThatTakeAllDescriptors_makeLargeValuesWait_andEndNothing() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let worker = cluster.startWorker("--slots", "2")
                try await cluster.waitForExecutors(1)
                let coordinator = cluster.coordinator
                let graph = try harness.write(
                    "large.yaml",
                    """
                    ordered:
                      - {id: make, run: 'while [ ! -e \(harness.directory)/go ]; do sleep 0.02; done; seq 30000 | tr -d "\\n"'}
                      - {id: use, receives: make, run: wc -c}

                    """)
                async let submit = cluster.aop(as: "submit", "submit", graph, "--wait", "-o", "json")
                try await eventually("it runs") { !harness.processes(with: "/go").isEmpty }
                let pid = try await coordinator.pid()
                let limit = try openFiles(of: pid) + 20
                let limited = harness.start("/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(limit):4096"])
                #expect(try await limited.finish().status == 0)
                let port = try #require(UInt16(cluster.endpoint.split(separator: ":").last ?? ""))
                var flood = Flood(port: port, openMax: 100)
                for _ in 0..<80 { try flood.connect([], stays: true) }
                try await eventually("no descriptor is left") { try openFiles(of: pid, below: limit) == limit }
                _ = try harness.write("go", "")
                try await eventually("it says what is missing", last: { coordinator.stderr }) {
                    coordinator.stderr.contains("no file can be opened")
                }
                flood.end()
                let outcome = try await submit
                #expect(outcome.status == 0, "\(outcome) \(coordinator.stderr) \(worker.stderr)")
                #expect(try JSON(parsing: outcome.text)["value"][1].string?.hasPrefix("138894") == true, "\(outcome.text)")
                #expect(try await coordinator.pid() == pid && kill(pid, 0) == 0)
            }
        }

        /// - Parameter number: only descriptors below it; these are what a limit is about.
        private func openFiles(of process: Int32, below number: Int = .max) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count { Int($0).map { $0 < number } ?? false }
        }
    }

    /// Connections over loopback, of which so many are open at a time.
    private struct Flood {
        let port: UInt16
        let openMax: Int
        private var open: [Int32] = []

        init(port: UInt16, openMax: Int) { (self.port, self.openMax) = (port, openMax) }

        mutating func connect(_ bytes: [UInt8], stays: Bool) throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(result == 0, "connecting: \(String(cString: strerror(errno)))")
            _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard stays else {
                close(descriptor)
                return
            }
            open.append(descriptor)
            if open.count > openMax { close(open.removeFirst()) }
        }

        mutating func end() {
            for descriptor in open { close(descriptor) }
            open = []
        }
    }
}
