import CLinux
import Foundation
import Testing
import Wire

@testable import Worker

/// Executors that crash, and what the runtime's backtracer makes of that.
@Suite struct BacktraceTests {
    private func configuration() -> ExecutorConfiguration {
        ExecutorConfiguration(
            endpoint: "tcp://127.0.0.1:7600", incarnation: 1, supervisorIncarnation: 2, mark: "1.2.3.4", index: 0, slots: 1, labels: [],
            shell: true, passedNames: [], passesEverything: false, temporaryDirectory: "/tmp/none", graceMilliseconds: 0, logLevel: "info",
            logFormat: .text)
    }

    private func launched(_ inherited: [String: String]) throws -> (environment: [String: String], configuration: ExecutorConfiguration) {
        let environment = try ExecutorLaunch.environment(of: configuration(), inherited: inherited)
        let text = try #require(environment[ExecutorConfiguration.environmentName])
        return (environment, try JSONDecoder().decode(ExecutorConfiguration.self, from: Data(text.utf8)))
    }

    @Test func executor_diesWithoutABacktrace_unlessSomebodySaysOtherwise() throws {
        let (environment, told) = try launched(["PATH": "/bin", "NOTIFY_SOCKET": "/run/notify"])
        #expect(environment["SWIFT_BACKTRACE"] == "enable=no" && told.hasBacktracesOff)
        #expect(environment["PATH"] == "/bin" && environment["NOTIFY_SOCKET"] == nil)
        #expect(environment[WorkerMark.environmentName] == "1.2.3.4")
    }

    @Test(arguments: ["enable=yes", "enable=no", ""]) func whatTheOperatorSays_stays(_ value: String) throws {
        let (environment, told) = try launched(["SWIFT_BACKTRACE": value])
        #expect(environment["SWIFT_BACKTRACE"] == value && !told.hasBacktracesOff)
    }

    @Test(arguments: [false, true]) func commands_seeOnlyWhatTheOperatorSays(_ passesEverything: Bool) {
        func shared(withheld: Set<String>) -> [String: String] {
            CommandEnvironment(
                passedNames: ["SWIFT_BACKTRACE", "OTHER"], passesEverything: passesEverything, withheld: withheld,
                inherited: ["SWIFT_BACKTRACE": "enable=no", "OTHER": "o"]
            ).shared
        }
        #expect(shared(withheld: ["SWIFT_BACKTRACE"])["SWIFT_BACKTRACE"] == nil && shared(withheld: ["SWIFT_BACKTRACE"])["OTHER"] == "o")
        #expect(shared(withheld: [])["SWIFT_BACKTRACE"] == "enable=no")
    }

    // MARK: Who is silent

    /// Counts against what ran in it; else that would be tried for ever.
    @Test func silentExecutor_thatIsCrashing_hasCrashed() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        _ = state.spawned(100, index: 0, incarnation: 7, now: 0)
        state.alive(100, now: 0)
        var seen: [SupervisorAction] = []
        for now in stride(from: Int64(1_000), through: SupervisorState.silentMilliseconds, by: 1_000) {
            #expect(seen == [])
            seen = state.tick(now: now)
        }
        #expect(seen == [.look(100)])
        let text = "executor 0 (100) crashes, has been at its backtrace for too long and is killed"
        #expect(state.looked(at: 100, isCrashing: true) == [.log(.init(level: .warning, text: text)), .kill(100)])
        _ = state.exited(100, code: 9, bySignal: true, now: 10_001)
        #expect(state.swept(now: 10_002).first == .report(EndedExecutor(incarnation: 7, cause: .crashed, text: "signal 9 (SIGKILL)")))
        #expect(state.looked(at: 100, isCrashing: true) == [], "it is gone")
    }

    @Test func crashingProcess_hasABacktracerAsItsChild() async throws {
        let directory = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(!Backtraces.isCrashing(getpid()))
        // The kernel calls a process by the last part of the name that it is started by.
        let tool = "\(directory)/swift-backtrace-static"
        try FileManager.default.createSymbolicLink(atPath: tool, withDestinationPath: "/bin/sleep")
        let words: [String] = ["/bin/sh", "-c", "'\(tool)' 600 & wait; true"]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in arguments { free(pointer) } }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var process: pid_t = 0
        let environment: [UnsafeMutablePointer<CChar>?] = [nil]
        let result = clinux_spawn("/bin/sh", arguments, environment, null, &process)
        try #require(result == 0, "errno \(result)")
        let parent = process
        defer {
            kill(-parent, SIGKILL)
            var code: Int32 = 0
            _ = clinux_reap(parent, &code)
        }
        let isSeen = try await eventually { Backtraces.isCrashing(parent) }
        #expect(isSeen, "\(ProcessTable.now().children(of: parent))")
        for child in ProcessTable.now().children(of: parent) { kill(child.id, SIGKILL) }
        let isOver = try await eventually { !Backtraces.isCrashing(parent) }
        #expect(isOver)
    }
}
