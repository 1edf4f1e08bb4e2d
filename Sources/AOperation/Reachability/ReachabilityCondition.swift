import Foundation

/// Holds if a server, or the network, can be reached.
///
/// ```swift
/// upload.conditions(ReachabilityCondition(url: server, waitToConnect: true))
/// ```
/// See ``Reachability`` for how that is found out. A connection of the required kind is one that goes through an
/// interface of that kind; a machine that has no such interface fails the condition, also where it would wait.
public struct ReachabilityCondition: AOperationCondition, Sendable {
    /// There is no such connection.
    public struct Error: LocalizedError, PortableError, Hashable, Sendable {
        /// What was to be reached; nil for the network.
        public let url: URL?
        /// The connection that is required.
        public let connection: Connection
        /// What was found.
        public let reason: String

        public init(url: URL?, connection: Connection, reason: String) {
            self.url = url
            self.connection = connection
            self.reason = reason
        }

        /// Names host and port only: the rest of a URL may be secret.
        public var errorDescription: String? {
            let target = ReachabilityTarget(url)
            return switch connection {
            case .none: "\(target) must not be reached: \(reason)"
            case .any: "\(target) cannot be reached: \(reason)"
            case .wifi, .cellular: "\(target) cannot be reached by \(connection): \(reason)"
            }
        }
    }

    /// What is to be reached; nil for the network.
    public var url: URL? { reachability.url }

    private let reachability: Reachability
    private let connection: Connection
    private let waitToConnect: Bool
    private let interval: Duration

    /// What a worker needs to evaluate it, if that is all that was asked for.
    var portableForm: (URL, waits: Bool)? {
        guard let url, connection == .any, reachability.probe == .connect, reachability.timeout == .seconds(5) else { return nil }
        return (url, waitToConnect)
    }

    /// - Parameters:
    ///   - url: what is to be reached: an http, https, ws or wss URL, or any other with host and port. Nil, the
    ///     default, for the network: an interface other than the loopback is up.
    ///   - connection: the kind of connection that is required: any by default; with ``Connection/none`` the condition
    ///     holds if the target cannot be reached.
    ///   - waitToConnect: whether to wait for such a connection instead of failing. The operation waits without a slot.
    ///   - probe: how a server is asked for: by a TCP connection unless an HTTP HEAD request is wanted.
    ///   - timeout: how long one look may take, 5 s by default.
    ///   - interval: how long to wait before the next look, 1 s by default.
    public init(
        url: URL? = nil, connection: Connection = .any, waitToConnect: Bool = false,
        probe: Reachability.Probe = .connect, timeout: Duration = .seconds(5), interval: Duration = .seconds(1)
    ) {
        self.init(
            Reachability(url: url, probe: probe, timeout: timeout), connection: connection,
            waitToConnect: waitToConnect, interval: interval)
    }

    init(
        _ reachability: Reachability, connection: Connection = .any, waitToConnect: Bool = false,
        interval: Duration = .seconds(1)
    ) {
        self.reachability = reachability
        self.connection = connection
        self.waitToConnect = waitToConnect
        self.interval = interval
    }

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        switch connection {
        case .wifi, .cellular:
            guard reachability.hasInterface(for: connection) else {
                return completion(failure("this machine has no \(connection) interface"))
            }
        case .none, .any: break
        }
        reachability.look { [self] reach in completion(verdict(on: reach)) }
    }

    private func verdict(on reach: Reach) -> OperationConditionResult {
        switch (reach, connection) {
        case (.impossible(let reason), _): failure(reason)
        case (.reached, .any), (.unreachable, .none): .success
        case (.reached, .none): notYet("it can be")
        case (.reached(let kinds), .wifi), (.reached(let kinds), .cellular):
            kinds.contains(connection) ? .success : notYet("it is reached by another connection")
        case (.unreachable(let reason), .any), (.unreachable(let reason), .wifi), (.unreachable(let reason), .cellular):
            notYet(reason)
        }
    }

    private func notYet(_ reason: String) -> OperationConditionResult {
        guard waitToConnect else { return failure(reason) }
        return .retry(after: interval, because: error(reason).localizedDescription)
    }

    private func failure(_ reason: String) -> OperationConditionResult {
        .failure(AOperationError(error(reason)))
    }

    private func error(_ reason: String) -> Error {
        Error(url: url, connection: connection, reason: reason)
    }
}
