import Hummingbird
import Logging
import Wire

/// `GET /healthz`: 200 when the transport thread answers, 503 otherwise.
struct HealthServer {
    let address: HTTPAddress
    let mailbox: Mailbox<LoopEvent>
    let logger: Logger

    private static let patience = Duration.seconds(2)

    /// Serves until it is cancelled or shut down; `listening` is told the port once it is bound.
    ///
    /// - Throws: `CoordinatorError.cannotServeHTTP`.
    func run(listening: @escaping @Sendable (HTTPAddress) -> Void) async throws {
        let router = Router()
        router.get("/healthz") { _, _ in await answer() }
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname(address.host, port: address.port), serverName: "aop"),
            onServerRunning: { channel in
                listening(HTTPAddress(host: address.host, port: channel.localAddress?.port ?? address.port))
            },
            logger: quiet)
        do { try await application.run() } catch is CancellationError {} catch {
            throw CoordinatorError.cannotServeHTTP(address, reason: "\(error)")
        }
    }

    private func answer() async -> Response {
        let probe = OneShot<Health?>()
        mailbox.post(.probe(probe))
        let timeout = Task {
            try await Task.sleep(for: Self.patience)
            probe.set(nil)
        }
        defer { timeout.cancel() }
        guard let health = await probe.value else {
            return Self.json(.serviceUnavailable, #"{"status":"unavailable"}"#)
        }
        return Self.json(.ok, #"{"status":"ok","epoch":\#(health.epoch)}"#)
    }

    private static func json(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
