import ArgumentParser
import Cluster
import Settings
import Wire

/// How a client finds its coordinator.
struct ConnectionOptions: ParsableArguments, Sendable {
    static let standardTimeout = DurationArgument(milliseconds: 10_000)

    @Option(
        help: "Where the coordinator listens. AOP_COORDINATOR sets it, too. (default: \(Endpoint.standard))", transform: Endpoint.argument)
    var coordinator: Endpoint?

    @Option(help: "How long to try to reach the coordinator before exit code 69.")
    var connectTimeout: DurationArgument =
        Settings.text(.connectTimeout).flatMap(DurationArgument.init(argument:)) ?? Self.standardTimeout

    @Option(
        help: ArgumentHelp(
            "Your key, for a coordinator that asks for one; admin.key or submit.key of --keys or of the standard folder by default. AOP_KEY sets it, too.",
            valueName: "file"))
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "Where keys are: ~/.config/aop/keys, for root /etc/aop/keys, by default. AOP_KEYS sets it, too.", valueName: "directory"))
    var keys: String?

    func endpoint() -> Endpoint { coordinator ?? Settings.text(.coordinator).flatMap(Endpoint.init(argument:)) ?? .standard }

    /// Whether the user said which coordinator is meant.
    var isExplicit: Bool { coordinator != nil || Settings.value(.coordinator) != nil }

    /// How long to look for a coordinator that checks a graph, and that nobody named; nil: as long as for others.
    var checkTimeout: DurationArgument? { isExplicit ? nil : DurationArgument(milliseconds: 400) }

    func connect(timeout: DurationArgument? = nil) async throws -> ClusterConnection {
        let endpoint = endpoint()
        // Made here if need be: whoever starts first, the coordinator finds the same one.
        let key: PeerKey?
        do throws(KeyError) {
            key = try KeyChoice(file: keyFile, directory: keys, environment: Settings.keyEnvironment).key(
                for: endpoint, names: KeyDirectory.clientFiles)
        } catch { throw ToolError(.notPermitted, "key", "\(error)") }
        let cookie = endpoint.isLoopback && key == nil ? try Cookie.loadOrCreate() : nil
        return try await ClusterConnection.connect(
            to: endpoint, cookie: cookie, key: key, connectTimeout: (timeout ?? connectTimeout).duration)
    }

    /// Connects, runs `body` and closes the connection, whatever the outcome.
    func withConnection<R: Sendable>(
        timeout: DurationArgument? = nil, _ body: (ClusterConnection) async throws -> R
    ) async throws -> R {
        let connection = try await connect(timeout: timeout)
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
    /// As a flag has it: what is wrong is said, with the remedy.
    @Sendable static func argument(_ text: String) throws -> Endpoint {
        do throws(EndpointError) { return try Endpoint(ofOtherProcess: text) } catch { throw ValidationError("\(error)") }
    }

    public init?(argument: String) {
        do {
            try self.init(ofOtherProcess: argument)
        } catch {
            return nil
        }
    }
}
