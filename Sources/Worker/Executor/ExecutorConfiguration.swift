import Foundation

/// What a supervisor tells an executor it starts, in one environment variable.
struct ExecutorConfiguration: Codable, Equatable, Sendable {
    /// The variable; commands never see it.
    static let environmentName = "AOP_EXECUTOR"
    /// The hidden subcommand under which a worker's binary is an executor.
    static let subcommand = "executor"
    /// The executor's end of the channel to its supervisor.
    static let channelDescriptor: Int32 = 3

    var endpoint: String
    /// Where the cookie is; nil: none is sent.
    var cookieDirectory: String?
    /// The file of its key; nil: it needs none. Never the key itself: others may read a process's environment.
    var keyFile: String?
    var incarnation: UInt64
    var supervisorIncarnation: UInt64
    /// What all processes of the worker have in their environment (``WorkerMark``); nil: it is not known yet.
    var mark: String? = nil
    /// Among the executors of its supervisor, from 0.
    var index: UInt32
    var slots: Int
    var labels: [String]
    /// Of the host, by name: shared by all executors of the supervisor.
    var resources: [String: Int64] = [:]
    var shell: Bool
    var passedNames: [String]
    var passesEverything: Bool
    var workingDirectory: String?
    /// nil: it has no secrets.
    var secretsDirectory: String?
    /// Private to this executor; removed by whoever ends last.
    var temporaryDirectory: String
    /// What running units get when this process itself is told to end by SIGTERM.
    var graceMilliseconds: Int64
    var logLevel: String
    var logFormat: LogFormat
    /// That it dies without a backtrace was set for it, and not by whoever has started the worker: it is nobody else's.
    var hasBacktracesOff = false

    /// The configuration this process was started with; nil when it is no executor.
    static func ofThisProcess() throws -> ExecutorConfiguration? {
        guard let text = ProcessInfo.processInfo.environment[environmentName] else { return nil }
        return try JSONDecoder().decode(ExecutorConfiguration.self, from: Data(text.utf8))
    }

    func encoded() throws -> String {
        String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    }
}

/// How an executor's process ends.
enum ExecutorExit {
    static let drained: Int32 = 0
    /// A body could not be stopped; another process takes over.
    static let stuck: Int32 = 75
    /// The coordinator refuses it, or it cannot be set up.
    static let refused: Int32 = 78
    /// Its supervisor is gone.
    static let orphaned: Int32 = 79
}
