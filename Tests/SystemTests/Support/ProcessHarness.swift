import Foundation
import Synchronization

/// Real processes for one test: a directory of their own, an environment of their own, and an end for all of them.
///
/// Everything started here, and every command started by it, is found again through `mark`: the directory's unique
/// path, which is in their environment or on their command line.
final class ProcessHarness: Sendable {
    let directory: String
    private let started = Mutex<[RunningProcess]>([])

    /// Unique to this test.
    var mark: String { directory }
    var state: String { "\(directory)/state" }
    var temporary: String { "\(directory)/tmp" }
    var endpoint: String { "ipc://\(directory)/aop.sock" }

    init() throws {
        var template = Array("/tmp/aop-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        for path in [state, temporary] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }

    /// Runs `body` with a fresh harness and leaves nothing of it behind.
    static func with(_ body: (ProcessHarness) async throws -> Void) async throws {
        let harness = try ProcessHarness()
        do {
            try await body(harness)
            await harness.cleanUp()
        } catch {
            let output = harness.started.withLock { $0 }.map { "── \($0.name)\n\($0.stdout.suffix(1500))\n\($0.stderr.suffix(3000))" }
            print(output.joined(separator: "\n"))
            await harness.cleanUp()
            throw error
        }
    }

    var environment: [String: String] {
        [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": directory, "LANG": "C.UTF-8", "TMPDIR": temporary,
            "XDG_STATE_HOME": state, "AOP_COORDINATOR": endpoint, "AOP_TEST_MARK": mark,
            "AOP_CONFIG": "/dev/null", "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    // MARK: starting

    func start(_ executable: String, _ arguments: [String], environment extra: [String: String] = [:]) -> RunningProcess {
        let process = RunningProcess(
            executable, arguments, environment: environment.merging(extra) { $1 }, directory: directory)
        started.withLock { $0.append(process) }
        return process
    }

    /// Starts `aop` and lets it run.
    func startAOP(_ arguments: String..., environment: [String: String] = [:]) -> RunningProcess {
        start(BuiltProducts.aop, arguments, environment: environment)
    }

    /// Runs `aop` to its end.
    func aop(_ arguments: String..., environment: [String: String] = [:]) async throws -> Finished {
        try await start(BuiltProducts.aop, arguments, environment: environment).finish()
    }

    /// A coordinator that listens.
    func startCoordinator(_ arguments: String...) async throws -> RunningProcess {
        let coordinator = start(
            BuiltProducts.aop,
            ["coordinator", "--listen", endpoint, "--http", "127.0.0.1:0", "--data", "\(directory)/data", "--snapshot-bytes", "20000"]
                + arguments)
        try await eventually("the coordinator listens") { coordinator.stdout.contains("listening") }
        return coordinator
    }

    func startWorker(_ arguments: String...) -> RunningProcess {
        start(BuiltProducts.aop, ["worker", "--connect", endpoint] + arguments)
    }

    /// Waits until this many executors are attached, and gives their pids.
    func waitForExecutors(_ count: Int) async throws -> [Int32] {
        try await eventually("\(count) executors are attached") {
            let listed = try await self.aop("workers", "-o", "json")
            let attached = try JSON(parsing: listed.text)["workers"].elements.filter { $0["state"].string == "attached" }
            return attached.count >= count ? attached.compactMap { $0["pid"].number.map { Int32($0) } } : nil
        }
    }

    // MARK: files

    /// Makes folders of these names.
    /// - Returns: their paths.
    func folders(_ names: String...) throws -> [String] {
        try names.map { name in
            let path = "\(directory)/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return path
        }
    }

    func write(_ name: String, _ text: String) throws -> String {
        let path = "\(directory)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    func lines(of name: String) -> [String] {
        let text = (try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    var temporaryFiles: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? []
    }

    // MARK: processes

    /// Processes, commands included, that belong to this test; zombies are none.
    func processes() -> [Int32: String] {
        var found: [Int32: String] = [:]
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = Int32(entry), pid != getpid() else { continue }
            let commandLine = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
            let environment = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
            guard commandLine.firstRange(of: Data(mark.utf8)) != nil || environment.firstRange(of: Data(mark.utf8)) != nil
            else { continue }
            let words = String(decoding: commandLine.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
            if !words.isEmpty { found[pid] = words }
        }
        return found
    }

    /// Processes of this test whose command line has `word`.
    func processes(with word: String) -> [Int32: String] { processes().filter { $0.value.contains(word) } }

    private func cleanUp() async {
        // Supervisors may start what was killed anew until they are gone themselves.
        for _ in 0..<50 {
            let left = processes()
            if left.isEmpty { break }
            for pid in left.keys { kill(pid, SIGKILL) }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        try? FileManager.default.removeItem(atPath: directory)
    }
}
