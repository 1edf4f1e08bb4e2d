import Foundation

/// Who is told what happens to one task of a session. Called on the session's queue, to be returned from soon.
protocol TaskListener: AnyObject, Sendable {
    func task(_ task: URLSessionTask, received response: URLResponse)
    func task(_ task: URLSessionTask, received data: Data)
    func task(_ task: URLSessionTask, sent count: Int64, of total: Int64)
    /// `go` must not be called once the task has been cancelled: Foundation traps.
    func task(_ task: URLSessionTask, redirectedTo request: URLRequest, go: @escaping @Sendable (URLRequest?) -> Void)
    func task(_ task: URLSessionTask, challenged challenge: URLAuthenticationChallenge, answer: @escaping SessionDelegate.Answer)
    /// The connection died within the body, and the task cannot send that from its beginning: it goes on with a body
    /// that is cut.
    func taskLostItsBody(_ task: URLSessionTask)
    /// The last call.
    func task(_ task: URLSessionTask, endedWith error: (any Error)?)
}

/// The delegate of a session: passes on what happens to a task to the listener of that task.
///
/// Foundation on Linux reports to the delegate of the session only, whatever delegate a task was given.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// The task is held, so that its identity is not taken by another one.
    private struct Entry {
        let task: URLSessionTask
        let listener: any TaskListener
        /// What the task sends as a stream.
        let file: URL?
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])
    private let queue: DispatchQueue

    /// - Parameter queue: the session's.
    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// How many tasks are listened to.
    var count: Int { entries.withLock { $0.count } }

    /// Tells `listener` of `task`, until that has ended. To be called before the task is resumed.
    ///
    /// - Parameter file: what the task sends as a stream.
    func add(_ listener: any TaskListener, for task: URLSessionTask, sending file: URL? = nil) {
        entries.withLock { $0[ObjectIdentifier(task)] = Entry(task: task, listener: listener, file: file) }
    }

    func removeListener(of task: URLSessionTask) {
        _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
    }

    private func entry(of task: URLSessionTask) -> Entry? {
        entries.withLock { $0[ObjectIdentifier(task)] }
    }

    private func listener(of task: URLSessionTask) -> (any TaskListener)? { entry(of: task)?.listener }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        listener(of: dataTask)?.task(dataTask, received: response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        listener(of: dataTask)?.task(dataTask, received: data)
    }

    // MARK: URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        listener(of: task)?.task(task, sent: totalBytesSent, of: totalBytesExpectedToSend)
    }

    /// Called on a queue of Foundation's, which waits for the answer.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let entry = entry(of: task) else { return completionHandler(nil) }
        // Foundation traps if it is given a stream for a body that was none.
        completionHandler(entry.file.flatMap { InputStream(url: $0.absoluteURL) })
        if entry.file == nil { queue.async { entry.listener.taskLostItsBody(task) } }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let listener = listener(of: task) else { return completionHandler(request) }
        listener.task(task, redirectedTo: request, go: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping Answer
    ) {
        if challenge.canBeAnsweredBySession { return completionHandler(.performDefaultHandling, nil) }
        guard let listener = listener(of: task) else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        listener.task(task, challenged: challenge, answer: completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let entry = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        entry?.listener.task(task, endedWith: error)
    }
}

extension URLAuthenticationChallenge {
    /// Whether the session has a credential for it that was not tried yet. A challenge without one is never answered
    /// by the session, and the task would not end; those of other methods than Basic are not understood by it.
    fileprivate var canBeAnsweredBySession: Bool {
        proposedCredential != nil && previousFailureCount == 0
            && protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
    }
}
