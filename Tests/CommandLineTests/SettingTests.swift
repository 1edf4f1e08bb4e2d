import ArgumentParser
import Foundation
import Settings
import Testing
import Wire

@testable import aop

@Suite struct SettingTests {
    /// It would mean the current directory, whose files a restore moves.
    @Test func emptyDataDirectory_isRefused() {
        #expect(throws: (any Error).self) { try DataOption.parse(["--data", ""]) }
        #expect(throws: (any Error).self) { try PrivateClusterOptions.parse(["--data", ""]) }
        #expect(throws: (any Error).self) { try BenchCommand.parse(["W1", "--data", ""]) }
        #expect((try? DataOption.parse(["--data", "/somewhere"]))?.path == "/somewhere")
    }

    @Test(arguments: Setting.allCases) func everySetting_isAFlagOfItsCommands_andInTheDocument(_ setting: Setting) throws {
        let commands: [any ParsableCommand.Type] =
            switch setting.users {
            case .all: [CoordinatorCommand.self, WorkerSubcommand.self, ListCommand.self]
            case .clients: [ListCommand.self, SubmitCommand.self]
            case .coordinator: [CoordinatorCommand.self]
            case .worker: [WorkerSubcommand.self]
            }
        for command in commands {
            #expect(AOP.helpMessage(for: command).contains("\(setting.flag) <"), "\(command) has no \(setting.flag)")
        }
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../docs/configuration.md")
        let rows = try String(contentsOf: document, encoding: .utf8).split(separator: "\n")
        #expect(
            rows.contains { $0.hasPrefix("| `\(setting.name)` | `\(setting.variable)` |") }, "\(setting.name) is not in \(document.path)")
    }

    @Test(arguments: [
        (["tcp://127.0.0.1:7600"], nil), (["tcp://0.0.0.0:7600"], nil), (["tcp://10.0.0.7:7600", "tcp://127.0.0.1:7600"], nil),
        (["tcp://127.0.0.1:7610"], "tcp://127.0.0.1:7610"), (["tcp://[::]:7610"], "tcp://127.0.0.1:7610"),
        (["tcp://10.0.0.7:7600"], "tcp://10.0.0.7:7600"), (["ipc:///run/aop/socket"], "ipc:///run/aop/socket"),
    ])
    func whatIsNext_namesAnAddressThatNobodyLooksFor(_ listen: [String], _ named: String?) throws {
        let next = CoordinatorCommand.next(try listen.map { text in try Endpoint(text) })
        let flags = named.map { (" --connect \($0)", " --coordinator \($0)") } ?? ("", "")
        #expect(next == "aop worker\(flags.0) · aop submit FILE --watch\(flags.1)")
    }

    @Test(arguments: [false, true]) func readiness_isToldToTheSocketThatAsks(_ isAbstract: Bool) throws {
        let name = "\(isAbstract ? "@" : "")/tmp/aop-notify-\(UUID().uuidString)"
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer {
            close(descriptor)
            if !isAbstract { unlink(name) }
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0)
        ServiceManager(environment: ["NOTIFY_SOCKET": name]).tell(.ready, .status("listening"))
        var received = [UInt8](repeating: 0, count: 200)
        let count = recv(descriptor, &received, received.count, Int32(MSG_DONTWAIT))
        try #require(count > 0)
        #expect(String(decoding: received[..<count], as: UTF8.self) == "READY=1\nSTATUS=listening")
        ServiceManager(environment: [:]).tell(.ready, .status("nobody asks"))
        #expect(recv(descriptor, &received, received.count, Int32(MSG_DONTWAIT)) < 0)
    }
}
