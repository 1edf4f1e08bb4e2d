import AOperation
import Foundation
import FoundationNetworking
import Wire

/// One HTTP request; its value is the body of the answer, text if it is UTF-8, else bytes. Registered as `http`.
///
/// A status of 400 or more is a failure that names status and URL. A received value is sent as the body unless the
/// parameters give one.
///
/// `@unchecked Sendable`: `receivedValue` and `redaction` are set before the operation is added to a queue and only read
/// afterwards.
final class HTTPOperation: AsyncOperation<EncodedValue>, ReceiverOperation, HostedOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var url: String
        var method: String?
        var headers: [String: String]?
        var body: String?
    }
    static let operationName = "http"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?

    private var redaction = Redaction()

    /// Shared: it keeps connections. Nothing of one request is remembered for another.
    private static let session = URLSession(configuration: .ephemeral)

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) { redaction = context.redaction }

    override func run() async throws -> EncodedValue {
        let request = try makeRequest()
        let (body, response): (Data, URLResponse)
        do {
            (body, response) = try await Self.session.data(for: request)
        } catch {
            throw OperationFault(.operation, "\(name(of: request)) failed: \(reason(error))")
        }
        if let status = (response as? HTTPURLResponse)?.statusCode, status >= 400 {
            let words = HTTPURLResponse.localizedString(forStatusCode: status)
            throw OperationFault(.operation, "\(name(of: request)) was answered with status \(status) (\(words))")
        }
        return String(validating: body, as: UTF8.self) == nil ? .bytes(body) : EncodedValue(encoding: .text, bytes: body)
    }

    private func makeRequest() throws -> URLRequest {
        guard let url = URL(string: parameters.url), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), url.host != nil
        else {
            guard !isSecret else {
                throw OperationFault(.parameters, "`url`, which has a secret, must begin with http:// or https:// and name a host")
            }
            throw OperationFault(.parameters, "`url` is \"\(parameters.url)\": it must begin with http:// or https:// and name a host")
        }
        let received = try receivedValue?.get()
        var request = URLRequest(url: url)
        request.httpBody = parameters.body.map { Data($0.utf8) } ?? received?.bytes
        request.httpMethod = parameters.method?.uppercased() ?? (request.httpBody == nil ? "GET" : "POST")
        for (name, value) in parameters.headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private var isSecret: Bool { redaction.occurs(in: parameters.url) }

    /// The system's words may name the host.
    private func reason(_ error: any Error) -> String {
        isSecret ? "\((error as NSError).domain) \((error as NSError).code)" : error.localizedDescription
    }

    /// Without user, password and query, which may hold secrets, and without all of a URL that has one of the worker's.
    private func name(of request: URLRequest) -> String {
        guard !isSecret else { return "\(request.httpMethod ?? "GET") of a URL that has a secret" }
        var place = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
        place?.user = nil
        place?.password = nil
        place?.query = nil
        return "\(request.httpMethod ?? "GET") \(place?.string ?? parameters.url)"
    }
}
