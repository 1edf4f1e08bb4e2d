import AOperation
import Executing
import Foundation
import Synchronization
import Wire

/// One submission of a ``ClusterQueue``: waits until it can be handed over, hands it over, and tells the mirrors what
/// becomes of it, until all of them have ended.
final class SubmissionSession: Sendable {
    let mirrors: Mirrors
    private let connection: ClusterConnection
    private let options: Options
    private let place: SubmissionPlace
    private let state = Mutex(State())
    /// Where the mirrors are told: what the program does when it hears of something may take its time.
    private let applying = DispatchQueue(label: "aop.cluster-queue")

    struct Options: Sendable {
        var key: String?
        var waitsForWorkers: Bool
        /// Where its hosted code executes, asked for if there is some.
        var host: @Sendable () throws -> HostedSession
        /// Makes an operation, which came to the graph while that ran, a mirror.
        var mirror: Mirrors.Mirror = { _, _, _ in false }
        /// Puts such an operation into the queue.
        var enqueue: @Sendable (AOperation) -> Void = { _ in }
    }

    private struct State {
        var task: Task<Void, Never>?
        /// Paths that are to be cancelled there, once it is known to be there.
        var cancellations: [String] = []
        /// Why it was given up.
        var closing: ClusterError?
        /// How the coordinator says that the submission has ended; nil: it has not said so.
        var told: OutcomeState?
    }

    private let submission = Promise<SubmittedGraph>()
    /// Known when the mirrors know how all of it has ended: what the coordinator says of the submission; nil: it has not said so.
    private let end = Promise<OutcomeState?>()

    init(
        _ graph: OperationGraph, _ connection: ClusterConnection, _ options: Options, _ place: SubmissionPlace = SubmissionPlace()
    ) {
        self.place = place
        mirrors = Mirrors(graph, mirror: options.mirror, enqueue: options.enqueue)
        self.connection = connection
        self.options = options
    }

    private var graph: OperationGraph { mirrors.graph }

    /// - Parameters:
    ///   - problem: why it cannot be submitted; nil: nothing is known.
    ///   - ready: returns when the queue lets submissions go, or the promise that it is given is settled.
    ///   - ended: called when all is over.
    func start(
        refusing problem: ClusterError?, when ready: @escaping @Sendable (Promise<Void>) async -> Void,
        ended: @escaping @Sendable (SubmissionSession) -> Void
    ) {
        let problem = problem ?? WaitingSubmissions.shared.enter(graph)
        let task = Task {
            if let problem { await fail(problem) } else { await run(when: ready) }
            WaitingSubmissions.shared.leave(graph)
            mirrors.discardProducts()
            end.settle(.success(self.state.withLock { $0.told }))
            ended(self)
        }
        let isClosing = state.withLock { state in
            state.task = task
            return state.closing != nil
        }
        if isClosing { task.cancel() }
    }

    /// Gives the submission up: what has not ended fails with `error`. What was handed over goes on.
    func close(_ error: ClusterError) {
        let task = state.withLock { state in
            state.closing = state.closing ?? error
            return state.task
        }
        task?.cancel()
    }

    // MARK: Its course

    private func run(when ready: @escaping @Sendable (Promise<Void>) async -> Void) async {
        do {
            await waitForOutside()
            WaitingSubmissions.shared.leave(graph)
            let resumed = Promise<Void>()
            whenAllIsOver { resumed.settle(.success(())) }
            await ready(resumed)
            try Task.checkCancellation()
            guard let cancelled = handOver() else { return await cancelAll() }
            let (submitted, host) = try await submit(cancelled: cancelled)
            host?.claim(submitted.id, mirrors)
            defer { host?.release(submitted.id, mirrors) }
            settle(.success(submitted))
            if submitted.isExisting { for node in cancelled { cancel(path: graph.members[Int(node)].path) } }
            drainCancellations()
            try await follow(submitted.id)
        } catch {
            await fail(self.error(for: error))
        }
    }

    /// Hands it over, with the session of this process in which its hosted code executes.
    private func submit(cancelled: [UInt32]) async throws -> (SubmittedGraph, HostedSession?) {
        let key = options.key ?? UUID().uuidString
        var tries = 0
        while true {
            let host = graph.hasHostedCode ? try options.host() : nil
            do {
                try await host?.attached()
                let submitted = try await connection.submit(
                    graph.wireWithEnds, key: key, name: nil, waitForWorkers: options.waitsForWorkers, cancelled: cancelled,
                    submitter: host?.incarnation ?? 0)
                return (submitted, host)
            } catch let error as ClusterError where error.code == .sessionOver && tries < Self.sessionTriesMax {
                // The coordinator has not heard this process for too long: another session is made.
                tries += 1
                await host?.stop(error)
                await host?.disconnect()
            }
        }
    }

    private static let sessionTriesMax = 3

    private func error(for error: any Error) -> ClusterError {
        if let closing = state.withLock({ $0.closing }) { return closing }
        return error as? ClusterError ?? ClusterError(.closed, "the submission was given up: \(error.localizedDescription)")
    }

    /// Ends everything that has not ended. How what was handed over ends is not known any more.
    private func fail(_ error: ClusterError) async {
        let errors = graph.errors(for: error)
        let wasNowhere = if case .success? = submission.known { false } else { true }
        await tell { $0.endRest(.failure(errors), wasNowhere: wasNowhere) }
        settle(.failure(error))
    }

    /// Everything at the top was cancelled before it was handed over: whatever the cancellation has not reached yet is cancelled.
    private func cancelAll() async {
        await tell { $0.endRest(.cancelled) }
        settle(.failure(ClusterError(.closed, "all of it was cancelled before it was submitted")))
    }

    /// From here on bodies may run there. Returns the nodes that have been cancelled before; nil: there is nothing to do.
    private func handOver() -> [UInt32]? {
        var isDead = [Bool](repeating: false, count: graph.members.count)
        var cancelled: [UInt32] = []
        for (node, member) in graph.members.enumerated() {
            guard let operation = member.operation, !operation.handOver() else { continue }
            isDead[node] = true
            if node == 0 || !isDead[member.parent] { cancelled.append(UInt32(node)) }
        }
        return graph.top.allSatisfy { isDead[$0] } ? nil : cancelled
    }

    /// Waits for what is not in the graph; not any longer than there is something in it that has not ended.
    private func waitForOutside() async {
        guard !graph.outside.isEmpty else { return }
        let signal = LocalStep()
        for operation in graph.outside { signal.addDependency(operation) }
        whenAllIsOver { signal.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                signal.whenOver { continuation.resume() }
                LocalStep.queue.addOperation(signal)
            }
        } onCancel: {
            signal.cancel()
        }
    }

    /// Calls `handler` when everything at the top has ended.
    private func whenAllIsOver(_ handler: @escaping @Sendable () -> Void) {
        let open = Mutex(graph.top.count)
        for node in graph.top {
            graph.members[node].operation?.whenOver {
                let isLast = open.withLock { open in
                    open -= 1
                    return open == 0
                }
                if isLast { handler() }
            }
        }
    }

    // MARK: Following

    private func follow(_ id: String) async throws {
        for try await event in connection.core.follow(id, .everything) {
            switch event {
            case .view(let view):
                note(view)
                try await reconcile(id)
            case .events(let events, let view):
                note(view)
                try await apply(events.map(NodeReport.init))
            case .interrupted: break
            }
        }
        try Task.checkCancellation()
        if !mirrors.haveEnded { try await reconcile(id) }
        if !mirrors.haveEnded {
            throw ClusterError(.unexpectedAnswer, "the submission \(id) has ended, and what became of some operations is not known")
        }
    }

    private func note(_ view: WireSubmissionView) {
        guard let told = OutcomeState(view.state) else { return }
        state.withLock { $0.told = told }
    }

    /// Events may have been missed: tells what is not told yet, from how everything stands.
    private func reconcile(_ id: String) async throws {
        var reports: [NodeReport] = []
        var added: [NodeChange] = []
        for try await page in connection.operations(of: id, withValues: true) {
            let all = page.map(NodeReport.init)
            added += all.compactMap { take($0) }
            reports += all.filter { !mirrors.hasEnded($0.node) }
        }
        await apply(added)
        mirrors.forgetHeldEnds()
        try await apply(NodeReport.inOrder(reports))
    }

    /// Applies reports in their order; what lies at the coordinator is fetched first, and nothing overtakes it. Errors of conditions name
    /// dependencies, whose ends come before.
    private func apply(_ reports: [NodeReport]) async throws {
        var changes: [NodeChange] = []
        for report in reports {
            if let added = take(report) { changes.append(added) }
            guard !mirrors.hasEnded(report.node) else { continue }
            if report.isLarge || report.isOfCondition {
                await apply(changes)
                changes = []
            }
            if let change = try await change(report) { changes.append(change) }
        }
        await apply(changes)
    }

    /// Something that is not known came to the graph: its mirror is made. Nodes come in their order; of those that came and were dropped again
    /// while nobody looked nothing is heard.
    private func take(_ report: NodeReport) -> NodeChange? {
        guard let added = report.added, report.node >= mirrors.count else { return nil }
        mirrors.skip(to: report.node)
        if mirrors.append(added, path: report.path) { cancel(path: report.path) }
        return NodeChange(node: report.node, news: .added(producer: added.hasProducer ? Int(added.producer) : nil))
    }

    private func change(_ report: NodeReport) async throws -> NodeChange? {
        do {
            return report.change(graph, bytes: try await connection.bytes(of: report.value))
        } catch let error as ClusterError where error.code == .valueUnavailable {
            return NodeChange(node: report.node, news: .ended(.failure([AOperationError(error)]), hasStarted: true))
        }
    }

    private func apply(_ changes: [NodeChange]) async {
        guard !changes.isEmpty else { return }
        await tell { $0.apply(changes) }
        for path in mirrors.takeCancelledAnew() { cancel(path: path) }
    }

    private func tell(_ news: @escaping @Sendable (Mirrors) -> Void) async {
        await withCheckedContinuation { continuation in
            applying.async { [mirrors] in
                news(mirrors)
                continuation.resume()
            }
        }
    }

    // MARK: Cancelling

    /// The operation at `path` was cancelled here: it is to be cancelled there as well, as soon as it is there.
    func cancel(path: String) {
        state.withLock { $0.cancellations.append(path) }
        drainCancellations()
    }

    /// Asks for what is to be cancelled; a request outlives the connection.
    private func drainCancellations() {
        let (id, paths) = state.withLock { state -> (String, [String]) in
            guard case .success(let submitted)? = submission.known, state.closing == nil else { return ("", []) }
            defer { state.cancellations = [] }
            return (submitted.id, state.cancellations)
        }
        for path in paths {
            Task { [self] in
                do {
                    _ = try await connection.core.ask(
                        .cancel(
                            .with {
                                $0.submission = id
                                $0.path = path
                            }))
                } catch {
                    // It ends there by itself, and then here.
                    AOperation.Debugger.error("the operation \(path) of submission \(id) could not be cancelled: \(error)")
                }
            }
        }
    }

    // MARK: Who waits

    private func settle(_ result: Result<SubmittedGraph, ClusterError>) {
        place.settle(result.map(\.id))
        submission.settle(result.mapError { $0 as any Error })
    }

    /// Waits until it is on the coordinator's disk.
    ///
    /// - Throws: why it could not be submitted; `CancellationError`: only the waiting has ended.
    func submitted() async throws -> SubmittedGraph { try await submission.value() }

    /// Waits until the mirrors know how all of it has ended.
    ///
    /// - Returns: what the coordinator says of the submission as a whole; nil: it has not said so.
    /// - Throws: `CancellationError`: only the waiting has ended.
    func ended() async throws -> OutcomeState? { try await end.value() }

    /// As ``ended()``, also in a task that is cancelled: for the end of a session that was closed, which comes from this process.
    func over() async { _ = await Task { [end] in try await end.value() }.result }
}
