import AOperation
import Foundation
import Logging
import Settings
import Wire

/// Runs the two kinds of process that a worker is made of.
///
/// A binary with commands of its own offers a worker like this:
/// ```swift
/// @main struct Tool {
///     static func main() async {
///         WorkerRuntime.runExecutorIfAsked(operations: operations)   // first of all, on the first thread
///         await ToolCommand.main()
///     }
/// }
/// // in the command's run():
/// throw ExitCode(try WorkerRuntime.runSupervisor(options, operations: operations))
/// ```
public enum WorkerRuntime {
    /// Runs a supervisor with its executors until the worker has ended.
    ///
    /// Blocks. The process must not start other children: the supervisor ends every child that is neither an executor nor
    /// the guardian that it starts, which ends what is left should all of them be killed. Before anything else it ends what
    /// workers have left on this host that were killed with their guardians. It takes SIGTERM, SIGINT, SIGHUP and SIGCHLD
    /// over, and ignores SIGPIPE.
    /// - Returns: the exit code: 0 when it was told to end, 77 when the coordinator does not let this user in, or a key is missing, 1 when
    ///   it refuses this worker otherwise.
    /// - Throws: an error with a text for people when the worker cannot be set up.
    public static func runSupervisor(
        _ options: WorkerOptions, operations: [any ClusterOperation.Type], conditions: [any ClusterCondition.Type] = []
    ) throws -> Int32 {
        let level = try options.level()
        let endpoint = try options.endpoint()
        let shell = try options.allowsShell()
        _ = try OperationRegistry(operations, conditions: conditions, withShell: shell)
        ServiceNotice.format = options.logFormat
        let logger = WorkerLog.make("aop.worker", level: level ?? WorkerOptions.defaultLogLevel, options.logFormat)
        let key: PeerKey?
        do throws(KeyError) {
            key = try KeyChoice(file: options.keyFile, directory: options.keys, environment: Settings.keyEnvironment).key(
                for: endpoint, names: KeyDirectory.workerFiles)
        } catch {
            logger.error("\(error)")
            return 77
        }
        if let bytes = FileSizeLimit.bytes, bytes < UInt64(Limits.valueBytes), let text = FileSizeLimit.text {
            logger.warning("\(text); operations with larger values fail")
        }
        let settings = SupervisorSettings(
            processes: options.processes, graceMilliseconds: try options.graceMilliseconds(),
            executor: ExecutorConfiguration(
                endpoint: endpoint.description,
                cookieDirectory: endpoint.isLoopback && key == nil
                    ? options.cookieDirectory ?? StateDirectory.path() : options.cookieDirectory,
                keyFile: key?.path,
                incarnation: 0, supervisorIncarnation: 0, index: 0, slots: options.slots, labels: options.label,
                resources: try WorkerOptions.resources(options.resource),
                shell: shell, passedNames: options.passedNames, passesEverything: options.passesEverything,
                workingDirectory: options.workingDirectory, secretsDirectory: try options.secretsDirectory(), temporaryDirectory: "",
                graceMilliseconds: try options.graceMilliseconds(),
                // Executors say only what somebody has to know, unless more is asked for.
                logLevel: (level ?? .warning).rawValue, logFormat: options.logFormat))
        return try Supervisor(settings, logger: logger).run()
    }

    /// Does nothing unless this process was started by a supervisor; then it is an executor and does not return.
    ///
    /// Call it before anything else, on the process's first thread.
    ///
    /// - Parameter shutdown: called before it ends after a drain.
    public static func runExecutorIfAsked(
        operations: [any ClusterOperation.Type], conditions: [any ClusterCondition.Type] = [], shutdown: () -> Void = {}
    ) {
        guard CommandLine.arguments.dropFirst().first == ExecutorConfiguration.subcommand,
            ProcessInfo.processInfo.environment[ExecutorConfiguration.environmentName] != nil
        else { return }
        runExecutor(operations: operations, conditions: conditions, shutdown: shutdown)
    }

    /// Runs an executor until it has ended, and exits.
    ///
    /// It exits with 0 after a drain, or when it was replaced because its temporary directory is gone, with 75 when it was replaced because of
    /// an operation that does not stop, with 78 when it cannot be set up or is refused, with 79 when its supervisor is gone.
    ///
    /// - Parameter shutdown: called before it ends after a drain.
    public static func runExecutor(
        operations: [any ClusterOperation.Type], conditions: [any ClusterCondition.Type] = [], shutdown: () -> Void = {}
    ) -> Never {
        var logger = WorkerLog.make("aop.executor", level: .warning, .text)
        do {
            guard let configuration = try ExecutorConfiguration.ofThisProcess() else {
                logger.error("an executor is started by `worker`, not by hand")
                exit(ExecutorExit.refused)
            }
            ServiceNotice.format = configuration.logFormat
            logger = WorkerLog.make(
                "aop.executor.\(configuration.index)", level: Logger.Level(rawValue: configuration.logLevel) ?? .warning,
                configuration.logFormat)
            let registry = try OperationRegistry(operations, conditions: conditions, withShell: configuration.shell)
            let executor = try Executor(configuration, registry: registry, logger: logger)
            let code = try executor.run()
            if code == ExecutorExit.drained { shutdown() }
            Lifeline.end(
                spawns: executor.spawns, temporaryDirectory: configuration.temporaryDirectory, code: code)
        } catch {
            logger.error("this executor cannot run: \(error)")
            exit(ExecutorExit.refused)
        }
    }
}

/// Log lines go to stderr.
enum WorkerLog {
    static func make(_ label: String, level: Logger.Level, _ format: LogFormat) -> Logger {
        var logger = Logger(label: label, factory: { ServiceLog.handler(label: $0, format) })
        logger.logLevel = level
        return logger
    }
}
