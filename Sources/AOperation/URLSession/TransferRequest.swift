import Foundation

/// What one operation asks for: a request, and perhaps a file that is sent as its body.
struct TransferRequest: Sendable {
    var request: URLRequest
    /// Sent instead of the request's own body.
    var file: URL?

    /// A request without a body of its own making.
    init(_ request: URLRequest) {
        self.request = request
    }

    /// What an upload sends.
    enum Body {
        /// The request's own body or body stream, if it has one.
        case own
        case data(Data)
        case file(URL)
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

    /// Whether the body can be sent once only.
    var hasStream: Bool { file == nil && request.httpBodyStream != nil }

    /// Why no task can be made for it.
    func fault() -> URLError? {
        guard let url else { return .about(nil, .badURL, "The request has no URL.") }
        if hasStream, let stream = request.httpBodyStream, stream.streamStatus != .notOpen {
            return .about(
                url, .requestBodyStreamExhausted,
                "The body stream of the request was read before: use httpBody, or a file, for what may be sent twice.")
        }
        return file.flatMap { Self.fault(ofFile: $0) }
    }

    func makeTask(in session: URLSession) -> URLSessionTask {
        var request = request
        // Foundation cuts fractions off: a limit below a second would be over at once.
        let limit = request.timeoutInterval.rounded(.up)
        if request.timeoutInterval > 0, limit != request.timeoutInterval { request.timeoutInterval = limit }
        if let file { return session.uploadTask(with: request, fromFile: file.absoluteURL) }
        return session.dataTask(with: request)
    }

    private static func fault(ofFile file: URL) -> URLError? {
        guard file.isFileURL else { return .about(file, .unsupportedURL, "The file to upload is no file URL.") }
        do {
            _ = try LocalFile(opening: file)
            return nil
        } catch {
            return error
        }
    }
}
