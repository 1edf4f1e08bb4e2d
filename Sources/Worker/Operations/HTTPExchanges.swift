import AOperation
import Foundation
import FoundationNetworking
import Synchronization
import Wire

/// Requests whose answers are kept in memory, each up to a limit, over shared connections. Nothing of one is remembered for another.
///
/// What is under way is changed by the session's delegate queue, under a lock.
final class HTTPExchanges: NSObject, URLSessionDataDelegate, Sendable {
    /// The answer is larger than what was to be kept.
    struct TooLarge: Error {}

    private struct Exchange {
        let bytesMax: Int
        let completion: CheckedContinuation<(Data, URLResponse), any Error>
        var body = Data()
        var isTooLarge = false

        /// - Returns: whether it has become too large with that.
        mutating func take(_ data: Data) -> Bool {
            guard !isTooLarge else { return false }
            isTooLarge = data.count > bytesMax - body.count
            if isTooLarge { body = Data() } else { body.append(data) }
            return isTooLarge
        }
    }

    /// By the numbers of their tasks.
    private let exchanges = Mutex<[Int: Exchange]>([:])
    private static let shared = HTTPExchanges()
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: shared, delegateQueue: nil)
    }()

    /// - Throws: ``TooLarge``; `CancellationError`; what the session says.
    static func answer(to request: URLRequest, bytesMax: Int) async throws -> (Data, URLResponse) {
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                shared.exchanges.withLock { $0[task.taskIdentifier] = Exchange(bytesMax: bytesMax, completion: continuation) }
                task.resume()
                // It may have been cancelled, and have ended, before it was known here.
                guard Task.isCancelled, let exchange = shared.exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
                    return
                }
                exchange.completion.resume(throwing: CancellationError())
            }
        } onCancel: {
            task.cancel()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = exchanges.withLock { $0[dataTask.taskIdentifier]?.take(data) ?? false }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Not the server before this one: what was taken off on the way there is proposed again.
        completionHandler(request.redirected(from: task.originalRequest?.url))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        switch (exchange.isTooLarge, error, task.response) {
        case (true, _, _): exchange.completion.resume(throwing: TooLarge())
        case (false, let error?, _): exchange.completion.resume(throwing: error)
        case (false, nil, let response?): exchange.completion.resume(returning: (exchange.body, response))
        case (false, nil, nil): exchange.completion.resume(throwing: URLError(.badServerResponse))
        }
    }
}
