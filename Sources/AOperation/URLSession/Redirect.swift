import Foundation

/// What becomes of an answer that sends the client elsewhere.
enum Redirect {
    /// The task goes on with this request.
    case follow(URLRequest)
    /// This request is sent by a task of its own: Foundation drops the body of a request that it redirects, and would
    /// send it with none.
    case resend(TransferRequest)

    /// Headers that are meant for the server they were first sent to.
    private static let secrets = ["Authorization", "Proxy-Authorization", "Cookie"]

    /// Decides about a redirect of `source` to `target`, the request that Foundation proposes.
    init(of source: TransferRequest, to target: URLRequest) {
        var target = target
        if Origin(target.url) != Origin(source.url) {
            for header in Self.secrets { target.setValue(nil, forHTTPHeaderField: header) }
        }
        let methods = [URLRequest.HTTPMethod.get, URLRequest.HTTPMethod.head]
        guard source.hasBody, !methods.contains(target.httpMethod ?? URLRequest.HTTPMethod.get) else {
            self = .follow(target)
            return
        }
        var next = source
        next.request = target
        if target.httpBody == nil { next.request.httpBody = source.request.httpBody }
        self = .resend(next)
    }

    private struct Origin: Equatable {
        let scheme: String?
        let host: String?
        let port: Int?

        init(_ url: URL?) {
            scheme = url?.scheme?.lowercased()
            host = url?.host?.lowercased()
            port = url?.port ?? (scheme == "https" ? 443 : 80)
        }
    }
}
