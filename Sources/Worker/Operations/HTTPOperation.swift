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
        /// The largest answer in bytes; `Limits.maxOutputBytesDefault` by default. One that is larger fails the operation as it comes.
        var maxOutput: Int?
    }
    static let operationName = "http"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?

    private var redaction = Redaction()

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) { redaction = context.redaction }

    override func run() async throws -> EncodedValue {
        let place = RequestedURL(text: parameters.url, redaction: redaction)
        let body = parameters.body.map { Data($0.utf8) }
        let sent = try body ?? receivedValue?.get().bytes
        var request = try place.request(method: parameters.method ?? (sent == nil ? "GET" : "POST"), headers: parameters.headers)
        let isBodiless = HTTPRequestText.bodilessMethods.contains(request.httpMethod ?? "GET")
        if isBodiless, let body, !body.isEmpty {
            throw OperationFault(
                .parameters,
                "`method` is \(request.httpMethod ?? "GET"), which sends no `body`; write POST or PUT, or leave one of the two out")
        }
        // What is only received is not for a request that sends nothing.
        if !isBodiless { request.httpBody = sent }
        let limit = try OutputLimit.checked(parameters.maxOutput)
        let (answer, response): (Data, URLResponse)
        do {
            (answer, response) = try await HTTPExchanges.answer(to: request, bytesMax: limit)
        } catch is HTTPExchanges.TooLarge {
            throw OperationFault(
                .limit,
                "the answer to \(place.name(of: request)) is larger than maxOutput (\(ByteSize.describe(limit))); raise `maxOutput`, or"
                    + " use `download`")
        } catch {
            throw place.failure(error, of: request)
        }
        try place.check(response, of: request)
        return EncodedValue(received: answer)
    }
}
