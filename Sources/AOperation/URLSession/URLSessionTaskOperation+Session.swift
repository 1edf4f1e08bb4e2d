import Foundation

extension URLSessionTaskOperation {
    /// Where operations load: a `URLSession` with a configuration of your own, and the delegate that operations need.
    ///
    /// ```swift
    /// let configuration = URLSessionTaskOperation.Session.standardConfiguration
    /// configuration.timeoutIntervalForRequest = 10
    /// configuration.httpAdditionalHeaders = ["Accept": "application/json"]
    /// let api = URLSessionTaskOperation.Session(configuration: configuration)
    ///
    /// URLSessionTaskOperation.data(for: url).session(api).add(to: queue)     // for one operation
    /// URLSessionTaskOperation.session = api                                  // for all that name none
    /// ```
    /// A session keeps its connections, to use them again: make one for each configuration and keep it. When it is
    /// released its tasks still end, then its connections are closed.
    public final class Session: Sendable {
        /// For tasks of your own, which `URLSessionTaskOperation(task:)` then follows without delay. Do not
        /// invalidate it: making a task in an invalidated session ends the program.
        public let urlSession: URLSession
        let delegate: SessionDelegate
        /// Where the delegate is called, and where everything is done about the tasks that operations make.
        let queue: DispatchQueue

        /// A session with `configuration`, of which it takes a copy.
        public init(configuration: URLSessionConfiguration = Session.standardConfiguration) {
            queue = DispatchQueue(label: "AOperation.session")
            delegate = SessionDelegate(queue: queue)
            let delegateQueue = OperationQueue()
            delegateQueue.maxConcurrentOperationCount = 1
            delegateQueue.underlyingQueue = queue
            urlSession = URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        }

        deinit {
            urlSession.finishTasksAndInvalidate()
        }

        /// What the library's own session is configured with, to be changed at will: nothing is written to disk,
        /// answers are not cached, there are no stored credentials, cookies are kept in memory; up to 64 connections
        /// to one host, as it is the queue that limits how many operations run at once.
        public static var standardConfiguration: URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.httpMaximumConnectionsPerHost = 64
            return configuration
        }
    }

    private static let commonSession = Guarded(Session())

    /// The session of all operations that name none, taken when they start. One with
    /// ``Session/standardConfiguration`` by default.
    public static var session: Session {
        get { commonSession.withLock { $0 } }
        set { commonSession.withLock { $0 = newValue } }
    }
}
