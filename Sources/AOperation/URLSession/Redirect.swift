import Foundation

/// What becomes of an answer that sends the client elsewhere.
enum Redirect {
    /// The task goes on with this request.
    case follow(URLRequest)
    /// This request is sent by a task of its own: Foundation drops the body of a request that it redirects, and would
    /// send it with none.
    case resend(TransferRequest)

    /// Decides about a redirect of `source` to `target`, the request that Foundation proposes.
    init(of source: TransferRequest, to target: URLRequest) {
        let target = target.redirected(from: source.url)
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
}

extension URLRequest {
    /// Headers that are meant for the server they were first sent to.
    private static let secretHeaders = ["Authorization", "Proxy-Authorization", "Cookie"]

    /// As it may be sent to where a server has redirected to: to another server without what was meant for that of `source`.
    package func redirected(from source: URL?) -> URLRequest {
        guard Origin(url) != Origin(source) else { return self }
        var request = self
        for header in Self.secretHeaders { request.setValue(nil, forHTTPHeaderField: header) }
        return request
    }
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
