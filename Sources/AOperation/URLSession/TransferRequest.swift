import Foundation

/// What one operation asks for: a request, and perhaps a file that is sent as its body.
struct TransferRequest: Sendable {
    /// What an upload sends.
    enum Body {
        /// The request's own body or body stream, if it has one.
        case own
        case data(Data)
        case file(URL)
    }

    var request: URLRequest
    /// Sent instead of the request's own body.
    var file: URL?
    /// A body up to this length is sent from memory.
    var heldBytesMax = 1 << 28
    /// The length of ``file``, when it is sent as a stream, without saying its length.
    var streamedBytes: Int64?

    /// A request that carries what it carries.
    init(_ request: URLRequest) {
        self.request = request
    }

    /// A request that sends `body`. A method that carries none becomes POST: `GET` is what a request has that was
    /// given no method.
    init(uploading request: URLRequest, _ body: Body) {
        self.request = request
        // Foundation traps when a request without a URL is changed; it is refused later.
        guard request.url != nil else { return }
        switch body {
        case .own:
            break
        case .data(let data):
            self.request.httpBodyStream = nil
            self.request.httpBody = data
        case .file(let file):
            self.request.httpBodyStream = nil
            self.request.httpBody = nil
            self.file = file
        }
        if request.httpMethod == nil || request.httpMethod == URLRequest.HTTPMethod.get {
            self.request.httpMethod = URLRequest.HTTPMethod.post
        }
    }

    var url: URL? { request.url }

    var isOfFile: Bool { url?.scheme?.lowercased() == "file" }

    var hasBody: Bool { file != nil || request.httpBody?.isEmpty == false || request.httpBodyStream != nil }

    /// A task for the prepared request.
    func makeTask(in session: URLSession) -> URLSessionTask {
        var request = request
        // Foundation cuts fractions off: a limit below a second would be over at once.
        let limit = request.timeoutInterval.rounded(.up)
        if request.timeoutInterval > 0, limit != request.timeoutInterval { request.timeoutInterval = limit }
        if let file { request.httpBodyStream = InputStream(url: file.absoluteURL) }
        return session.dataTask(with: request)
    }
}
