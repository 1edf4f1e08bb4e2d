import Logging
import ServiceLifecycle
import Wire

/// The coordinator as a service: recovers, listens, works until it is shut down.
///
/// ```swift
/// let coordinator = try CoordinatorService(configuration, logger: logger)
/// let group = ServiceGroup(services: [coordinator], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
/// In an orderly shutdown nothing is read any more, everything decided is committed, peers are told, and `run` returns.
/// When the disk fails, `run` throws: the process must then end with an error and may be started again.
public final class CoordinatorService: Service, Sendable {
    /// Where it can be reached.
    public struct Addresses: Sendable, Hashable {
        /// In the order of the configuration, with the ports that were chosen.
        public let endpoints: [Endpoint]
        public let http: HTTPAddress?
    }

    private let configuration: CoordinatorConfiguration
    private let context: ZMQContext
    private let ownsContext: Bool
    private let logger: Logger
    private let mailbox: Mailbox<LoopEvent>
    /// nil: nothing is served over HTTP.
    private let http: (any CoordinatorHTTP)?
    private let listening = OneShot<Result<Addresses, CoordinatorError>>()

    /// - Parameter context: for inproc endpoints: the context that the peers in this process use. nil: one of its own.
    /// - Throws: `CoordinatorError`: an endpoint off loopback, or no descriptor left.
    public convenience init(
        _ configuration: CoordinatorConfiguration, context: ZMQContext? = nil, logger: Logger
    ) throws(CoordinatorError) {
        try self.init(configuration, context: context, http: nil, logger: logger)
    }

    /// - Parameter http: what serves HTTP for it; without that it does not run either.
    package init(
        _ configuration: CoordinatorConfiguration, context: ZMQContext? = nil, http: (any CoordinatorHTTP)?, logger: Logger
    ) throws(CoordinatorError) {
        self.http = http
        try configuration.checkEndpoints()
        self.configuration = configuration
        self.logger = logger
        ownsContext = context == nil
        do {
            self.context = try context ?? ZMQContext()
            mailbox = try Mailbox()
        } catch {
            throw CoordinatorError.of(error, whileStarting: true)
        }
    }

    /// Where it listens; waits until it does. For tests and for programs that start a coordinator of their own.
    ///
    /// Waits for ever when `run` is never called.
    /// - Throws: `CoordinatorError`: why it could not start.
    public var addresses: Addresses {
        get async throws(CoordinatorError) { try await listening.value.get() }
    }

    /// Asks for an orderly end, as a graceful shutdown of its service group does.
    public func shutDown(reason: String = "the coordinator is being stopped") {
        mailbox.post(.shutdown(reason: reason))
    }

    /// Runs once; returns after an orderly shutdown. Where that is asked for during a start that takes long, it returns without an end of the
    /// start: nobody was promised anything. The data directory stays locked until what the start waits for is there, or the process ends.
    ///
    /// - Throws: `CoordinatorError`: why it could not start, or why it cannot go on.
    public func run() async throws {
        let started = OneShot<Start>()
        let ended = OneShot<Result<Void, CoordinatorError>>()
        do {
            let thread = try OSThread(name: "aop-transport") { [configuration, context, mailbox, logger, ownsContext] in
                let result = Self.work(configuration, context, mailbox, logger, started)
                if ownsContext { context.terminate() }
                ended.set(result)
            }
            _ = thread
        } catch {
            let error = CoordinatorError.of(error, whileStarting: true)
            listening.set(.failure(error))
            throw error
        }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await attend(started, ended)
        } onCancelOrGracefulShutdown: {
            self.shutDown()
            Task {
                // Nobody cancels this task, for which alone it would throw.
                try? await Task.sleep(for: .milliseconds(CoordinatorLimits.startGraceMilliseconds))
                // Says nothing where the start has come to its end by then.
                started.set(.givenUp)
            }
        }
    }

    /// How a start came out.
    private enum Start: Sendable {
        case listening([Endpoint])
        case failed(CoordinatorError)
        /// The coordinator was told to end, and the start takes long. Its thread goes on alone; it has been told to end, too, so that it reads
        /// nothing from anybody when it comes to that.
        case givenUp
    }

    /// What the transport thread does from its start to its end. When it returns, nothing of it is left.
    private static func work(
        _ configuration: CoordinatorConfiguration, _ context: ZMQContext, _ mailbox: Mailbox<LoopEvent>,
        _ logger: Logger, _ started: OneShot<Start>
    ) -> Result<Void, CoordinatorError> {
        let loop: CoordinatorLoop
        do {
            loop = try CoordinatorLoop(configuration, context: context, mailbox: mailbox, logger: logger)
        } catch {
            let error = CoordinatorError.of(error, whileStarting: true)
            started.set(.failed(error))
            return .failure(error)
        }
        started.set(.listening(loop.endpoints))
        do {
            try loop.run()
            return .success(())
        } catch {
            let error = CoordinatorError.of(error, whileStarting: false)
            logger.critical("the coordinator ends: \(error)")
            return .failure(error)
        }
    }

    private func attend(
        _ started: OneShot<Start>, _ ended: OneShot<Result<Void, CoordinatorError>>
    ) async throws(CoordinatorError) {
        switch await started.value {
        case .failed(let error):
            listening.set(.failure(error))
            _ = await ended.value
            throw error
        case .givenUp:
            logger.notice("told to end before it listened: nothing was promised to anybody, and what it was reading is as it was")
            listening.set(.failure(.system("the coordinator was told to end before it listened; start it again")))
        case .listening(let endpoints):
            if let http {
                try await serve(http, endpoints, ended)
            } else {
                listening.set(.success(Addresses(endpoints: endpoints, http: nil)))
                try await ended.value.get()
            }
        }
    }

    /// Serves HTTP for as long as the loop runs; without it the coordinator does not run either.
    private func serve(
        _ http: any CoordinatorHTTP, _ endpoints: [Endpoint], _ ended: OneShot<Result<Void, CoordinatorError>>
    ) async throws(CoordinatorError) {
        let access = CoordinatorAccess(mailbox: mailbox)
        let listening = listening
        let failure = await withTaskGroup(of: Part.self) { group in
            group.addTask {
                do {
                    try await http.run(access) { address in
                        listening.set(.success(Addresses(endpoints: endpoints, http: address)))
                    }
                    return .http(nil)
                } catch {
                    let error = CoordinatorError.of(error, whileStarting: true)
                    listening.set(.failure(error))
                    self.shutDown(reason: "\(error)")
                    return .http(error)
                }
            }
            group.addTask {
                switch await ended.value {
                case .success: .loop(nil)
                case .failure(let error): .loop(error)
                }
            }
            var failure: CoordinatorError?
            for await part in group {
                switch part {
                case .http(let error): failure = failure ?? error
                case .loop(let error):
                    failure = failure ?? error
                    group.cancelAll()
                }
            }
            return failure
        }
        if let failure { throw failure }
    }

    /// What has ended, and why; nil: as it should.
    private enum Part {
        case http(CoordinatorError?)
        case loop(CoordinatorError?)
    }
}
