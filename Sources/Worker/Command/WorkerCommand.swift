import AOperation
import ArgumentParser
import Foundation

/// A program that is a worker with operations of its own, besides the built-in ones.
///
/// ```swift
/// import Worker
///
/// @main struct TextWorker: WorkerCommand {
///     static let operations: [any ClusterOperation.Type] = [ReadText.self, CountWords.self]
///     static let conditions: [any ClusterCondition.Type] = [DiskSpace.self]
/// }
/// ```
/// It has every flag of `aop worker` (``WorkerOptions``), and exits as that does.
public protocol WorkerCommand {
    /// The types to register; groups that decide what they do next (`ClusterGroup`) are among them.
    static var operations: [any ClusterOperation.Type] { get }
    /// The conditions to register; none by default.
    static var conditions: [any ClusterCondition.Type] { get }
    /// The errors that are to arrive here as themselves; none by default.
    static var errors: [any PortableError.Type] { get }
    /// What `--help` says it is; a general sentence by default.
    static var abstract: String { get }
    /// Called first of all in each of its processes, the supervisor and every executor: where a tracer or a metrics system is
    /// bootstrapped. By default it does nothing.
    static func bootstrap()
    /// Called in an executor that has been drained, before its process ends: where what ``bootstrap()`` has begun tells the rest of what it
    /// has. By default it does nothing.
    static func shutdown()
}

extension WorkerCommand {
    public static var conditions: [any ClusterCondition.Type] { [] }

    public static var errors: [any PortableError.Type] { [] }

    public static var abstract: String { "Runs operations for a coordinator." }

    public static func bootstrap() {}

    public static func shutdown() {}

    /// The program.
    public static func main() {
        bootstrap()
        PortableErrors.register(errors)
        WorkerRuntime.runExecutorIfAsked(operations: operations, conditions: conditions, shutdown: shutdown)
        do {
            var command = try WorkerProgram<Self>.parseAsRoot()
            try command.run()
        } catch {
            let settings = WorkerProgram<Self>.settingsText(beside: error)
            let code = WorkerProgram<Self>.exitCode(for: error)
            if ServiceNotice.format == .json, !(error is ExitCode), code != .success {
                let message = WorkerProgram<Self>.fullMessage(for: error)
                ServiceNotice.write(.error, settings.isEmpty ? message : "\(settings)\n\(message)", logger: "aop.worker")
                exit(code.rawValue)
            }
            if !settings.isEmpty { FileHandle.standardError.write(Data("Error: \(settings)\n".utf8)) }
            WorkerProgram<Self>.exit(withError: error)
        }
    }
}

/// The command line of a ``WorkerCommand``.
struct WorkerProgram<Command: WorkerCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        let name = (CommandLine.arguments.first as NSString?)?.lastPathComponent ?? String(describing: Command.self)
        return CommandConfiguration(
            commandName: name, abstract: Command.abstract,
            discussion: "Example: \(name) --connect tcp://127.0.0.1:7600 --processes 2 --label fast")
    }

    @OptionGroup var options: WorkerOptions

    func run() throws {
        throw ExitCode(try WorkerRuntime.runSupervisor(options, operations: Command.operations, conditions: Command.conditions))
    }
}
