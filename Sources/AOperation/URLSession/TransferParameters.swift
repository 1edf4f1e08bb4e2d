import Foundation

/// What an operation that loads over a session is built from, in the form in which it travels to a worker.
///
/// ```json
/// {"url": "https://example.org/users/7", "headers": {"Accept": "application/json"}}
/// ```
/// It carries what HTTP needs of a request: URL, method, headers, body, time limit, cache policy. The rest (cookie handling, network
/// service types) is that of the worker's session.
public struct TransferParameters: Codable, Sendable, Hashable {
    public var url: URL?
    /// GET if there is none; for an upload POST.
    public var method: String?
    public var headers: [String: String]?
    public var body: Data?
    /// After so many seconds without anything coming or going it fails; 60 if there is none.
    public var timeoutSeconds: Double?
    /// A raw value of `URLRequest.CachePolicy`; the protocol's own policy if there is none.
    public var cachePolicy: UInt?

    public init(
        url: URL?, method: String? = nil, headers: [String: String]? = nil, body: Data? = nil, timeoutSeconds: Double? = nil,
        cachePolicy: UInt? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.timeoutSeconds = timeoutSeconds
        self.cachePolicy = cachePolicy
    }

    init(_ source: TransferRequest) {
        let request = source.request
        self.init(url: request.url)
        guard request.url != nil else { return }
        if let method = request.httpMethod, method != URLRequest.HTTPMethod.get { self.method = method }
        if let headers = request.allHTTPHeaderFields, !headers.isEmpty { self.headers = headers }
        body = request.httpBody
        let standard = URLRequest(url: URL(fileURLWithPath: "/"))
        if request.timeoutInterval != standard.timeoutInterval { timeoutSeconds = request.timeoutInterval }
        if request.cachePolicy != standard.cachePolicy { cachePolicy = request.cachePolicy.rawValue }
    }

    /// One without a URL is refused when it is to be loaded.
    var request: URLRequest {
        var request = URLRequest(url: url ?? URL(fileURLWithPath: "/"))
        request.url = url
        guard url != nil else { return request }
        if let method { request.httpMethod = method }
        request.allHTTPHeaderFields = headers
        request.httpBody = body
        if let timeoutSeconds { request.timeoutInterval = timeoutSeconds }
        if let cachePolicy = cachePolicy.flatMap({ URLRequest.CachePolicy(rawValue: $0) }) { request.cachePolicy = cachePolicy }
        return request
    }
}

extension TransferRequest {
    /// Whether it can only be sent from here: it reads a file or a stream of this process.
    var staysHere: Bool { file != nil || isOfFile || request.httpBodyStream != nil }
}
