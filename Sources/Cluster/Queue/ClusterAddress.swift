import Foundation
import Wire

/// Where a coordinator listens.
public struct ClusterAddress: Sendable {
    let endpoint: @Sendable () throws -> Endpoint

    /// `tcp://HOST:PORT` or `ipc:///PATH`.
    public init(_ url: String) {
        endpoint = { try Endpoint(url) }
    }

    /// What the environment variable `AOP_COORDINATOR` names, as for the command line; `tcp://127.0.0.1:7600` if it is
    /// not set.
    public static let environment = ClusterAddress(endpoint: {
        let named = ProcessInfo.processInfo.environment["AOP_COORDINATOR"] ?? ""
        return named.isEmpty ? .standard : try Endpoint(named)
    })

    private init(endpoint: @escaping @Sendable () throws -> Endpoint) {
        self.endpoint = endpoint
    }
}
