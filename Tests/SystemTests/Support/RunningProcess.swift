import Foundation
import Subprocess
import Synchronization

/// How a process ended and what it wrote.
struct Finished: Sendable, CustomStringConvertible {
    /// Exit code, or 128 + signal, as a shell says it.
    var status: Int32
    var stdout: Data
    var stderr: String

    var text: String { String(decoding: stdout, as: UTF8.self) }
    var description: String { "status \(status)\nstdout: \(text.prefix(4000))\nstderr: \(stderr.prefix(4000))" }
}

/// A process that was started and goes on.
final class RunningProcess: Sendable {
    private struct State {
        var pid: Int32?
        var stdout = Data()
        var stderr = Data()
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Int32, any Error>?>(nil)
    let name: String

    init(_ executable: String, _ arguments: [String], environment: [String: String], directory: String) {
        name = arguments.first ?? executable
        let task = Task {
            var options = PlatformOptions()
            // A group of its own, as a shell gives it: a signal to it reaches nobody else.
            options.processGroupID = 0
            let environment = Dictionary(
                uniqueKeysWithValues: environment.map { (Subprocess.Environment.Key(stringLiteral: $0.key), $0.value) })
            let result = try await Subprocess.run(
                .path(.init(executable)), arguments: Arguments(arguments), environment: .custom(environment),
                workingDirectory: .init(directory), platformOptions: options, input: .none, output: .sequence, error: .sequence
            ) { execution in
                self.state.withLock { $0.pid = execution.processIdentifier.value }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for try await part in execution.standardOutput { self.append(part, to: \.stdout) }
                    }
                    group.addTask {
                        for try await part in execution.standardError { self.append(part, to: \.stderr) }
                    }
                    try await group.waitForAll()
                }
            }
            switch result.terminationStatus {
            case .exited(let code): return Int32(code)
            case .signaled(let signal): return 128 + Int32(signal)
            }
        }
        self.task.withLock { $0 = task }
    }

    var stdout: String { state.withLock { String(decoding: $0.stdout, as: UTF8.self) } }
    var stderr: String { state.withLock { String(decoding: $0.stderr, as: UTF8.self) } }

    func pid() async throws -> Int32 {
        try await eventually("\(name) is started") { state.withLock { $0.pid } }
    }

    func send(_ signal: Int32) async throws {
        kill(try await pid(), signal)
    }

    /// Waits for the end; kills and fails when it takes too long.
    func finish(within limit: Duration = patience) async throws -> Finished {
        guard let task = task.withLock({ $0 }) else { throw CancellationError() }
        let status = try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask { try await task.value }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            if first == nil, let pid = state.withLock({ $0.pid }) { kill(pid, SIGKILL) }
            return first
        }
        guard let status else { throw DeadlineMissed(what: "\(name) ends", last: "stdout: \(stdout)\nstderr: \(stderr)") }
        return state.withLock { Finished(status: status, stdout: $0.stdout, stderr: String(decoding: $0.stderr, as: UTF8.self)) }
    }

    private func append(_ part: SubprocessOutputSequence.Buffer, to path: WritableKeyPath<State, Data> & Sendable) {
        let bytes = part.withUnsafeBytes { Data($0) }
        state.withLock { $0[keyPath: path].append(bytes) }
    }
}
