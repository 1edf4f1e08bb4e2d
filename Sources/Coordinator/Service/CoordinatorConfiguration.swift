import Scheduling
import Wire

/// What a coordinator is told at its start.
public struct CoordinatorConfiguration: Sendable {
    /// Where peers connect; at least one. Without keys all of them must be on loopback.
    public var endpoints: [Endpoint] = [.standard]
    /// The folder that holds everything that must survive. Made (0700) where it is missing.
    public var dataDirectory: String
    /// What peers must know to be let in; nil: nothing (an ipc socket in a private directory needs none).
    public var cookie: [UInt8]?
    /// With keys only who has one that is authorised can connect over tcp; nil: there are none.
    public var keys: CoordinatorKeys?
    /// An executor that was not heard for this long gets nothing new, and its units are queued again.
    public var leaseMilliseconds: Int64 = 3_000
    /// By then a detached executor has stopped what holds a lock.
    public var lockLeaseMilliseconds: Int64 = 20_000
    /// By then a detached executor has stopped everything.
    public var orphanLimitMilliseconds: Int64 = 600_000
    /// The longest that a peer waits between two tries to connect.
    public var reconnectMaximumMilliseconds: Int64 = 500
    /// From the polite to the hard end of an operation that does not name its own.
    public var graceMilliseconds: Int64 = 5_000
    /// Bytes of partial results kept of all submissions together. From there on those of submissions that have ended are
    /// removed, the first ones first, and operations that send more are held back.
    public var partialResultBytes: Int64 = 1 << 30
    /// Bytes that must be free on the data directory's file system for something new to be admitted; what was admitted goes on.
    /// 0: that is not looked at.
    public var diskReserveBytes: Int64 = 1 << 30
    /// Bytes of facts after which the journal is replaced by a snapshot of what they come to, and as many as the last snapshot
    /// had at least: what a start has to read. 0: never.
    public var snapshotBytes: Int64 = 64 << 20
    /// Submissions that have ended are forgotten after this time, with their results, output and partial results; nil: never.
    public var retentionMilliseconds: Int64? = 7 * 24 * 3_600_000
    /// Bytes that the submissions which have ended may take, with their values; beyond them those that ended first are forgotten. nil: any.
    public var retentionBytes: Int64? = 10 << 30
    /// Milliseconds that submissions stay in the history (`history.sqlite`) after their end; nil: for ever. 0: there is no history.
    public var historyMilliseconds: Int64? = 30 * 24 * 3_600_000
    /// Bytes of recordings of what the scheduler is told, for `JournalReplay`, of all starts together; 0: nothing is recorded.
    public var flightRecorderBytes: Int64 = 0
    /// Is told how long operations of submissions with a trace have waited, by the coordinator's own thread: it must not block. nil: nobody
    /// wants to know, and nothing is made for it.
    public var whenBegun: (@Sendable ([OperationWait]) -> Void)?
    /// Connections that may have said hello at a time; more are refused, and try again.
    var connectionsMax = CoordinatorLimits.connections
    /// How long a large value stays that only forgotten submissions named.
    var forgottenValueMilliseconds = CoordinatorLimits.forgottenValueMilliseconds
    /// Operation names every worker has.
    public var builtInOperations = builtInOperationsDefault
    /// Condition types that every worker has.
    public static let builtInConditions = ["reachable", "fileExists", "command"]
    /// Registered names of the operations that every worker of this release has.
    public static let builtInOperationsDefault = [
        "shell", "noop", "delay", "http", "download", "upload", "readFile", "writeFile", "jsonDecode", "jsonPath",
        "URLSessionDataTaskOperation", "URLSessionUploadTaskOperation", "URLSessionDownloadTaskOperation",
    ]

    public init(dataDirectory: String) { self.dataDirectory = dataDirectory }

    static let graphLimits = GraphLimits(
        nodesMax: Limits.graphNodes, depthMax: Limits.nestingDepth, elementsMax: Limits.forEachElements)

    var scheduling: Scheduler.Configuration {
        var configuration = Scheduler.Configuration()
        configuration.leaseMilliseconds = leaseMilliseconds
        configuration.lockLeaseMilliseconds = lockLeaseMilliseconds
        configuration.orphanLimitMilliseconds = orphanLimitMilliseconds
        configuration.reconnectMaximumMilliseconds = reconnectMaximumMilliseconds
        configuration.graceMillisecondsDefault = graceMilliseconds
        configuration.retentionMilliseconds = retentionMilliseconds
        configuration.retentionBytes = retentionBytes
        configuration.pageBytes = Limits.pageBytes
        configuration.graphLimits = Self.graphLimits
        configuration.builtInOperations = builtInOperations
        configuration.builtInConditions = Self.builtInConditions
        return configuration
    }

    var snapshots: JournalWriter.SnapshotPolicy? {
        snapshotBytes > 0
            ? JournalWriter.SnapshotPolicy(scheduling: scheduling, bytes: snapshotBytes, reserveBytes: max(0, diskReserveBytes) / 2) : nil
    }

    /// Three heartbeats fit a lease.
    var heartbeatMilliseconds: Int64 { max(10, leaseMilliseconds / 3) }

    /// - Throws: `CoordinatorError.keysRequired`, `.noEndpoint`.
    func checkEndpoints() throws(CoordinatorError) {
        guard !endpoints.isEmpty else { throw .noEndpoint }
        for endpoint in endpoints where !endpoint.isLoopback && keys == nil { throw .keysRequired(endpoint) }
    }
}
