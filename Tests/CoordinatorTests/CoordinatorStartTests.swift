import Foundation
import Testing
import Wire

@testable import Coordinator

@Suite struct CoordinatorStartTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    init() throws { temporary = try TemporaryDirectory() }

    @Test func endpointOffLoopback_isRefusedBeforeAnythingIsTouched() throws {
        var configuration = CoordinatorConfiguration(dataDirectory: path)
        configuration.endpoints = [try Endpoint("tcp://0.0.0.0:7611")]
        let error = try #require(throws: CoordinatorError.self) {
            try CoordinatorService(configuration, logger: TestCoordinator.quiet)
        }
        #expect(
            "\(error)" == """
                refusing to listen on tcp://0.0.0.0:7611: other hosts could reach it, and there are no keys; run \
                `aop keys init`, or listen on tcp://127.0.0.1:7611
                """)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func addressInUse_isSaid() async throws {
        let other = temporary.path + "/other"
        try await TestCoordinator.run(in: path) { coordinator in
            let found = WorkQueue<String>()
            Task {
                do {
                    try await TestCoordinator.run(in: other, { $0.endpoints = [coordinator.endpoint] }) { _ in }
                    found.post("no error")
                } catch { found.post("\(error)") }
            }
            guard case .jobs(let errors) = found.take() else { return }
            #expect(errors == ["another process listens on \(coordinator.endpoint); stop it, or choose another address"])
        }
    }

    @Test func directoryInUse_isSaid() async throws {
        let path = path
        let lock = try DataDirectory(path: path)
        let error = try await #require(throws: CoordinatorError.self) { try await TestCoordinator.run(in: path) { _ in } }
        guard case .dataDirectory(.inUse) = error else {
            Issue.record("\(error)")
            return
        }
        withExtendedLifetime(lock) {}
    }

    /// A pipe is in the place of SQLite's log, which nobody writes into.
    @Test(.timeLimit(.minutes(2))) func coordinatorThatIsToldToEnd_whileItsStartIsBlocked_ends() async throws {
        let path = path
        _ = try DataDirectory(path: path)
        let pipe = path + "/journal.sqlite-wal"
        try #require(mkfifo(pipe, 0o600) == 0)
        var configuration = CoordinatorConfiguration(dataDirectory: path)
        configuration.endpoints = [try Endpoint("ipc://\(temporary.path)/socket")]
        let service = try CoordinatorService(configuration, logger: TestCoordinator.quiet)
        let running = Task { try await service.run() }
        running.cancel()
        try await running.value
        await #expect(throws: CoordinatorError.self) { try await service.addresses }
        // What it waited for comes: its thread ends, and nothing of it is left.
        let writer = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let deadline = BootClock.milliseconds() + 60_000
        try await onThread {
            while (try? DataDirectory(path: path)) == nil { try #require(BootClock.milliseconds() < deadline, "it is still locked") }
        }
    }

    @Test(arguments: ["127.0.0.1:7601", "[::1]:80", "localhost:0"]) func httpAddress_isRead(text: String) throws {
        let address = try HTTPAddress(text)
        #expect("\(address)" == text && address.isLoopback)
    }

    @Test(arguments: ["", "7601", "127.0.0.1", ":7601", "::1:80", "a:70000", "a:b"])
    func badHTTPAddress_isRefused(text: String) {
        #expect(throws: HTTPAddressError(text: text)) { try HTTPAddress(text) }
    }

    @Test func emptyJournal_isStartedWith() throws {
        let recovery = try Recovery(CoordinatorConfiguration(dataDirectory: path), logger: TestCoordinator.quiet)
        #expect(recovery.end.sequence.rawValue == 1)
    }
}
