import CoreMetrics
import Hummingbird

/// Counts requests by route, method and status, and what they took until their answer began.
struct RequestMetrics: RouterMiddleware {
    typealias Context = APIContext

    let factory: any MetricsFactory

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let began = ContinuousClock.now
        let response = try await next(request, context)
        let route = context.endpointPath ?? "none"
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "other"
        Counter(
            label: "aop_http_requests_total",
            dimensions: [("route", route), ("method", method), ("status", "\(response.status.code)")], factory: factory
        ).increment()
        let seconds = (ContinuousClock.now - began).components
        CoreMetrics.Timer(label: "aop_http_request_seconds", dimensions: [("route", route)], factory: factory)
            .recordNanoseconds(seconds.seconds * 1_000_000_000 + seconds.attoseconds / 1_000_000_000)
        return response
    }

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .delete, .patch, .options]
}
