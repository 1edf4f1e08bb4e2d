import Foundation
import Synchronization
import Wire

/// A client's connection to a coordinator.
///
/// It survives restarts of the coordinator: requests that were not answered are asked again, follows go on, and
/// nothing is lost or done twice. Every function may be cancelled, and throws `CancellationError` then; a cancelled request may still
/// have been carried out.
///
/// ```swift
/// let connection = try await ClusterConnection.connect(.environment)
/// let nightly = try await connection.submission(key: "nightly-2031-05-01")
/// let outcome = try await nightly.outcome()
/// await connection.close()
/// ```
/// ``ClusterQueue`` submits; its ``ClusterQueue/connection`` is one.
public final class ClusterConnection: Sendable {
    package let endpoint: Endpoint
    /// With which it connects.
    let cookie: [UInt8]?
    let key: PeerKey?
    let core: ConnectionCore
    private let transport: Transport
    private let isClosed = Mutex(false)

    /// What carries its messages.
    private enum Transport: Sendable {
        case network(PeerLink, ZMQContext)
        /// Within the process.
        case memory(any MemoryCarrier)
        /// To a coordinator with a journal and peers of its own, within the process.
        case local(any MessageCarrier)
    }

    /// The coordinator, if it is in this process.
    var memory: (any MemoryCarrier)? { if case .memory(let carrier) = transport { carrier } else { nil } }

    private init(endpoint: Endpoint, cookie: [UInt8]?, key: PeerKey?, core: ConnectionCore, _ transport: Transport) {
        self.cookie = cookie
        self.key = key
        self.endpoint = endpoint
        self.core = core
        self.transport = transport
    }

    /// A connection to a coordinator in this process.
    ///
    /// - Parameter carrier: takes what is sent; it is given where what comes for the connection goes.
    package convenience init(within carrier: (ConnectionCore) -> any MemoryCarrier) throws {
        let core = ConnectionCore()
        let carrier = carrier(core)
        core.use(carrier)
        self.init(endpoint: try Endpoint("ipc:///memory"), cookie: nil, key: nil, core: core, .memory(carrier))
    }

    /// A client of a coordinator with a journal and peers of its own, in this process.
    ///
    /// - Parameter carrier: takes what is sent; it is given where what comes for the connection goes.
    package convenience init(overLocal carrier: (ConnectionCore) -> any MessageCarrier) throws {
        let core = ConnectionCore()
        let carrier = carrier(core)
        core.use(carrier)
        self.init(endpoint: try Endpoint("ipc:///local"), cookie: nil, key: nil, core: core, .local(carrier))
    }

    /// Connects to the coordinator at `address`, trying until `connectTimeout` is over.
    ///
    /// - Parameter key: the file of the key that the coordinator asks for; nil: as `AOP_KEY` or `AOP_KEYS` says, else that of the
    ///   standard folder.
    /// - Throws: as ``ClusterQueue/connect(_:key:connectTimeout:)-(String,_,_)``; `CancellationError`.
    public static func connect(
        _ address: ClusterAddress, key: String? = nil, connectTimeout: Duration = .seconds(10)
    ) async throws -> ClusterConnection {
        let endpoint = try address.endpoint()
        let key = try KeyChoice(file: key, directory: nil).key(for: endpoint, names: KeyDirectory.clientFiles)
        let cookie = endpoint.isLoopback && key == nil ? try Cookie.loadOrCreate() : nil
        return try await connect(to: endpoint, cookie: cookie, key: key, connectTimeout: connectTimeout)
    }

    /// Connects, trying until `connectTimeout` is over.
    ///
    /// - Parameter cookie: contents of the user's cookie file, on loopback; nil where the coordinator asks for none.
    /// - Parameter key: what this process proves itself with, see `KeyChoice`; nil where the coordinator asks for none.
    /// - Throws: `ClusterError` with code `unreachable` when no coordinator answered in time, `notPermitted` or
    ///   `version` when it refused, also this key; `ZMQError` when the socket could not be made; `CancellationError`.
    package static func connect(
        to endpoint: Endpoint, cookie: [UInt8]? = nil, key: PeerKey? = nil, connectTimeout: Duration = .seconds(10)
    ) async throws -> ClusterConnection {
        let context = try ZMQContext()
        let core = ConnectionCore()
        let configuration = PeerLink.Configuration(
            endpoint: endpoint, role: .client, cookie: cookie, key: key, incarnation: UInt64.random(in: 1...UInt64.max),
            heartbeat: { WireHeartbeat() })
        let link = PeerLink(configuration, context: context) { event in core.handle(event) }
        core.use(link)
        let connection = ClusterConnection(endpoint: endpoint, cookie: cookie, key: key, core: core, .network(link, context))
        try link.start()
        let seconds = connectTimeout / .seconds(1)
        let timer = Task {
            try await Task.sleep(for: connectTimeout)
            core.giveUpConnecting(endpoint: endpoint, seconds: seconds)
        }
        defer { timer.cancel() }
        do {
            try await core.waitUntilAttached()
            return connection
        } catch {
            await connection.close()
            throw error
        }
    }

    /// What the coordinator said of itself when the connection was last made.
    package var welcome: WireWelcome? { core.welcome }

    /// Ends the connection; requests that still wait throw `ClusterError` with code `closed`.
    ///
    /// Work that was submitted goes on. Closing twice is harmless.
    public func close() async {
        guard claimClosing() else { return }
        let (transport, core) = (transport, core)
        await withCheckedContinuation { continuation in
            // Waits for the link's thread: not on a thread of the cooperative pool.
            OSThread.detach(name: "aop-close") {
                Self.shutDown(transport, core)
                continuation.resume()
            }
        }
    }

    deinit {
        guard claimClosing() else { return }
        let (transport, core) = (transport, core)
        OSThread.detach(name: "aop-close") { Self.shutDown(transport, core) }
    }

    private func claimClosing() -> Bool {
        isClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
    }

    private static func shutDown(_ transport: Transport, _ core: ConnectionCore) {
        core.end(ClusterError(.closed, "the connection to the coordinator was closed"))
        guard case .network(let link, let context) = transport else { return }
        link.close(goodbye: "client closes", flushMilliseconds: 200)
        context.terminate()
    }
}
