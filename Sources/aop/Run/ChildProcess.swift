import Foundation
import Subprocess
import SystemPackage

/// A process of this program's own binary that lives no longer than this one.
///
/// Its standard input is its lifeline: it ends when that closes, which the kernel does for us should we be killed.
/// Its first line on standard output says that it is ready. It has a session of its own, so that Ctrl-C reaches
/// only us and we decide what becomes of the work.
final class ChildProcess: Sendable {
    /// After its lifeline was cut it has this long to end in an orderly way.
    static let stopLimit = Duration.seconds(15)

    /// How it is ended.
    private enum Stop: Sendable {
        /// Its lifeline is cut.
        case orderly
        case kill
    }

    let name: String
    private let stopping: AsyncStream<Stop>.Continuation
    private let firstLine: Task<String?, Never>
    private let ended: Task<String, Never>

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - environment: variables that it has besides those of this process.
    ///   - onMessage: each line it writes to standard error.
    init(name: String, arguments: [String], environment: [String: String] = [:], onMessage: @escaping @Sendable (String) -> Void) {
        self.name = name
        let (stopRequests, stopping) = AsyncStream<Stop>.makeStream()
        let (lines, line) = AsyncStream<String>.makeStream()
        self.stopping = stopping
        firstLine = Task {
            for await line in lines { return line }
            return nil
        }
        ended = Task {
            defer { line.finish() }
            do {
                return try await Self.run(
                    arguments, environment, stopRequests: stopRequests, onLine: { line.yield($0) }, onMessage: onMessage)
            } catch {
                return "could not be started: \(error)"
            }
        }
    }

    /// Waits until it says that it is ready.
    ///
    /// - Returns: what it said; nil when it ended before.
    func ready() async -> String? { await firstLine.value }

    /// Waits for its end and says how it ended.
    func end() async -> String { await ended.value }

    /// Cuts the lifeline and waits until it is gone.
    func stop() async { await end(by: .orderly) }

    /// Kills it, as a fault would, and waits until it is gone.
    func kill() async { await end(by: .kill) }

    private func end(by stop: Stop) async {
        stopping.yield(stop)
        stopping.finish()
        _ = await ended.value
    }

    private static func run(
        _ arguments: [String], _ environment: [String: String], stopRequests: AsyncStream<Stop>,
        onLine: @escaping @Sendable (String) -> Void,
        onMessage: @escaping @Sendable (String) -> Void
    ) async throws -> String {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))]
        let result = try await Subprocess.run(
            .path(FilePath(try ownExecutable())), arguments: Arguments(arguments),
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: environment.map { (.init(stringLiteral: $0), $1) })),
            platformOptions: options,
            input: .inputWriter, output: .sequence, error: .sequence
        ) { execution in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    for try await line in execution.standardOutput.strings() { onLine(line) }
                    return true
                }
                group.addTask {
                    for try await line in execution.standardError.strings() { onMessage(line) }
                    return true
                }
                group.addTask {
                    var stop = Stop.orderly
                    for await request in stopRequests { stop = request }
                    guard !Task.isCancelled else { return false }
                    if stop == .kill {
                        try execution.send(signal: .kill)
                        return false
                    }
                    try await execution.standardInputWriter.finish()
                    try await Task.sleep(for: stopLimit)
                    // It did not hear, or could not.
                    try execution.send(signal: .kill)
                    return false
                }
                // Both ends of its output closed: it is gone.
                var open = 2
                while open > 0, let isEnd = try await group.next() { open -= isEnd ? 1 : 0 }
                group.cancelAll()
            }
        }
        switch result.terminationStatus {
        case .exited(let code): return "exited with \(code)"
        case .signaled(let signal): return "was ended by signal \(signal)"
        }
    }

    private static func ownExecutable() throws -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard length > 0 else {
            throw ToolError(.toolError, "internal", "/proc/self/exe cannot be read: \(String(cString: strerror(errno)))")
        }
        return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
