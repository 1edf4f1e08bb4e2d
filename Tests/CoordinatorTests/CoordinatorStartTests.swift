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
        configuration.endpoints = [try Endpoint("tcp://0.0.0.0:7600")]
        let error = try #require(throws: CoordinatorError.self) {
            try CoordinatorService(configuration, logger: TestCoordinator.quiet)
        }
        #expect(
            "\(error)" == """
                refusing to listen on tcp://0.0.0.0:7600: other hosts could reach it, and there are no keys; run \
                `aop keys init`, or listen on tcp://127.0.0.1:7600
                """)
        configuration.endpoints = [.standard]
        configuration.http = try HTTPAddress("0.0.0.0:7601")
        let http = try #require(throws: CoordinatorError.self) {
            try CoordinatorService(configuration, logger: TestCoordinator.quiet)
        }
        #expect("\(http)".contains("HTTP asks nobody for a key; use 127.0.0.1:7601"))
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

    @Test func health_isServed() async throws {
        try await TestCoordinator.run(in: path, { $0.http = HTTPAddress(host: "127.0.0.1", port: 0) }) { coordinator in
            let address = try #require(coordinator.addresses.http)
            let worker = try coordinator.peer()
            let epoch = try worker.attach(.executor, incarnation: 1).epoch
            let answer = try HTTPClient.get(address, "/healthz")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
            #expect(answer.contains(#"{"status":"ok","epoch":\#(epoch)}"#))
            #expect(try HTTPClient.get(address, "/other").hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test(arguments: ["127.0.0.1:7601", "[::1]:80", "localhost:0"]) func httpAddress_isRead(text: String) throws {
        let address = try HTTPAddress(text)
        #expect("\(address)" == text && address.isLoopback)
    }

    @Test(arguments: ["", "7601", "127.0.0.1", ":7601", "::1:80", "a:70000", "a:b"])
    func badHTTPAddress_isRefused(text: String) {
        #expect(throws: CoordinatorError.self) { try HTTPAddress(text) }
    }

    @Test func emptyJournal_isStartedWith() throws {
        let recovery = try Recovery(CoordinatorConfiguration(dataDirectory: path), logger: TestCoordinator.quiet)
        #expect(recovery.end.sequence.rawValue == 1)
    }
}

/// One request over a plain socket.
private enum HTTPClient {
    static func get(_ address: HTTPAddress, _ path: String) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(address.port).bigEndian
        inet_pton(AF_INET, address.host, &target.sin_addr)
        let status = withUnsafePointer(to: target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Timeout(what: "connecting to \(address)") }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n".utf8)
        guard write(descriptor, request, request.count) == request.count else { throw Timeout(what: "writing") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
            answer += buffer[..<count]
        }
    }
}
