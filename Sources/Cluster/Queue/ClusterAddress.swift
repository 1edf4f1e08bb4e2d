import Foundation
import Wire

/// Where a coordinator listens.
public struct ClusterAddress: Sendable {
    let endpoint: @Sendable () throws(ClusterError) -> Endpoint

    /// `tcp://HOST:PORT` or `ipc:///PATH`. What is neither is told when it is connected to.
    public init(_ url: String) {
        endpoint = { () throws(ClusterError) in try Self.endpoint(url) }
    }

    /// What the environment variable `AOP_COORDINATOR` names, as for the command line; `tcp://127.0.0.1:7600` if it is
    /// not set.
    public static let environment = ClusterAddress(endpoint: { () throws(ClusterError) in
        let named = ProcessInfo.processInfo.environment["AOP_COORDINATOR"] ?? ""
        return named.isEmpty ? .standard : try endpoint(named)
    })

    private init(endpoint: @escaping @Sendable () throws(ClusterError) -> Endpoint) {
        self.endpoint = endpoint
    }

    private static func endpoint(_ url: String) throws(ClusterError) -> Endpoint {
        do { return try Endpoint(url) } catch { throw ClusterError(.address, error.description) }
    }
}
