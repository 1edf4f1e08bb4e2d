import ArgumentParser
import Logging
import Settings
import Shapes
import UnixSignals
import Worker

/// What ends a command.
private enum CommandEvent: Sendable {
    case finished(ExitStatus)
    case interrupted
    case timedOut
}

/// A command of `aop`: it is given a console, and everything that can end it early is handled around it.
protocol ToolCommand: AsyncParsableCommand, Sendable {
    var output: OutputOptions { get }
    /// The command handles SIGINT, SIGTERM and `--timeout` by itself.
    static var handlesInterruption: Bool { get }
    static var defaultLogLevel: Logger.Level { get }
    /// `aop run` has started it, in its own environment.
    var isPartOfARun: Bool { get }
    /// It says itself what is wrong with settings, and goes on.
    static var reportsSettings: Bool { get }
    func execute(_ console: Console) async throws -> ExitStatus
}

extension ToolCommand {
    static var handlesInterruption: Bool { false }
    static var defaultLogLevel: Logger.Level { .warning }
    var isPartOfARun: Bool { false }
    static var reportsSettings: Bool { false }

    func run() async throws {
        let level = output.effectiveLogLevel(default: Self.defaultLogLevel)
        let format = output.logFormat
        ServiceNotice.format = format
        LoggingSystem.bootstrap { label in
            var handler = ServiceLog.handler(label: label, format)
            handler.logLevel = level
            return handler
        }
        let console = Console(output)
        if !isPartOfARun, !Self.reportsSettings {
            for variable in Settings.takeMisspeltVariables() { await console.warn("\(variable)") }
        }
        let status: ExitStatus
        do {
            let problems = Self.reportsSettings ? [] : Settings.current.problems
            guard problems.isEmpty else { throw ToolError(.usage, "usage", problems.text) }
            status = Self.handlesInterruption ? try await execute(console) : try await interruptible(console)
        } catch let error as ExitCode {
            throw error
        } catch {
            let error = ToolError(error)
            await console.report(error)
            status = error.status
        }
        await console.err.flush()
        if status != .success { throw ExitCode(status.rawValue) }
    }

    /// Runs the command until it is done, a signal arrives or `--timeout` is over.
    private func interruptible(_ console: Console) async throws -> ExitStatus {
        try await withThrowingTaskGroup(of: CommandEvent.self) { group in
            group.addTask { .finished(try await execute(console)) }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return .interrupted }
                throw CancellationError()
            }
            if let timeout = output.timeout {
                group.addTask {
                    try await Task.sleep(for: timeout.duration)
                    return .timedOut
                }
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            switch first {
            case .finished(let status):
                return status
            case .interrupted:
                throw ToolError(.interrupted, "interrupted", "interrupted\(Self.goesOn(console))")
            case .timedOut:
                let limit = TimeText.duration(milliseconds: output.timeout?.milliseconds ?? 0)
                throw ToolError(.timeout, "timeout", "--timeout of \(limit) is over\(Self.goesOn(console))")
            }
        }
    }

    /// What becomes of the work, and how to come back to it.
    private static func goesOn(_ console: Console) -> String {
        guard let id = console.submission else { return console.doubt.map { "; \($0)" } ?? "" }
        // Of several only `wait` takes all at once.
        if id.contains(" ") { return "; the work goes on: `aop wait \(id)` waits for it" }
        return "; the work goes on: `aop watch \(id)` shows it again, `aop wait \(id)` waits for it, `aop cancel \(id)` ends it"
    }
}
