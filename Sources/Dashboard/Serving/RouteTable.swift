import Hummingbird

/// The router's routes, which also knows which methods each path has, so that others are refused as such.
struct RouteTable {
    typealias Handler = @Sendable (Request, APIContext) async throws -> Response

    private let router: Router<APIContext>
    private var methods: [String: [HTTPRequest.Method]] = [:]

    init(_ router: Router<APIContext>) { self.router = router }

    mutating func get(_ path: String, _ handler: @escaping Handler) {
        add(.get, path, handler)
        add(.head, path) { request, context in try await handler(request, context).createHeadResponse() }
    }

    /// A stream of events, of which there is no head alone.
    mutating func stream(_ path: String, _ handler: @escaping Handler) { add(.get, path, handler) }

    mutating func post(_ path: String, _ handler: @escaping Handler) { add(.post, path, handler) }

    private mutating func add(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        methods[path, default: []].append(method)
        router.on(RouterPath(path), method: method, use: handler)
    }

    /// After all others.
    func refuseOtherMethods() {
        for (path, allowed) in methods {
            let allow = allowed.map(\.rawValue).sorted().joined(separator: ", ")
            for method in Self.all where !allowed.contains(method) {
                router.on(RouterPath(path), method: method) { request, _ -> Response in
                    throw APIFailure(
                        .methodNotAllowed, "method", "\(request.method) is not possible here; use \(allow)", headers: [.allow: allow])
                }
            }
        }
    }

    private static let all: [HTTPRequest.Method] =
        [.get, .head, .post, .put, .delete, .patch, .options, .trace] + ["QUERY"].compactMap { HTTPRequest.Method($0) }
}
