import AOperation
import Cluster
import Foundation

/// A whole cluster in this process, for tests of one's own graphs: no other processes, no sockets, no disk, no waiting.
///
/// ```swift
/// let cluster = try InMemoryCluster(workers: 3, clock: .virtual, seed: 42, faults: [.workerCrash(every: 50)])
/// let outcome = try await cluster.run(nightly)
/// #expect(outcome.isSuccess)
/// #expect(cluster.attempts(of: "publish") == 1)
/// ```
/// Scheduler, executors, submission sessions, and the order of journal and messages are those of a real cluster. Time is virtual: it
/// stands still while a body runs, and jumps when all that run wait through ``clock``. Where a body waits for anything
/// else, time waits for the body.
///
/// One seed gives the same faults at the same counts and the same ids. It does not fix what happens inside of bodies, nor
/// which of two bodies that run at once ends first.
///
/// Code that only the submitting process has (closures, types that are no `ClusterOperation`) runs there, as on any cluster, and
/// lives through crashes of the coordinator; time waits for it as for bodies. Set `queue.requireRemote` to have it refused.
/// Partial results, streams between operations, `events` of a submission, its `cancel()`, `pause()` and `resume()` work as on any cluster.
///
/// A body that waits for the next element of a stream lets time go on, as one that waits through ``clock``. Progress is not told.
///
/// Limits: a graph travels in one message. An operation that waits by other means than ``clock``, the built-in `delay`
/// among them, waits in real time.
public final class InMemoryCluster: Sendable {
    /// What goes wrong, and how often.
    public enum Fault: Sendable, Hashable {
        /// Of so many bodies that begin, one, drawn at random, takes a worker with it: all bodies there are cancelled, what they
        /// say is dropped, and another worker takes its place. Who is alone in a worker when that crashes, five times, fails with
        /// `WorkerLost`, as on any cluster: with 1 every operation does.
        case workerCrash(every: Int)
        /// Of so many journal writes, one, drawn at random, is lost with the coordinator before it is done. It goes on with what the
        /// journal has, in a new epoch, and workers and submitters connect again. 2 or more.
        case coordinatorCrash(every: Int)
    }

    /// How time goes on.
    public enum Time: Sendable, Hashable {
        /// It jumps when all that run wait for it.
        case virtual
    }

    /// The clock of the cluster, for bodies to wait through.
    public let clock = VirtualClock()
    /// A queue whose operations run on it; ``run(_:key:)`` uses it. Who keeps it, or its connection, keeps the cluster going.
    public let queue: ClusterQueue
    private let hub: MemoryHub

    /// Starts it. What is not registered by ``register(_:)-(any ClusterOperation.Type...)`` is by ``run(_:key:)``.
    ///
    /// - Parameters:
    ///   - workers: how many there are, 1 or more.
    ///   - slots: how many bodies each runs at once.
    ///   - time: how time goes on.
    ///   - seed: draws ids, and which worker crashes.
    /// - Throws: `SystemCallError` when the process has no descriptors left.
    public init(workers: Int = 1, slots: Int = 4, clock time: Time = .virtual, seed: UInt64 = 1, faults: [Fault] = []) throws {
        let hub = try MemoryHub(workers: max(1, workers), slots: max(1, slots), seed: seed, faults: faults, clock: clock)
        self.hub = hub
        let connection = try ClusterConnection(within: { core in
            hub.connect(core)
            return MemoryLine(to: hub)
        })
        queue = ClusterQueue(connection)
        try hub.start()
    }

    /// Lets the workers run operations of these types.
    /// - Throws: an error that names what cannot leave a process, or has a name that another type has.
    public func register(_ operations: any ClusterOperation.Type...) async throws {
        for type in operations { try await hub.register(type, make: nil) }
    }

    /// Lets the workers evaluate conditions of these types.
    /// - Throws: as for operations.
    public func register(_ conditions: any ClusterCondition.Type...) async throws {
        for type in conditions { try await hub.register(type) }
    }

    /// Lets the workers run operations of this type, each made by `make`: with ``clock``, with a stand-in for a service.
    /// - Throws: as without `make`.
    public func register<Operation: ClusterOperation>(
        _ type: Operation.Type, make: @escaping @Sendable (Operation.Parameters) -> Operation
    ) async throws {
        try await hub.register(type) { bytes in make(try type.make(parameters: bytes).parameters) }
    }

    /// Runs an operation, with its delivery net and everything in it, and waits for its end.
    ///
    /// Its types of operations are registered if they are not.
    /// - Throws: `ClusterError` with everything that is wrong with the graph; `CancellationError`: the work goes on then.
    public func run(_ operation: AOperation, key: String? = nil) async throws -> SubmissionOutcome {
        for type in MemoryTypes.all(in: operation) { try await hub.register(type, make: nil) }
        return try await queue.submit(operation, key: key).outcome()
    }

    /// How often a body of the operation at this path has begun; paths are those of the graph, such as `parts/parse-2`.
    public func attempts(of path: String) -> Int { hub.starts(of: path) }

    /// What clocks on the wall show there, for `notBefore`: a day of 2030 in the beginning, and ``clock`` moves it on.
    public var date: Date { hub.date }

    /// How many workers and coordinators have crashed.
    public var crashes: (workers: Int, coordinators: Int) { hub.crashes }
}

/// The types of operations in a graph.
enum MemoryTypes {
    static func all(in operation: AOperation) -> [any ClusterOperation.Type] {
        var found: [String: any ClusterOperation.Type] = [:]
        var seen: Set<ObjectIdentifier> = []
        var pending: [Foundation.Operation] = operation.everythingInNoQueue()
        while let next = pending.popLast() {
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            if let leaf = next as? any ClusterOperation { found[type(of: leaf).operationName] = type(of: leaf) }
            if let group = next as? GroupOperation { pending += group.operations }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }
}
