import Coordinator
import CoreMetrics
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import Wire

/// HTTP for a coordinator: `/healthz`, `/metrics`, the JSON API under `/api/v1`, and the dashboard.
///
/// It is a client of the coordinator like any other, within its process: what a request asks goes through the same verbs, with the rights
/// of whoever asks.
package struct HTTPService: CoordinatorHTTP {
    package let address: HTTPAddress
    /// Where the file with the token is.
    package var tokenPath: String { AccessToken.path(in: directory) }
    /// The coordinator's data directory.
    private let directory: String
    let hosts: HostRule
    let readsNeedToken: Bool
    let logger: Logger
    private let spans: @Sendable () -> TracedSpans

    /// - Parameters:
    ///   - directory: the coordinator's data directory, where the token is, or is made.
    ///   - names: what proxies and people call the host besides its own name.
    ///   - readsNeedToken: also who only looks needs the token. Off loopback that is always so.
    ///   - spans: what became of this process's spans, for `/metrics`.
    package init(
        _ address: HTTPAddress, directory: String, names: [String] = [], readsNeedToken: Bool = false, logger: Logger,
        spans: @escaping @Sendable () -> TracedSpans = { TracedSpans() }
    ) {
        self.spans = spans
        self.address = address
        self.directory = directory
        hosts = HostRule(names: names, hostName: HostName.current)
        self.readsNeedToken = readsNeedToken || !address.isLoopback
        self.logger = logger
    }

    package func run(_ access: CoordinatorAccess, listening: @escaping @Sendable (HTTPAddress) -> Void) async throws {
        // What keeps it from serving is thrown. Below that it tells, as errors, of connections that were open when it ended.
        var quiet = logger
        quiet.logLevel = .critical
        let token: AccessToken
        do throws(CookieError) { token = try AccessToken.loadOrCreate(in: directory) } catch {
            throw CoordinatorError.httpToken("\(error)")
        }
        let clients = try LocalClients(access)
        let feed = ClusterFeed(clients.observer, access)
        let application = Application(
            router: router(access, token, clients, feed),
            // Streams are not idle.
            server: .http1(configuration: .init(idleTimeout: .seconds(HTTPLimits.idleSeconds))),
            configuration: .init(
                address: .hostname(address.host, port: address.port), serverName: "aop",
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionsMax(), logger: quiet)),
            onServerRunning: { channel in
                listening(HTTPAddress(host: address.host, port: channel.localAddress?.port ?? address.port))
            },
            logger: quiet)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await application.run() }
                group.addTask { await feed.run() }
                _ = try await group.next()
                group.cancelAll()
            }
        } catch is CancellationError {} catch {
            await clients.close()
            throw Self.failure(error, on: address)
        }
        await clients.close()
    }

    /// Beyond it none is accepted until one ends: files are left for whoever else needs them.
    private static func connectionsMax() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return HTTPLimits.connections }
        return Int(min(UInt64(HTTPLimits.connections), max(UInt64(limit.rlim_cur) / 4, 1)))
    }

    /// The server says why it could not listen in words for those who made it: it is tried once more, for better ones.
    private static func failure(_ error: any Error, on address: HTTPAddress) -> CoordinatorError {
        switch SocketTrial.listen(host: address.host, port: UInt16(clamping: address.port)) {
        case .taken: .httpAddressInUse(address)
        case .impossible(let why): .cannotServeHTTP(address, reason: why)
        case .free: .cannotServeHTTP(address, reason: "\(error)")
        }
    }

    private func router(
        _ access: CoordinatorAccess, _ token: AccessToken, _ clients: LocalClients, _ feed: ClusterFeed
    ) -> Router<APIContext> {
        let registry = PrometheusRegistry()
        let router = Router(context: APIContext.self)
        router.addMiddleware {
            RequestMetrics(factory: registry)
            FailureReplies()
            RequestGuard(hosts: hosts, token: token, readsNeedToken: readsNeedToken)
        }
        var routes = RouteTable(router)
        routes.get("/healthz") { _, _ in
            guard let epoch = await access.epoch() else {
                return Reply.json(.object([("status", .string("unavailable"))]), status: .serviceUnavailable)
            }
            return Reply.json(.object([("status", .string("ok")), ("epoch", .integer(Int64(epoch)))]))
        }
        routes.get("/metrics") { _, _ in
            guard let metrics = await access.metrics() else {
                throw APIFailure(.serviceUnavailable, "busy", "the coordinator does not answer; try again")
            }
            var text = PrometheusText()
            MetricsPage(
                metrics: metrics, now: WallClock.milliseconds(), residentBytes: ResidentMemory.bytes, spans: spans()
            ).write(to: &text)
            registry.write(to: &text)
            return Reply.text(text.text, type: "text/plain; version=0.0.4; charset=utf-8")
        }
        StaticFiles.add(to: &routes)
        let streams = StreamCount()
        SubmissionRoutes(clients: clients).add(to: &routes)
        OperationRoutes(clients: clients, access: access).add(to: &routes)
        SteeringRoutes(clients: clients).add(to: &routes)
        ClusterRoutes(clients: clients).add(to: &routes)
        StreamRoutes(clients: clients, feed: feed, streams: streams).add(to: &routes)
        routes.refuseOtherMethods()
        return router
    }
}
