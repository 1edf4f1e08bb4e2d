import Foundation

/// Loads over a session, by one task, or by several where a redirect takes the body along.
///
/// Everything is done on the session's queue: Foundation's calls wait for a queue of its own, and a thread for each
/// transfer that waits there would leave none to go on with.
///
/// Invariant behind `@unchecked Sendable`: what changes, and the receiver, is only reached on the session's queue.
final class SessionTransfer: Transfer, @unchecked Sendable {
    private enum State {
        /// Nothing was asked of the session yet.
        case idle
        /// The task loads the answer.
        case loading(URLSessionTask)
        /// The task ends with a redirect; the next one begins then.
        case redirecting(URLSessionTask, to: TransferRequest)
        /// The answer asks for credentials that nobody has. It is the result; its task is cancelled, as Foundation
        /// does not end it otherwise.
        case refused(URLSessionTask)
        /// The task was cancelled; the transfer ends with this error when the task does.
        case stopping(any Error)
        case ended
    }

    private static let redirectsMax = 20

    private let session: URLSessionTaskOperation.Session
    private let receiver: any TransferReceiver
    private var source: TransferRequest
    private var state = State.idle
    private var redirects = 0

    init(
        _ source: TransferRequest, in session: URLSessionTaskOperation.Session, to receiver: any TransferReceiver
    ) {
        self.source = source
        self.session = session
        self.receiver = receiver
    }

    func start() {
        session.queue.async { [self] in
            guard case .idle = state else { return }
            load(source)
        }
    }

    func cancel() {
        session.queue.async { [self] in
            let reason = URLError.cancelled(loading: source.url)
            switch state {
            case .idle: end(with: reason)
            case .loading(let task), .redirecting(let task, _): stop(task, because: reason)
            case .refused, .stopping, .ended: break
            }
        }
    }

    // MARK: On the queue

    private func load(_ source: TransferRequest) {
        self.source = source
        if let fault = source.fault() { return end(with: fault) }
        let task = source.makeTask(in: session.urlSession)
        session.delegate.add(self, for: task)
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
        receive(from: task) { $0.sent(count, of: total > 0 ? total : -1) }
    }

    func task(_ task: URLSessionTask, redirectedTo request: URLRequest, go: @escaping @Sendable (URLRequest?) -> Void) {
        guard case .loading(task) = state else { return }
        redirects += 1
        switch Redirect(of: source, to: request) {
        case .follow(let request):
            source.request = request
            source.file = nil
            go(request)
        case .resend(let next) where redirects <= Self.redirectsMax:
            state = .redirecting(task, to: next)
            go(nil)
        case .resend:
            stop(task, because: URLError.about(source.url, .httpTooManyRedirects, "There were too many redirects."))
        case .stay:
            go(nil)
        }
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
        case .idle, .loading, .redirecting, .refused, .ended:
            break  // of a task before the one that is loading
        }
    }
}
