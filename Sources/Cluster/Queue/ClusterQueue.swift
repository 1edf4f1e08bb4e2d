import AOperation
import Executing
import Foundation
import Synchronization
import Wire

/// A queue whose operations run on a cluster: the same graph as on an `AOperationQueue`, only the queue changes.
///
/// ```swift
/// let cluster = try await ClusterQueue.connect("tcp://127.0.0.1:7600")
/// let words = try await ReadText(.init(path: "a.txt")).deliver(to: CountWords()).value(on: cluster)
/// await cluster.close()
/// ```
/// What is added at once is one submission: an operation with its delivery net, groups with everything in them, and, by
/// `add(to:)`, the dependencies that are in no queue. Operations are `ClusterOperation`s that workers have registered;
/// groups are `GroupOperation`s and `OrderedGroupOperation`s. Dependencies on other operations are waited for before
/// it is submitted.
///
/// The local objects mirror the remote ones: observers, delegate, `didStart` and `didFinish` are told, values delivered
/// and dependents started here as on any queue. `cancel()` asks for a cancellation; the operation ends as the
/// cluster says, when its body there has ended, and as it had if that came too late.
///
/// Operations that exist only in this process (`AOperationBlock`, `MapOperationBlock`, types of one's own that are no
/// `ClusterOperation`), and conditions of that kind, are parts of the same graph: the coordinator says when, and they
/// execute here. When this process ends, those of them that have not ended fail with ``SubmitterGone``; the work on the
/// cluster goes on. ``requireRemote`` refuses them.
///
/// So do `willFinish`, which holds an end back, and `retryOnFailure`; each has ``hostedTimeout``. When this process has ended,
/// the one is passed over, and the other has answered no.
///
/// What else has code in this process (gates, injected results, …) cannot be submitted: all operations of such a graph fail
/// with errors that name each such thing and what to do about it. So they do when the coordinator refuses the graph.
///
/// A lost connection is made anew, and nothing is lost by that, nor by a restart of the coordinator. After ``close()``
/// everything that has not ended fails with a ``ClusterError``; the work on the cluster goes on.
public final class ClusterQueue: AOperationQueue, @unchecked Sendable {
    /// The connection it uses.
    public let connection: ClusterConnection
    private let ownsConnection: Bool
    private let state = Mutex(State())

    private struct State {
        var sessions: [ObjectIdentifier: SubmissionSession] = [:]
        var isSuspended = false
        /// Submissions that wait until it is suspended no more.
        var held: [ObjectIdentifier: Promise<Void>] = [:]
        var slots = OperationQueue.defaultMaxConcurrentOperationCount
        var waitsForWorkers = false
        var requiresRemote = false
        var hostedTimeout = WireNode.hostedTimeout
        /// Where what is hosted executes; made when it is needed, and anew when it is over.
        var hosted: HostedSession?
        /// The last one.
        var barrier: LocalStep?
        var closing: ClusterError?
    }

    /// A queue on a connection that others use as well: ``close()`` leaves it open.
    public convenience init(_ connection: ClusterConnection) {
        self.init(connection, ownsConnection: false)
    }

    private init(_ connection: ClusterConnection, ownsConnection: Bool) {
        self.connection = connection
        self.ownsConnection = ownsConnection
        super.init { queue, operations in (queue as? ClusterQueue)?.submit(operations, key: nil) }
    }

    /// Connects to the coordinator at `url`: `tcp://HOST:PORT` or `ipc:///PATH`.
    ///
    /// - Throws: ``ClusterError`` with code `address` for what is no URL, `unreachable` when nobody answers
    ///   within `connectTimeout`, `notPermitted` or `version` when the coordinator refuses; an error that names the file for a key
    ///   that is missing or cannot be used.
    /// - Parameter key: the file of the key that the coordinator asks for; nil: as `AOP_KEY` or `AOP_KEYS` says, else that of the
    ///   standard folder.
    public static func connect(_ url: String, key: String? = nil, connectTimeout: Duration = .seconds(10)) async throws -> ClusterQueue {
        try await connect(ClusterAddress(url), key: key, connectTimeout: connectTimeout)
    }

    /// Connects to the coordinator at `address`, e.g. ``ClusterAddress/environment``; throws as
    /// ``connect(_:key:connectTimeout:)-(String,_,_)``.
    public static func connect(
        _ address: ClusterAddress, key: String? = nil, connectTimeout: Duration = .seconds(10)
    ) async throws -> ClusterQueue {
        ClusterQueue(try await ClusterConnection.connect(address, key: key, connectTimeout: connectTimeout), ownsConnection: true)
    }

    /// Ends the queue: what has not ended fails with a ``ClusterError`` of code `closed`, and so does what is added
    /// later. The work on the cluster goes on.
    public func close() async {
        let error = ClusterError(.closed, "the cluster queue was closed; the work on the cluster goes on")
        let (sessions, held) = state.withLock { state in
            state.closing = error
            return (Array(state.sessions.values), state.held)
        }
        // Bodies of this process end before anything is told of their operations.
        let hosted = state.withLock { $0.hosted.take() }
        await hosted?.stop(error)
        for session in sessions { session.close(error) }
        for resumed in held.values { resumed.settle(.success(())) }
        for session in sessions { await session.over() }
        await hosted?.disconnect()
        if ownsConnection { await connection.close() }
    }

    // MARK: Adding

    public override func addOperation(_ operation: Foundation.Operation) {
        guard let operation = operation as? AOperation else { return refuse(operation) }
        submit(operation.netInNoQueue(), key: nil)
    }

    /// Adds operations as one submission, and, if asked to, blocks the calling thread until they have ended.
    public override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        let own = operations.compactMap { $0 as? AOperation }
        for operation in operations where !(operation is AOperation) { refuse(operation) }
        submit(AOperation.netsInNoQueue(of: own), key: nil)
        guard wait else { return }
        let group = DispatchGroup()
        for operation in own {
            group.enter()
            operation.whenOver { group.leave() }
        }
        group.wait()
    }

    /// Adds `operation`, as `add(to:)` does, and waits until the coordinator has it on its disk.
    ///
    /// When the task that waits is cancelled, only the waiting ends: the operation is in the queue, and is handed over and runs. With a key
    /// it is found again.
    /// - Parameter key: names the submission: the same key and the same graph give the first submission again, whose
    ///   outcomes the operations then have. Drawn at random when nil.
    /// - Parameter weight: how many of its operations are started before the turn of the next submission of equal
    ///   priority, from 1 to 100.
    /// - Throws: ``ClusterError``: `refused` with everything that is wrong with the graph, `busy`, `closed`, …; the
    ///   operations have failed with it then. `CancellationError` when the task is cancelled.
    public func submit(_ operation: AOperation, key: String? = nil, weight: Int = 1) async throws -> ClusterSubmission {
        let session = submit(operation.everythingInNoQueue(), key: key, weight: weight)
        guard let session else {
            throw ClusterError(.refused, "`\(operation.name ?? "")` is in a queue already, or has ended; make a fresh one")
        }
        return ClusterSubmission(try await session.submitted(), session, connection)
    }

    private static let weights = 1...100

    @discardableResult
    private func submit(_ operations: [AOperation], key: String?, weight: Int = 1) -> SubmissionSession? {
        let fresh = operations.filter(\.isInitialized)
        let known = Set(fresh.map(ObjectIdentifier.init))
        // What has ended comes behind what receives from it, which is the cluster's by then.
        defer { addWithoutNets(operations.filter { !known.contains(ObjectIdentifier($0)) }) }
        guard !fresh.isEmpty else { return nil }
        let nodes = operations.filter { known.contains(ObjectIdentifier($0)) || $0.hasEndedAsCancelled }
        var graph = GraphBuilder.graph(of: nodes, requiresRemote: requireRemote, hostedTimeout: hostedTimeout)
        if Self.weights.contains(weight) {
            // Of the standard one nothing need be said.
            if weight != 1 { graph.wire.nodes[0].weight = UInt32(weight) }
        } else {
            graph.fault(
                graph.top.first ?? 0,
                "was submitted with a weight of \(weight); use one from \(Self.weights.lowerBound) to \(Self.weights.upperBound)")
        }
        if maxConcurrentOperationCount >= 0 {
            graph.fault(
                graph.top.first ?? 0,
                "was added to a ClusterQueue with a `maxConcurrentOperationCount`; set that of a group, or the slots of the workers")
        }
        let (waitsForWorkers, barrier) = state.withLock { ($0.waitsForWorkers, $0.barrier) }
        if let barrier, !barrier.isEnded { graph.outside.append(barrier) }
        let link = SessionLink()
        let place = SubmissionPlace()
        let core = connection.core
        let mirror: Mirrors.Mirror = { operation, path, isHosted in
            var cursor: (@Sendable () -> any RemotePartialResultCursor)?
            // What executes here and has no wire form is read here.
            let sender = operation as? any PartialResultOperation
            let sendsElsewhere = !isHosted || sender.map { type(of: $0).canSendElsewhere } == true
            if sendsElsewhere { cursor = { ElementCursor(core) { (try await place.id(), try await path.id()) } } }
            return operation.becomeMirror(
                whenCancelled: { _ in if let path = path.known { link.session?.cancel(path: path) } }, partialResults: cursor)
        }
        mirrorMembers(of: &graph, mirror)
        // All of it is another's, who was added at the same moment.
        guard graph.top.contains(where: { graph.members[$0].operation != nil }) else { return nil }
        let session = SubmissionSession(
            graph, connection,
            .init(
                key: key, waitsForWorkers: waitsForWorkers,
                host: { [weak self] in
                    guard let self else { throw ClusterError(.closed, "the cluster queue is gone") }
                    return try hostedSession()
                }, mirror: mirror, enqueue: { [weak self] in self?.enqueueMirror($0) }), place)
        link.session = session
        // What conditions want done stands beside what it is done for, as on any queue.
        addWithoutNets(fresh + graph.dependents)
        let faults = graph.faults.asRefusal
        // Asked and entered in one step: what `close()` does not find among the sessions is refused here.
        let problem = state.withLock { state in
            let problem = state.closing ?? faults
            if problem == nil { state.sessions[ObjectIdentifier(session)] = session }
            return problem
        }
        if problem == nil {
            for operation in graph.broughtAlong where operation.isInNoKnownQueue { submit(operation.everythingInNoQueue(), key: nil) }
        } else {
            for operation in graph.plain { operation.cancel() }
        }
        session.start(refusing: problem) { [weak self] in
            await self?.untilResumed($0)
        } ended: { [weak self] session in
            self?.state.withLock { $0.sessions[ObjectIdentifier(session)] = nil }
        }
        return session
    }

    /// Makes the graph's operations mirrors. What is another queue's by now is no part of it any more, with all that is in it.
    private func mirrorMembers(of graph: inout OperationGraph, _ mirror: Mirrors.Mirror) {
        let isTop = Set(graph.top)
        for (node, member) in graph.members.enumerated() {
            guard let operation = member.operation else { continue }
            let isLost = !isTop.contains(node) && graph.members[member.parent].operation == nil
            let path = SubmissionPlace()
            path.settle(.success(member.path))
            guard isLost || (!mirror(operation, path, graph.wire.nodes[node].hosted) && !operation.isCancelled) else { continue }
            graph.members[node].operation = nil
            graph.fault(node, "was added to another queue at the same moment")
        }
    }

    /// A mirror of what came to a submission while that ran.
    private func enqueueMirror(_ operation: AOperation) { addWithoutNets([operation]) }

    /// Where this queue's hosted code executes.
    private func hostedSession() throws -> HostedSession {
        try state.withLock { state in
            if let closing = state.closing { throw closing }
            if let hosted = state.hosted, hosted.ending == nil { return hosted }
            let hosted = try HostedSession(for: connection)
            state.hosted = hosted
            return hosted
        }
    }

    /// A plain operation lives in this process.
    private func refuse(_ operation: Foundation.Operation) {
        AOperation.Debugger.error(
            "the plain operation \(operation.name ?? "\(type(of: operation))") cannot run on a cluster; it is cancelled. "
                + "Make it a ClusterOperation, or add it to an AOperationQueue")
        operation.cancel()
        super.addOperation(operation)
    }

    // MARK: Settings

    /// While it is set nothing is submitted. What was submitted goes on.
    public override var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            let held = state.withLock { state in
                state.isSuspended = newValue
                return newValue ? [:] : state.held
            }
            for resumed in held.values { resumed.settle(.success(())) }
        }
    }

    /// - Parameter resumed: settled here, or by a submission that needs to wait no longer.
    private func untilResumed(_ resumed: Promise<Void>) async {
        let id = ObjectIdentifier(resumed)
        let isHeld = state.withLock { state in
            guard state.isSuspended, state.closing == nil else { return false }
            state.held[id] = resumed
            return true
        }
        guard isHeld else { return }
        // It throws when the submission is given up, which asks for that itself.
        try? await resumed.value()
        state.withLock { $0.held[id] = nil }
    }

    /// Not for a queue whose slots are those of the workers: what is added while it is set is refused. Limit a group,
    /// with its own `maxConcurrentOperationCount`, or the workers' slots.
    public override var maxConcurrentOperationCount: Int {
        get { state.withLock { $0.slots } }
        set { state.withLock { $0.slots = newValue } }
    }

    /// Whether operations that no worker has registered yet are taken, and wait for one that does. Otherwise, which is
    /// the default, they are refused.
    public var waitsForWorkers: Bool {
        get { state.withLock { $0.waitsForWorkers } }
        set { state.withLock { $0.waitsForWorkers = newValue } }
    }

    /// Whether everything has to run on workers. Otherwise, which is the default, operations and conditions that only this
    /// process has are parts of the graph that execute here; they end with it. What is added while this is set, and has
    /// such parts, is refused, with an error for each of them.
    public var requireRemote: Bool {
        get { state.withLock { $0.requiresRemote } }
        set { state.withLock { $0.requiresRemote = newValue } }
    }

    /// How long each step in this process may take that is part of a graph, other than to execute an operation: a condition, what
    /// a group does next, `retryOnFailure`, `willFinish`; 60 s by default, 49 days at most.
    ///
    /// A condition that takes longer has failed, and so has the decision of a group; `retryOnFailure` is taken to have answered
    /// no, and `willFinish` is passed over. It counts for what is added after it was set.
    public var hostedTimeout: Duration {
        get { state.withLock { $0.hostedTimeout } }
        set { state.withLock { $0.hostedTimeout = newValue } }
    }

    /// Runs `barrier` in this process when everything that is in the queue has ended; what is added later is not
    /// submitted before.
    public override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        let step = LocalStep(barrier)
        // Before the step is known: who finds it waits for it, and is not waited for.
        for operation in operations { step.addDependency(operation) }
        let last = state.withLock { state in
            defer { state.barrier = step }
            return state.barrier
        }
        if let last { step.addDependency(last) }
        LocalStep.queue.addOperation(step)
    }

    /// Blocks the calling thread until no operation and no barrier is left.
    public override func waitUntilAllOperationsAreFinished() {
        super.waitUntilAllOperationsAreFinished()
        guard let barrier = state.withLock({ $0.barrier }) else { return }
        let group = DispatchGroup()
        group.enter()
        barrier.whenOver { group.leave() }
        group.wait()
    }
}

/// A mirror's way to its session, which it does not keep.
private final class SessionLink: Sendable {
    private let held = Mutex(Weak())

    private struct Weak {
        weak var session: SubmissionSession?
    }

    var session: SubmissionSession? {
        get { held.withLock { $0.session } }
        set { held.withLock { $0.session = newValue } }
    }
}

extension [GraphFault] {
    /// Nil when there is none.
    fileprivate var asRefusal: ClusterError? {
        guard !isEmpty else { return nil }
        return ClusterError(
            .refused, "the graph cannot run on a cluster: \(count) error\(count == 1 ? "" : "s")",
            errors: map { ClusterError.GraphError(node: $0.node, path: $0.path, message: $0.message) })
    }
}
