import AOperation
import Foundation
import Wire

/// The URL of an operation that makes one HTTP request, and how what becomes of the request is told.
///
/// Nothing that is told has the user, the password or the query, which may hold secrets, or anything of a URL that has a
/// secret of the worker's.
struct RequestedURL: Sendable {
    /// Of operations that move files. Shared: it keeps connections, and nothing else of one for another.
    static let session: URLSessionTaskOperation.Session = {
        let configuration = URLSessionTaskOperation.Session.standardConfiguration
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        return URLSessionTaskOperation.Session(configuration: configuration)
    }()

    let text: String
    var redaction = Redaction()

    /// A request without a body.
    /// - Throws: ``OperationFault`` for a URL that is none of HTTP's, and for a method or header that cannot be sent.
    func request(method: String, headers: [String: String]?) throws -> URLRequest {
        let url: URL
        do {
            url = try HTTPRequestText.url(text).get()
        } catch {
            let told = isSecret ? "`url`, which has a secret" : "`url` is \"\(Self.told(text))\""
            throw OperationFault(.parameters, "\(told): \(error)")
        }
        var request = URLRequest(url: url)
        guard HTTPRequestText.isToken(method) else {
            throw OperationFault(.parameters, "`method` is \(method.debugDescription): it must be a word, e.g. PUT")
        }
        request.httpMethod = method.uppercased()
        for (name, value) in headers ?? [:] {
            if let fault = HTTPRequestText.fault(ofHeader: name) {
                throw OperationFault(.parameters, "`headers`: \(name.debugDescription) \(fault)")
            }
            // Its value may be a secret.
            guard HTTPRequestText.isFieldValue(value) else {
                throw OperationFault(
                    .parameters, "the header `\(name)` has a line break or another control character in its value; take it out")
            }
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Of a text that need not be a URL: nothing of which the end of a user and a password can be, and no query.
    private static func told(_ text: String) -> Substring {
        let place = text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text[...]
        return place.prefix { $0 != "?" && $0 != "#" }
    }

    /// There was no answer.
    func failure(_ error: any Error, of request: URLRequest) -> OperationFault {
        // The system's words may name the host.
        let reason = isSecret ? "\((error as NSError).domain) \((error as NSError).code)" : error.localizedDescription
        return OperationFault(.operation, "\(name(of: request)) failed: \(reason)")
    }

    /// A status of 400 or more is a failure.
    /// - Parameter good: statuses that are none.
    /// - Throws: ``OperationFault`` that names request and status.
    func check(_ response: URLResponse, of request: URLRequest, good: Range<Int> = 0..<400) throws {
        guard let status = (response as? HTTPURLResponse)?.statusCode, !good.contains(status) else { return }
        let words = HTTPURLResponse.localizedString(forStatusCode: status)
        throw OperationFault(.operation, "\(name(of: request)) was answered with status \(status) (\(words))")
    }

    private var isSecret: Bool { redaction.occurs(in: text) }

    func name(of request: URLRequest) -> String {
        guard !isSecret else { return "\(request.httpMethod ?? "GET") of a URL that has a secret" }
        var place = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
        place?.user = nil
        place?.password = nil
        place?.query = nil
        return "\(request.httpMethod ?? "GET") \(place?.string ?? text)"
    }
}

extension EncodedValue {
    /// What came from outside: text if it is UTF-8, else bytes.
    init(received bytes: Data) {
        self = String(validating: bytes, as: UTF8.self) == nil ? .bytes(bytes) : EncodedValue(encoding: .text, bytes: bytes)
    }
}
