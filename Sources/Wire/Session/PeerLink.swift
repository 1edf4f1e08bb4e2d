import Foundation
import Glibc
import Synchronization

/// A peer's connection to the coordinator: a thread of its own that keeps a session alive, reconnects by itself, and says
/// what happens. Used by executors, supervisors and clients.
///
/// ```swift
/// let link = PeerLink(configuration, context: context) { event in … link.enter() … }
/// try link.start()
/// link.send(.with { $0.request = request })
/// link.close(goodbye: "done", flushMilliseconds: 1000)
/// ```
/// A message is lost when the session it was sent in ends before it arrived, and is dropped when there is none: whoever sends
/// something that matters sends it again after ``Event/attached(_:sameCoordinator:)`` until it is acknowledged. Until that event is
/// dealt with, its sender takes what it said before for said: so a session is sent in when it was entered by ``enter()``.
public final class PeerLink: Sendable {
    public struct Configuration: Sendable {
        public var endpoint: Endpoint
        public var role: WireRole
        /// See ``Cookie``; nil where the coordinator asks for none.
        public var cookie: [UInt8]?
        /// See ``KeyChoice``; nil: nothing is encrypted.
        public var key: PeerKey?
        /// Random, drawn once when the process starts.
        public var incarnation: UInt64
        /// The longest pause between two attempts; the first is 50 ms.
        public var reconnectMaximumMilliseconds: Int
        public var connectTimeoutMilliseconds: Int
        /// Whether refusals that somebody may take back end the link; such a one that does not is ``Event/denied(reason:)``.
        public var afterRefusal = PeerSession.AfterRefusal.end
        /// Of the link's thread.
        package var stackBytes = Limits.decodingStackBytes
        public var capabilities: [String]
        /// How this host is called.
        public var host: String
        /// Asked for the hello's executor part at each attempt, on a private queue. One that does not answer keeps the link
        /// detached.
        public var executorHello: (@Sendable () -> WireExecutorHello)?
        /// Asked for each heartbeat, on the same private queue, and not again before it has answered: a peer that hangs is
        /// silent. `nil` as its answer: no heartbeat is sent. Without it the link sends plain heartbeats.
        public var heartbeat: (@Sendable () -> WireHeartbeat?)?

        public init(
            endpoint: Endpoint,
            role: WireRole,
            cookie: [UInt8]? = nil,
            key: PeerKey? = nil,
            incarnation: UInt64,
            reconnectMaximumMilliseconds: Int = 500,
            connectTimeoutMilliseconds: Int = 1000,
            capabilities: [String] = ProtocolVersion.capabilities,
            host: String = HostName.current,
            executorHello: (@Sendable () -> WireExecutorHello)? = nil,
            heartbeat: (@Sendable () -> WireHeartbeat?)? = nil
        ) {
            self.endpoint = endpoint
            self.role = role
            self.cookie = cookie
            self.key = key
            self.incarnation = incarnation
            self.reconnectMaximumMilliseconds = reconnectMaximumMilliseconds
            self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
            self.capabilities = capabilities
            self.host = host
            self.executorHello = executorHello
            self.heartbeat = heartbeat
        }
    }

    public enum Event: Sendable {
        /// Welcomed: ``PeerLink/enter()`` begins to send. `sameCoordinator`: by the process that welcomed us last time.
        case attached(WireWelcome, sameCoordinator: Bool)
        /// The session ended, or an attempt to make one failed: so this comes again and again while nobody listens. The link
        /// goes on trying by itself. `isThere`: the coordinator has answered, and has an obstacle that may pass.
        case detached(reason: String, isThere: Bool = false)
        /// No heartbeat that was sent within the lease has been answered: start nothing that waits. Ends with the next
        /// `attached`; comes at most once before it.
        case leaseOver
        /// As `leaseOver`, for the lock lease, which is about to end: stop what runs under a key, by force after
        /// `graceMilliseconds`.
        case lockLeaseEnding(graceMilliseconds: Int64)
        /// As `leaseOver`, for the orphan limit, counted from the same instant: stop everything.
        case orphanLimitOver
        /// The coordinator will not have this peer; final, the link has stopped. Not for refusals that may pass
        /// (``WireRefusal/isFinal``): those are `detached`.
        case refused(WireRefusal)
        /// The coordinator does not let this process's key in (any more), or nobody without one, or refuses it in a way that
        /// ``Configuration/afterRefusal`` outlasts; `detached` follows, and the link goes on trying, ever more seldom. Who does not want to
        /// wait for somebody to change that closes it.
        case denied(reason: String)
        /// The coordinator stops in an orderly way; `detached` follows.
        case farewell(String)
        /// Everything else, with the bytes of a blob chunk.
        case message(WireCoordinatorMessage, attachment: Buffer?)
    }

    private enum Life {
        case made
        case running
        case closed
    }

    private let configuration: Configuration
    private let context: ZMQContext
    private let handler: @Sendable (Event) -> Void
    private let shared: LinkShared
    private let life = Mutex(Life.made)

    /// - Parameter handler: called on the link's thread, in order; must not block.
    public init(_ configuration: Configuration, context: ZMQContext, handler: @escaping @Sendable (Event) -> Void) {
        self.configuration = configuration
        self.context = context
        self.handler = handler
        shared = LinkShared()
    }

    deinit { shared.post(.close(goodbye: nil, flushMilliseconds: 0)) }

    /// Starts the thread and the first attempt. Once; later calls and calls after ``close(goodbye:flushMilliseconds:)`` do nothing.
    /// - Throws: ``ThreadError``: there is no thread for it, and it will have no session.
    public func start() throws(ThreadError) {
        let begins = life.withLock { life in
            guard case .made = life else { return false }
            life = .running
            // Before the lock is free: a close that follows must find something to wait for.
            shared.ended.enter()
            return true
        }
        guard begins else { return }
        do {
            _ = try OSThread(name: "aop-link", stackBytes: configuration.stackBytes) { [configuration, context, handler, shared] in
                shared.threadBegins()
                LinkRunner(configuration, context: context, shared: shared, handler: handler).run()
                shared.ended.leave()
            }
        } catch {
            shared.ended.leave()
            throw error
        }
    }

    /// Whether messages are sent at the moment, not dropped.
    public var isAttached: Bool { shared.open != nil }

    /// From now on messages are sent in the session that there is. To be called when ``Event/attached(_:sameCoordinator:)`` is dealt with,
    /// before what matters is sent again, and while nobody else sends what goes on from what was sent before.
    public func enter() {
        shared.entered.store(shared.session.load(ordering: .acquiring), ordering: .releasing)
    }

    /// Sends a message, from any thread, in the order of the calls. Dropped where no session was entered, and when it has ended.
    ///
    /// A message that is too large for the wire ends the session with a reason that says so.
    public func send(_ message: WirePeerMessage, attachment: Buffer? = nil) {
        guard let session = shared.open else { return }
        do throws(WireError) {
            shared.post(.send(try message.frames(attachment: attachment), session: session))
        } catch {
            shared.post(.unsendable("a message of this process cannot be sent: \(error)", session: session))
        }
    }

    /// Says goodbye, sends what waits for at most `flushMilliseconds`, and waits for the thread's end; no event comes afterwards.
    ///
    /// Blocks: not for Swift's cooperative threads. Called from the handler it does not wait. Harmless when called twice.
    public func close(goodbye: String? = nil, flushMilliseconds: Int = 0) {
        life.withLock { $0 = .closed }
        shared.post(.close(goodbye: goodbye, flushMilliseconds: flushMilliseconds))
        if !shared.isOnThread { shared.ended.wait() }
    }
}
