import Cluster
import Hummingbird
import Shapes

/// Why a request is not answered as it was meant; sent as JSON with code and message.
struct APIFailure: HTTPResponseError {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var headers: HTTPFields = [:]
    /// Of a graph: everything that is wrong with it.
    var faults: [JSONValue] = []

    init(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:], faults: [JSONValue] = []
    ) {
        (self.status, self.code, self.message) = (status, code, message)
        (self.headers, self.faults) = (headers, faults)
    }

    init(_ error: ClusterError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .notFound: .notFound
            case .ambiguous, .sessionOver: .conflict
            case .refused: .unprocessableContent
            case .busy, .closed, .unreachable, .version: .serviceUnavailable
            case .notPermitted: .forbidden
            case .malformed: .badRequest
            case .valueUnavailable: .gone
            case .address, .alreadyRead, .unexpectedAnswer: .internalServerError
            }
        self.init(status, error.code.rawValue, error.message, headers: status == .serviceUnavailable ? [.retryAfter: "1"] : [:])
    }

    /// What is wrong with a request's parameters.
    static func malformed(_ message: String) -> APIFailure { APIFailure(.badRequest, "malformed", message) }

    var json: JSONValue {
        var members: [(String, JSONValue)] = [("code", .string(code)), ("message", .string(message))]
        if !faults.isEmpty { members.append(("errors", .array(faults))) }
        return .shape(members)
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        Reply.json(json, status: status, headers: headers)
    }
}

/// Whatever was thrown becomes JSON; what nobody expected is logged, and not shown.
struct FailureReplies: RouterMiddleware {
    typealias Context = APIContext

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            response = try Self.failure(of: error, request, context).response(from: request, context: context)
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    private static func failure(of error: any Error, _ request: Request, _ context: Context) -> APIFailure {
        switch error {
        case let error as APIFailure: return error
        case let error as ClusterError: return APIFailure(error)
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return APIFailure(.contentTooLarge, "limit", "the body is larger than what is taken here")
        case let error as any HTTPResponseError where error.status == .notFound:
            return APIFailure(.notFound, "notFound", "nothing is at \(request.uri.path.prefix(200))")
        case let error as any HTTPResponseError: return APIFailure(error.status, "malformed", "\(error)")
        case is CancellationError: return APIFailure(.serviceUnavailable, "closed", "the coordinator is being stopped")
        default:
            context.logger.error("\(request.method) \(request.uri.path): \(error)")
            return APIFailure(.internalServerError, "internal", "the request failed; the coordinator's log says why")
        }
    }
}
