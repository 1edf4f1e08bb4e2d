import AOperation
import Foundation
import FoundationNetworking
import Wire

/// One HTTP request; its value is the body of the answer, text if it is UTF-8, else bytes. Registered as `http`.
///
/// A status of 400 or more is a failure that names status and URL. A received value is sent as the body unless the
/// parameters give one.
///
/// `@unchecked Sendable`: `receivedValue` is set before the operation is added to a queue and only read afterwards.
final class HTTPOperation: AsyncOperation<EncodedValue>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var url: String
        var method: String?
        var headers: [String: String]?
        var body: String?
    }
    static let operationName = "http"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?

    /// Shared: it keeps connections. Nothing of one request is remembered for another.
    private static let session = URLSession(configuration: .ephemeral)

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> EncodedValue {
        let request = try makeRequest()
        let (body, response): (Data, URLResponse)
        do {
            (body, response) = try await Self.session.data(for: request)
        } catch {
            throw OperationFault(.operation, "\(name(of: request)) failed: \(error.localizedDescription)")
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
            throw OperationFault(.parameters, "`url` is \"\(parameters.url)\": it must begin with http:// or https:// and name a host")
        }
        let received = try receivedValue?.get()
        var request = URLRequest(url: url)
        request.httpBody = parameters.body.map { Data($0.utf8) } ?? received?.bytes
        request.httpMethod = parameters.method?.uppercased() ?? (request.httpBody == nil ? "GET" : "POST")
        for (name, value) in parameters.headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    /// Without user, password and query, which may hold secrets.
    private func name(of request: URLRequest) -> String {
        var place = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
        place?.user = nil
        place?.password = nil
        place?.query = nil
        return "\(request.httpMethod ?? "GET") \(place?.string ?? parameters.url)"
    }
}
