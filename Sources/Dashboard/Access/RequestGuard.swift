import Hummingbird

/// Looks at every request before anything is done for it: what it calls this host, from which page it comes, and whether it has the token.
struct RequestGuard: RouterMiddleware {
    typealias Context = APIContext

    let hosts: HostRule
    let token: AccessToken
    /// Also who only looks needs the token.
    let readsNeedToken: Bool

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let host = request.head.authority, hosts.allows(host) else {
            throw APIFailure(
                .forbidden, "host",
                "this server is not called `\(request.head.authority.map(Self.shortened) ?? "")`; use its address, or name it with --http-name"
            )
        }
        if let origin = request.headers[.origin], origin != "http://\(host)", origin != "https://\(host)" {
            throw APIFailure(.forbidden, "origin", "pages of other sites may not ask anything here (Origin: \(Self.shortened(origin)))")
        }
        var context = context
        if let shown = request.headers[.authorization] {
            guard shown.count <= HTTPLimits.headerBytes, shown.lowercased().hasPrefix("bearer "),
                token.matches(shown.dropFirst("bearer ".count))
            else { throw Self.unauthorized("the token is not the right one; \(Self.whereItIs)") }
            context.access = .owner
        }
        let isPublic = Self.publicPaths.contains(request.uri.path) || StaticFiles.names.contains(request.uri.path)
        if context.access == .visitor, !isPublic {
            switch request.method {
            case .get, .head:
                if readsNeedToken { throw Self.unauthorized("this needs the token; \(Self.whereItIs)") }
            case .post, .put, .delete, .patch:
                throw Self.unauthorized("this needs the token; \(Self.whereItIs)")
            // Nothing answers these but that they are not allowed.
            default: break
            }
        }
        return try await next(request, context)
    }

    /// What says nothing of any work.
    private static let publicPaths: Set<String> = ["/healthz"]

    private static let whereItIs = "it is in the file that `aop coordinator` names when it starts"

    private static func shortened(_ text: String) -> String { String(text.prefix(100)) }

    private static func unauthorized(_ message: String) -> APIFailure {
        APIFailure(.unauthorized, "token", message, headers: [.wwwAuthenticate: "Bearer"])
    }
}
