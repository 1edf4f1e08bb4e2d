import ArgumentParser
import Cluster
import Wire

/// How a client finds its coordinator.
struct ConnectionOptions: ParsableArguments, Sendable {
    @Option(help: "Where the coordinator listens. AOP_COORDINATOR sets it, too. (default: \(Endpoint.standard))")
    var coordinator: Endpoint?

    @Option(help: "How long to try to reach the coordinator before exit code 69.")
    var connectTimeout: DurationArgument = DurationArgument(milliseconds: 10_000)

    func endpoint() throws -> Endpoint {
        if let coordinator { return coordinator }
        let named = Environment["AOP_COORDINATOR"]
        guard !named.isEmpty else { return .standard }
        do {
            return try Endpoint(named)
        } catch {
            throw ToolError(.usage, "usage", "AOP_COORDINATOR: \(error)")
        }
    }

    /// Whether the user said which coordinator is meant.
    var isExplicit: Bool { coordinator != nil || !Environment["AOP_COORDINATOR"].isEmpty }

    func connect(timeout: DurationArgument? = nil) async throws -> ClusterConnection {
        let endpoint = try endpoint()
        // Made here if need be: whoever starts first, the coordinator finds the same one.
        let cookie = endpoint.isLoopback ? try Cookie.loadOrCreate() : nil
        return try await ClusterConnection.connect(
            to: endpoint, cookie: cookie, connectTimeout: (timeout ?? connectTimeout).duration)
    }

    /// Connects, runs `body` and closes the connection, whatever the outcome.
    func withConnection<R: Sendable>(_ body: (ClusterConnection) async throws -> R) async throws -> R {
        let connection = try await connect()
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }
}

extension Endpoint: ExpressibleByArgument {
    public init?(argument: String) {
        do {
            try self.init(argument)
        } catch {
            return nil
        }
    }
}
