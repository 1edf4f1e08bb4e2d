import Foundation
import Testing
import Wire

extension SystemTests {
    /// Inputs made to be too much: each is refused with the limit named, and none costs what it pretends to be.
    @Suite struct Monsters {
        /// Runs `aop check` on a file, in an address space of two gigabytes.
        private func check(_ name: String, _ content: [UInt8], _ harness: ProcessHarness) async throws -> Finished {
            let path = "\(harness.directory)/\(name)"
            try Data(content).write(to: URL(fileURLWithPath: path))
            return try await harness.start(
                "/bin/bash", ["-c", #"ulimit -v 2097152; exec "$0" check "$1""#, BuiltProducts.aop, path]
            ).finish()
        }

        @Test func nestingOfAMillion_isRefused() async throws {
            try await ProcessHarness.with { harness in
                let deep = Array(String(repeating: "[", count: 1_000_000).utf8)
                let refused = try await check("deep.yaml", deep, harness)
                #expect(refused.status == 6 && refused.stderr.contains("nested more than 4000 deep"), "\(refused)")
                let groups = Array((String(repeating: #"{"group":["#, count: 3_000) + String(repeating: "]}", count: 3_000)).utf8)
                let nested = try await check("groups.json", groups, harness)
                #expect(nested.status == 6 && nested.stderr.contains("1000 deep"), "\(nested)")
            }
        }

        @Test func billionLaughs_areRefused() async throws {
            try await ProcessHarness.with { harness in
                var text = "vars:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n"
                for (one, next) in zip("abcdefghi", "bcdefghij") {
                    text += "  \(next): &\(next) [\(Array(repeating: "*\(one)", count: 10).joined(separator: ", "))]\n"
                }
                let refused = try await check("laughs.yaml", Array((text + "group:\n  - {run: x}\n").utf8), harness)
                #expect(refused.status == 6 && refused.stderr.contains("more than 10000000 values"), "\(refused)")
            }
        }

        @Test func graphOfMillionsOfNodes_isRefused() async throws {
            try await ProcessHarness.with { harness in
                let nodes =
                    [UInt8](#"{"group":["#.utf8) + [[UInt8]](repeating: Array("1,".utf8), count: 10_000_000).joined() + Array("1]}".utf8)
                let refused = try await check("nodes.json", nodes, harness)
                #expect(refused.status == 6 && refused.stderr.contains("more than 1000000 entries"), "\(refused)")
                let large = [UInt8](repeating: 0x20, count: 65 << 20)
                let file = try await check("large.yaml", large, harness)
                #expect(file.status == 6 && file.stderr.contains("larger than 64 MiB"), "\(file)")
            }
        }

        /// A frame of two gigabytes, and a graph of ten million empty nodes, from a peer that knows no limits.
        @Test func frameOfTwoGigabytes_isNotTakenIn_andTheCoordinatorGoesOn() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                let pid = try await coordinator.pid()
                _ = try await harness.aop("list", "-o", "json")
                let before = try residentMebibytes(pid)
                try await onOwnThread { try Self.send(Data(count: 2 << 30), to: harness.endpoint) }
                // 16 MiB of empty nodes, in the place of a hello.
                let nodes = [UInt8]([[UInt8]](repeating: [0x12, 0], count: 7 << 20).joined())
                try await onOwnThread { try Self.send(Data(nodes), to: harness.endpoint) }
                #expect(try await harness.aop("list", "-o", "json").status == 0, "it goes on")
                let after = try residentMebibytes(pid)
                #expect(after - before < 128, "\(before) MiB before, \(after) after")
                #expect(coordinator.stderr.isEmpty || coordinator.stderr.contains("helloBytes"), "\(coordinator.stderr)")
            }
        }

        private func onOwnThread(_ body: @escaping @Sendable () throws -> Void) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let thread = Thread { continuation.resume(with: Result { try body() }) }
                thread.start()
            }
        }

        /// Connects, sends one frame, and waits until the connection has ended or the frame was taken.
        private static func send(_ frame: Data, to endpoint: String) throws {
            let context = try ZMQContext()
            let socket = try DealerSocket(context: context)
            let monitor = try socket.makeMonitor()
            var poller = Poller()
            let token = poller.add(monitor)
            try socket.connect(try Endpoint(endpoint))
            let deadline = BootClock.milliseconds() + 60_000
            var isSent = false
            wait: while BootClock.milliseconds() < deadline {
                if try poller.wait(timeoutMilliseconds: 100).isReadable(token) {
                    while let event = try monitor.receive() {
                        if case .disconnected = event { break wait }
                    }
                }
                if !isSent { isSent = try socket.send([Buffer(frame)]) == .sent }
                if isSent, frame.count < 32 << 20, BootClock.milliseconds() > deadline - 58_000 { break }
            }
            #expect(isSent)
            #expect(BootClock.milliseconds() < deadline, "the connection is ended, or the frame taken")
            socket.stopMonitoring()
            monitor.close()
            socket.close()
            context.terminate()
        }

        private func residentMebibytes(_ pid: Int32) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) / 1024
        }
    }
}
