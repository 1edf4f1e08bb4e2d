import Cluster
import Foundation
import GraphFile
import Shapes
import Synchronization
import UnixSignals
import Wire

/// One graph on its private cluster, from submission to outcome, whatever happens in between.
struct GraphRun: Sendable {
    private enum Event: Sendable {
        case done(Result<ExitStatus, any Error>)
        case signal
        case timeOver
        case processEnded(ToolError)
    }

    /// Why the work was told to stop before it was done.
    private enum Interruption {
        case signal
        case timeOver
    }

    let loaded: LoadedGraph
    let cluster: PrivateCluster
    let console: Console
    let reporter: ProgressReporter
    /// The results are printed at the end.
    var showsOutcome = true
    private let submitted = SharedSubmission()

    /// What lists more failures than are shown.
    private let moreFailures: String

    init(
        loaded: LoadedGraph, cluster: PrivateCluster, console: Console, reporter: ProgressReporter,
        moreFailures: String = "-o json lists them all"
    ) {
        self.moreFailures = moreFailures
        self.loaded = loaded
        self.cluster = cluster
        self.console = console
        self.reporter = reporter
    }

    /// Runs the graph. The first signal (or `timeout`) cancels the work, the second ends its commands at once, the third
    /// gives up waiting for that.
    func untilDone(signals: UnixSignalsSequence, timeout: DurationArgument?) async throws -> ExitStatus {
        let (events, event) = AsyncStream<Event>.makeStream()
        let work = Task<Void, Never> { _ = event.yield(.done(await Self.result { try await submitAndFollow() })) }
        let watchers = [
            Task<Void, Never> { for await _ in signals { event.yield(.signal) } },
            Task<Void, Never> { _ = event.yield(.processEnded(await cluster.firstEnd())) },
            Task<Void, Never> {
                guard let timeout else { return }
                do { try await Task.sleep(for: timeout.duration) } catch { return }
                event.yield(.timeOver)
            },
        ]
        defer {
            for watcher in watchers { watcher.cancel() }
        }
        var interruption: Interruption?
        var requests = 0
        for await event in events {
            switch event {
            case .done(let result):
                return try outcome(of: result, interruption, timeout)
            case .processEnded(let error):
                work.cancel()
                throw error
            case .timeOver:
                interruption = interruption ?? .timeOver
                requests += 1
                interrupt(work, requests)
                // It comes once: what is not even admitted by then is given up.
                if !submitted.isThere {
                    Task {
                        // Nobody cancels it.
                        do { try await Task.sleep(for: .seconds(Self.admissionSeconds)) } catch { return }
                        if !submitted.isThere { work.cancel() }
                    }
                }
            case .signal:
                interruption = .signal
                requests += 1
                interrupt(work, requests)
            }
        }
        throw CancellationError()
    }

    /// How long an admission that has begun may take when the run is to end.
    private static let admissionSeconds = 10

    private func submitAndFollow() async throws -> ExitStatus {
        let connection = try await cluster.connect()
        do {
            let status = try await submitAndFollow(over: connection)
            await connection.close()
            return status
        } catch {
            await connection.close()
            throw error
        }
    }

    private func submitAndFollow(over connection: ClusterConnection) async throws -> ExitStatus {
        let id: String
        // What no worker has is refused once one is known.
        if loaded.graph.nodes.contains(where: \.hasRequires) { try await waitForWorkers(connection) }
        submitted.begin()
        do {
            id = try await connection.submit(loaded.graph, trace: GivenTrace.fields(console)).id
        } catch let error as ClusterError {
            throw ToolError.refused(error, in: loaded)
        }
        let isInterrupted = submitted.set(id, connection)
        try Task.checkCancellation()
        // It may have been admitted by then, and would go on in a directory that is kept.
        if isInterrupted { _ = try await connection.cancel(id, reason: "interrupted") }
        let view = try await reporter.follow(id, from: .submission, over: connection)
        if showsOutcome { try await Outcome(console: console, connection: connection).show(view, moreFailures: moreFailures) }
        return ExitStatus(outcome: view)
    }

    private func waitForWorkers(_ connection: ClusterConnection) async throws {
        while try await connection.workers().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Asks for the end of the work: as cancelled, then at once, then without waiting for it.
    private func interrupt(_ work: Task<Void, Never>, _ requests: Int) {
        let found: (id: String, connection: ClusterConnection)
        switch submitted.interrupt() {
        case .submitted(let id, let connection) where requests <= 2: found = (id, connection)
        case .submitting where requests == 1: return
        case .none, .submitting, .submitted: return work.cancel()
        }
        let now = requests == 2
        Task {
            if console.mode == .text {
                await reporter.note(now ? "ending commands at once\n" : "cancelling; once more ends commands at once\n")
            }
            do {
                _ = try await found.connection.cancel(found.id, reason: "interrupted", now: now)
            } catch {
                work.cancel()
            }
        }
    }

    private func outcome(
        of result: Result<ExitStatus, any Error>, _ interruption: Interruption?, _ timeout: DurationArgument?
    ) throws -> ExitStatus {
        guard let interruption else { return try result.get() }
        // The work may have ended by itself just before.
        if case .success(let status) = result, status != .cancelled { return status }
        let rest = cluster.keptData.map { "; what had not ended is in \($0), and goes on with a coordinator there" } ?? ""
        switch interruption {
        case .signal:
            if case .success = result { return .interrupted }
            throw ToolError(.interrupted, "interrupted", "interrupted; the work was given up\(rest)")
        case .timeOver:
            let limit = TimeText.duration(milliseconds: timeout?.milliseconds ?? 0)
            let isCancelled = if case .success = result { true } else { false }
            console.note("aop: --timeout of \(limit) is over; the work was \(isCancelled ? "cancelled" : "given up\(rest)")\n", .error)
            return .timeout
        }
    }

    private static func result<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// How far the submission of a run is.
private final class SharedSubmission: Sendable {
    enum Phase {
        case none
        /// It may be accepted at any moment.
        case submitting
        case submitted(String, ClusterConnection)
    }

    private struct State {
        var phase = Phase.none
        var isInterrupted = false
    }

    private let state = Mutex(State())

    func begin() { state.withLock { $0.phase = .submitting } }

    /// - Returns: whether it was to be ended meanwhile.
    func set(_ id: String, _ connection: ClusterConnection) -> Bool {
        state.withLock { state in
            state.phase = .submitted(id, connection)
            return state.isInterrupted
        }
    }

    var isThere: Bool {
        state.withLock { state in if case .submitted = state.phase { true } else { false } }
    }

    func interrupt() -> Phase {
        state.withLock { state in
            state.isInterrupted = true
            return state.phase
        }
    }
}
