import Foundation

/// Finds out whether a server, or the network, can be reached.
///
/// ```swift
/// let connection = await Reachability(url: URL(string: "https://example.org")).connection()
/// ```
/// With a URL, somebody must accept a connection at its host and port; without one, an interface other than the
/// loopback must be up and have an address. A look takes at most ``timeout``, also where the host's name is not
/// resolved, and blocks no thread of Dispatch's. Looks at the same host and port that are made at the same time share
/// one connection. 64 are looked at at once: where more of them do not answer, further looks begin when these are over.
public struct Reachability: Sendable {
    /// How a server is asked for.
    public enum Probe: Hashable, Sendable {
        /// By a TCP connection, which is closed at once. The port is the URL's, or 80 for http and ws, 443 for https
        /// and wss.
        case connect
        /// By an HTTP HEAD request for the URL. An answer of any status counts; redirections are followed.
        case head
    }

    /// What is to be reached; nil for the network.
    public let url: URL?
    /// How it is asked for.
    public let probe: Probe
    /// How long one look may take.
    public let timeout: Duration

    let target: ReachabilityTarget
    private let environment: Environment

    /// Where the facts come from.
    struct Environment: Sendable {
        var interfaces: @Sendable () -> [NetworkInterface] = { NetworkInterface.all() }
        var board = ProbeBoard.shared
    }

    /// - Parameters:
    ///   - url: what is to be reached: an http, https, ws or wss URL, or any other with host and port. Nil, the
    ///     default, for the network.
    ///   - probe: how it is asked for.
    ///   - timeout: how long one look may take, 5 s by default.
    public init(url: URL? = nil, probe: Probe = .connect, timeout: Duration = .seconds(5)) {
        self.init(url: url, probe: probe, timeout: timeout, environment: Environment())
    }

    init(url: URL?, probe: Probe = .connect, timeout: Duration = .seconds(5), environment: Environment) {
        self.url = url
        self.probe = probe
        self.timeout = timeout
        self.environment = environment
        target = ReachabilityTarget(url)
    }

    /// Looks, and tells what connection there is: ``Connection/none`` if the target cannot be reached, or is no target.
    /// `completion` is called once, now or later, on any thread.
    public func check(completion: @escaping @Sendable (Connection) -> Void) {
        look { reach in completion(reach.connection) }
    }

    /// Looks, and tells what connection there is: ``Connection/none`` if the target cannot be reached, or is no target.
    public func connection() async -> Connection {
        await withCheckedContinuation { continuation in check { continuation.resume(returning: $0) } }
    }

    /// As ``check(completion:)``, with the reasons.
    func look(completion: @escaping @Sendable (Reach) -> Void) {
        switch (target, probe) {
        case (.unusable(let reason), _):
            completion(.impossible(reason: reason))
        case (.network, _):
            completion(network())
        case (.host(let host, let port), .connect):
            let target = ConnectProbe.Target(host: host, port: port, timeout: timeout)
            environment.board.probe(target) { [self] outcome in completion(reach(of: outcome)) }
        case (.host, .head):
            guard let url, ["http", "https"].contains(url.scheme?.lowercased()) else {
                return completion(.impossible(reason: "only http and https servers answer a HEAD request"))
            }
            HeadProbe.run(url, timeout: timeout) { [self] failure in completion(reach(ofHead: failure)) }
        }
    }

    /// Whether this machine has an interface that makes connections of this kind, be it up or down.
    func hasInterface(for kind: Connection) -> Bool {
        environment.interfaces().contains { $0.kind == kind }
    }

    private func network() -> Reach {
        let usable = environment.interfaces().filter(\.isUsable)
        guard !usable.isEmpty else { return .unreachable(reason: "no network interface is up") }
        return .reached(Set(usable.map(\.kind)))
    }

    private func reach(of outcome: ConnectProbe.Outcome) -> Reach {
        switch outcome {
        case .failed(let reason): return .unreachable(reason: reason)
        case .accepted(let localAddress):
            let interface = environment.interfaces().first { localAddress.map($0.addresses.contains) ?? false }
            return .reached([interface?.kind ?? .any])
        }
    }

    /// The request does not tell through which interface it went: all that are up may have been it.
    private func reach(ofHead failure: String?) -> Reach {
        if let failure { return .unreachable(reason: failure) }
        guard case .reached(let kinds) = network() else { return .reached([.any]) }
        return .reached(kinds)
    }
}
