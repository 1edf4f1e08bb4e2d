import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Finds out whether an HTTP server answers.
final class HeadProbe: Sendable {
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        return URLSession(configuration: configuration)
    }()

    private enum State {
        case idle
        case running(URLSessionDataTask, deadline: AOperationTimer)
        case over
    }

    private let state = Guarded(State.idle)
    private let completion: @Sendable (_ failure: String?) -> Void

    private init(completion: @escaping @Sendable (_ failure: String?) -> Void) {
        self.completion = completion
    }

    /// Sends a HEAD request. `completion` is called once, on any thread: with nil when an answer came, whatever its
    /// status, else with the reason.
    static func run(_ url: URL, timeout: Duration, completion: @escaping @Sendable (_ failure: String?) -> Void) {
        HeadProbe(completion: completion).begin(url, timeout)
    }

    private func begin(_ url: URL, _ timeout: Duration) {
        var request = URLRequest(url: url)
        request.httpMethod = "HEAD"
        let task = Self.session.dataTask(with: request) { [self] _, response, error in
            end(response is HTTPURLResponse ? nil : error?.localizedDescription ?? "no answer that is HTTP")
        }
        let deadline = AOperationTimer(interval: timeout.interval) { [self] in end("no answer within \(timeout)") }
        let isOver = state.withLock { state in
            guard case .idle = state else { return true }
            state = .running(task, deadline: deadline)
            return false
        }
        if !isOver { task.resume() }
    }

    private func end(_ failure: String?) {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch before {
        case .idle: break
        case .running(let task, let deadline):
            deadline.cancel()
            task.cancel()
        case .over: return
        }
        completion(failure)
    }
}
