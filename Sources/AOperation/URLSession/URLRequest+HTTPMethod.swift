import Foundation

extension URLRequest {
    /// The methods of HTTP, as `httpMethod` takes them.
    ///
    /// ```swift
    /// request.httpMethod = URLRequest.HTTPMethod.put
    /// ```
    public struct HTTPMethod: Sendable {
        public static var get: String { "GET" }
        public static var post: String { "POST" }
        public static var put: String { "PUT" }
        public static var patch: String { "PATCH" }
        public static var delete: String { "DELETE" }
        public static var head: String { "HEAD" }
        public static var options: String { "OPTIONS" }
    }
}
