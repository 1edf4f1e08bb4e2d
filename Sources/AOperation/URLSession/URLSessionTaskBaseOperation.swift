import Foundation

/// What the operations that load over a session have in common. ``URLSessionTaskOperation`` makes them.
///
/// - Every answer of a server is a success, whatever its status is: look at the response. A failure to get an answer
///   is an ``AOperationError`` whose `publishedError` is a `URLError`.
/// - `file:` URLs are read from disk, with a response that names media type and length; a missing file is
///   `URLError.fileDoesNotExist`, one of another host than `localhost` is `URLError.unsupportedURL`.
/// - Redirects are followed, the body is sent along where HTTP asks for that; `Authorization` and `Cookie` headers
///   are not sent on to another host. An answer that asks for credentials is an answer like others, unless the
///   session has them.
/// - Cancelling the operation cancels its task; the body ends when the task has.
/// - When nothing has come or gone for as long as the request allows (`timeoutInterval`, 60 s by default, whole
///   seconds) it fails with `URLError.timedOut`.
///
/// Nothing is asked of the session before the operation runs.
///
/// Invariant behind `@unchecked Sendable`: what changes is in `state`, under its lock.
public class URLSessionTaskBaseOperation<Output>: ResultableOperation<Output>, @unchecked Sendable {
    private enum Stage {
        /// Not executed yet.
        case idle
        case loading(any Transfer, [ProgressReport])
        /// The transfer has ended, and this is about to be proposed as the outcome.
        case loaded(Result<Output, any Error>)
        /// That was proposed, or there was nothing to stop when it was cancelled.
        case over
    }

    private struct State {
        var stage = Stage.idle
        var session: URLSessionTaskOperation.Session?
        var progressHandlers: [ProgressReport.Handler] = []
    }

    let source: TransferRequest
    private let measure: Reception<Output>.Measure
    private let makeSink: @Sendable () -> any TransferSink<Output>
    private let state = Guarded(State())
    /// Where observers hear of progress and end, in this order: they must not hold up the transfers of the session.
    private let queue = DispatchQueue(label: "AOperation.loading", target: .global())

    init(
        _ source: TransferRequest, measuredBy measure: Reception<Output>.Measure,
        into makeSink: @escaping @Sendable () -> any TransferSink<Output>
    ) {
        self.source = source
        self.measure = measure
        self.makeSink = makeSink
        super.init()
    }

    // MARK: Configuration

    /// Calls `handler` while the operation loads, with how far it is: bytes received, or bytes sent for an upload.
    ///
    /// Fractions rise, up to 1 for a success. Where the length is not known beforehand the progress is indeterminate
    /// until the end. Handlers are called on the callback queue, before `didFinish`; if one is slow, steps are left
    /// out. To be set before the operation starts; another attempt calls them too. Observers and
    /// ``AOperation/progressUpdates`` are told in steps of a hundredth.
    @discardableResult
    public final func didChangeProgress(_ handler: @escaping @Sendable (Progress) -> Void) -> Self {
        let isFirst = state.withLock { state in
            state.progressHandlers.append(handler)
            return state.progressHandlers.count == 1
        }
        if isFirst { addObserver(BlockObserver(progressHandler: { [weak self] _, progress in self?.tellOfRemote(progress) })) }
        return self
    }

    /// Loads in `session`, instead of ``URLSessionTaskOperation/session``. To be set before the operation starts.
    @discardableResult
    public final func session(_ session: URLSessionTaskOperation.Session) -> Self {
        state.withLock { $0.session = session }
        return self
    }

    /// Takes the configuration of `other` over.
    final func adoptConfiguration(of other: URLSessionTaskBaseOperation<Output>) {
        let (session, handlers) = other.state.withLock { ($0.session, $0.progressHandlers) }
        state.withLock { state in
            state.session = session
            state.progressHandlers = handlers
        }
    }

    /// It is loaded on a worker, which has told how far it is.
    private func tellOfRemote(_ progress: OperationProgress) {
        guard isMirror else { return }  // another attempt, here, tells the handlers itself
        let handlers = state.withLock { state -> [ProgressReport.Handler] in
            guard case .idle = state.stage else { return [] }
            return state.progressHandlers
        }
        let steps = Progress(totalUnitCount: 1_000)
        steps.completedUnitCount = Int64(progress.fraction * 1_000)
        for handler in handlers { handler(steps) }
    }

    /// A file of this machine, a stream, or a session with a configuration is not to be had elsewhere.
    final override var staysHere: Bool { source.staysHere || state.withLock { $0.session != nil } }

    // MARK: Work

    public final override func execute() {
        let (session, handlers) = state.withLock { ($0.session, $0.progressHandlers) }
        let progress = [ProgressReport(to: handlers, on: currentCallbackQueue), makeReportToObservers()]
        let transfer = makeTransfer(in: session, telling: progress)
        let isStarted = state.withLock { state in
            guard case .idle = state.stage else { return false }
            state.stage = .loading(transfer, progress)
            return true
        }
        guard isStarted else { return endBody() }
        transfer.start()
    }

    public final override func cancel() {
        super.cancel()
        let stage = state.withLock { state in
            if case .idle = state.stage { state.stage = .over }
            return state.stage
        }
        guard case .loading(let transfer, let progress) = stage else { return }
        for report in progress { report.close() }
        transfer.cancel()
    }

    /// `value` is about to be proposed as the result.
    func willPropose(_ value: Output) {}

    private func makeTransfer(
        in session: URLSessionTaskOperation.Session?, telling progress: [ProgressReport]
    ) -> any Transfer {
        let reception = Reception(into: makeSink(), progress: progress, measuredBy: measure) { [self] result in
            end(with: result)
        }
        if source.isOfFile, let url = source.url, measure == .bytesReceived {
            return FileTransfer(url, to: reception)
        }
        return SessionTransfer(source, in: session ?? URLSessionTaskOperation.session, to: reception)
    }

    private func makeReportToObservers() -> ProgressReport {
        let report: ProgressReport.Handler = { [weak self] progress in
            if !progress.isIndeterminate { self?.reportProgress(progress.fractionCompleted) }
        }
        return ProgressReport(to: [report], on: queue, fractionMin: 0.01)
    }

    /// Called by the transfer, on its queue.
    private func end(with result: Result<Output, any Error>) {
        state.withLock { $0.stage = .loaded(result) }
        queue.async { self.propose() }
    }

    private func propose() {
        let stage = state.withLock { state in
            defer { state.stage = .over }
            return state.stage
        }
        guard case .loaded(let result) = stage else { return }
        if case .success(let value) = result { willPropose(value) }
        finish(with: result.mapError { AOperationError($0) })
    }

    private var currentCallbackQueue: DispatchQueue {
        core.withLock { $0.membership?.lane.callbackQueue } ?? AOperation.callbackQueue
    }
}
