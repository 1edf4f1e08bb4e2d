import Logging
import Wire

@testable import Coordinator

/// A coordinator that runs while a test's body runs on a thread of its own, and is ended in an orderly way.
struct TestCoordinator: Sendable {
    let context: ZMQContext
    let endpoint: Endpoint
    let addresses: CoordinatorService.Addresses

    func peer(key: PeerKey? = nil) throws -> FakePeer { try FakePeer(endpoint, context, key: key) }

    @discardableResult
    static func run<Value: Sendable>(
        in directory: String, http: (any CoordinatorHTTP)? = nil, logger: Logger = TestCoordinator.quiet,
        _ configure: (inout CoordinatorConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (TestCoordinator) throws -> Value
    ) async throws -> Value {
        var configuration = CoordinatorConfiguration(dataDirectory: directory)
        configuration.endpoints = [try Endpoint("tcp://127.0.0.1:0")]
        configuration.leaseMilliseconds = 600_000  // the peers of tests send no heartbeats
        configure(&configuration)
        let context = try ZMQContext()
        let service = try CoordinatorService(configuration, context: context, http: http, logger: logger)
        async let running: Void = service.run()
        let addresses: CoordinatorService.Addresses
        do { addresses = try await service.addresses } catch {
            try await running
            throw error
        }
        let coordinator = TestCoordinator(context: context, endpoint: addresses.endpoints[0], addresses: addresses)
        let result: Result<Value, any Error>
        do { result = .success(try await onThread { try body(coordinator) }) } catch { result = .failure(error) }
        service.shutDown()
        try await running
        return try result.get()
    }

    static var quiet: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }
}
