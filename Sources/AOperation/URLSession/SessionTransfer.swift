import Foundation
import Synchronization

/// Loads over a session, by one task, or by several where a redirect takes the body along.
///
/// Everything is done on the session's queue: Foundation's calls wait for a queue of its own, and a thread for each
/// transfer that waits there would leave none to go on with.
///
/// Invariant behind `@unchecked Sendable`: what changes, and the receiver, is only reached on the session's queue.
final class SessionTransfer: Transfer, @unchecked Sendable {
    private enum State {
        /// The body is being read; nothing was asked of the session yet.
        case preparing
        /// The task loads the answer.
        case loading(URLSessionTask)
        /// The task ends with a redirect; the next one begins then.
        case redirecting(URLSessionTask, to: TransferRequest)
        /// The task's connection died within the body, which the task cannot send again. It was cancelled; another
        /// one begins when it has ended.
        case restarting(URLSessionTask)
        /// The answer asks for credentials that nobody has. It is the result; its task is cancelled, as Foundation
        /// does not end it otherwise.
        case refused(URLSessionTask)
        /// The task was cancelled, if there was one; the transfer ends with this error when that, or the reading, does.
        case stopping(any Error)
        case ended
    }

    /// How often it is sent again, by redirects that take the body along and connections that die in it.
    private static let resendsMax = 20

    private let session: URLSessionTaskOperation.Session
    private let receiver: any TransferReceiver
    private var source: TransferRequest
    private var state = State.preparing
    private var resends = 0
    private let isCancelled = Atomic<Bool>(false)

    init(
        _ source: TransferRequest, in session: URLSessionTaskOperation.Session, to receiver: any TransferReceiver
    ) {
        self.source = source
        self.session = session
        self.receiver = receiver
    }

    func start() {
        // What is read is read on a thread that may wait for it.
        let queue = source.isToBeRead ? DispatchQueue.global() : session.queue
        queue.async { [self, source] in
            let prepared = Result { try source.prepared { isCancelled.load(ordering: .relaxed) } }
            session.queue.async { [self] in begin(prepared) }
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        session.queue.async { [self] in
            let reason = URLError.cancelled(loading: source.url)
            switch state {
            case .preparing: state = .stopping(reason)
            case .loading(let task), .redirecting(let task, _), .restarting(let task): stop(task, because: reason)
            case .refused, .stopping, .ended: break
            }
        }
    }

    // MARK: On the session's queue

    private func begin(_ prepared: Result<TransferRequest, any Error>) {
        if case .stopping(let reason) = state { return end(with: reason) }
        switch prepared {
        case .success(let source): load(source)
        case .failure(let error): end(with: error)
        }
    }

    private func load(_ source: TransferRequest) {
        self.source = source
        let task = source.makeTask(in: session.urlSession)
        session.delegate.add(self, for: task, sending: source.file)
        state = .loading(task)
        task.resume()
    }

    private func stop(_ task: URLSessionTask, because reason: any Error) {
        state = .stopping(reason)
        task.cancel()
    }

    private func end(with error: (any Error)?, response: URLResponse? = nil) {
        state = .ended
        receiver.ended(with: error.map { URLError.ofTask($0, loading: source.url) }, response: response)
    }

    /// Gives the receiver something of the task's, if that is still what is loaded.
    private func receive(from task: URLSessionTask, _ step: (any TransferReceiver) throws -> Void) {
        guard case .loading(task) = state else { return }
        do {
            try step(receiver)
        } catch {
            stop(task, because: error)
        }
    }
}

extension SessionTransfer: TaskListener {
    func task(_ task: URLSessionTask, received response: URLResponse) {
        // Not the response's own length: a body that is unpacked on the way has another one.
        let total = task.countOfBytesExpectedToReceive
        receive(from: task) { try $0.received(response, expecting: total > 0 ? total : -1) }
    }

    func task(_ task: URLSessionTask, received data: Data) {
        receive(from: task) { try $0.received(data) }
    }

    func task(_ task: URLSessionTask, sent count: Int64, of total: Int64) {
        receive(from: task) { $0.sent(count, of: source.streamedBytes ?? (total > 0 ? total : -1)) }
    }

    func task(_ task: URLSessionTask, redirectedTo request: URLRequest, go: @escaping @Sendable (URLRequest?) -> Void) {
        guard case .loading(task) = state else { return }
        switch Redirect(of: source, to: request) {
        case .follow(let request):
            source = TransferRequest(request)
            go(request)
        case .resend(let next):
            guard countResend(of: task, orFailWith: .httpTooManyRedirects, "There were too many redirects.") else { return }
            state = .redirecting(task, to: next)
            go(nil)
        }
    }

    func taskLostItsBody(_ task: URLSessionTask) {
        guard case .loading(task) = state,
            countResend(of: task, orFailWith: .networkConnectionLost, "The connection was lost again and again.")
        else { return }
        state = .restarting(task)
        task.cancel()
    }

    private func countResend(of task: URLSessionTask, orFailWith code: URLError.Code, _ text: String) -> Bool {
        resends += 1
        if resends > Self.resendsMax { stop(task, because: URLError.about(source.url, code, text)) }
        return resends <= Self.resendsMax
    }

    func task(_ task: URLSessionTask, challenged challenge: URLAuthenticationChallenge, answer: @escaping SessionDelegate.Answer) {
        if case .loading(task) = state { state = .refused(task) }
        answer(.cancelAuthenticationChallenge, nil)
    }

    func task(_ task: URLSessionTask, endedWith error: (any Error)?) {
        switch state {
        case .loading(task): end(with: error, response: task.response)
        case .refused(task): end(with: nil, response: task.response)
        case .stopping(let reason): end(with: reason)
        case .redirecting(task, let next):
            if let error { end(with: error) } else { load(next) }
        case .restarting(task): load(source)
        case .preparing, .loading, .redirecting, .restarting, .refused, .ended:
            break  // of a task before the one that is loading
        }
    }
}
