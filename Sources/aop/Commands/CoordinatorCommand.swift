import ArgumentParser
import Coordinator
import Dashboard
import Foundation
import Logging
import ServiceLifecycle
import Settings
import Shapes
import Synchronization
import Wire

struct CoordinatorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "The coordinator: keeps all work on disk and gives it to workers.",
        discussion: """
            Prints where it listens when it does. SIGTERM or Ctrl-C ends it in an orderly way; running work goes on in its
            workers, and is taken up again by the next coordinator on the same data.

            Examples:
              aop coordinator
              aop coordinator --listen tcp://0.0.0.0:7600
              aop coordinator --listen ipc:///run/aop/socket --data /var/lib/aop
            """)

    // The service group has the signals.
    static let handlesInterruption = true
    static let defaultLogLevel = Logger.Level.info

    /// In bytes.
    enum Defaults {
        static let partialResultBytes: Int64 = 1 << 30
        static let diskReserve: Int64 = 1 << 30
        static let snapshotBytes: Int64 = 64 << 20
        static let retainBytes: Int64 = 10 << 30
        static let flightRecorder: Int64 = 0
    }

    @Option(help: "Where workers and clients connect; may be repeated. (default: \(Endpoint.standard))", transform: Endpoint.argument)
    var listen: [Endpoint] = Settings.list(.listen).compactMap(Endpoint.init(argument:))
    @Option(
        help: "Where HTTP is served: the dashboard, its JSON API, /metrics and /healthz. Off loopback it takes the token. off: nowhere.")
    var http: String = Settings.text(.http) ?? "127.0.0.1:7601"
    @Flag(name: .customLong("no-http"), help: "Serve no HTTP.")
    var noHTTP = false
    @Option(
        name: .customLong("http-name"),
        help: ArgumentHelp(
            "A name by which browsers reach the dashboard, besides the host's own and its addresses; may be repeated.", valueName: "name"))
    var httpNames: [String] = []
    @Flag(name: .customLong("http-private"), help: "Also who only looks over HTTP needs the token; off loopback that is always so.")
    var httpPrivate = false
    @OptionGroup var data: DataOption
    @Option(
        help: ArgumentHelp(
            "Where the coordinator's key and the authorised keys are, see `aop keys`: ~/.config/aop/keys, for root /etc/aop/keys, by default, if they are there. AOP_KEYS sets it, too.",
            valueName: "directory"), completion: .directory)
    var keys: String?
    @Option(
        help: ArgumentHelp(
            "Bytes of partial results kept of all submissions together; operations that send more are held back.", valueName: "bytes"))
    var partialResultBytes: Int64 = Settings.number(.partialResultBytes) ?? Defaults.partialResultBytes
    @Option(
        help: ArgumentHelp(
            "Bytes that must be free on the disk of --data for new submissions; with less they are answered \"busy\", and what runs goes on. 0: any.",
            valueName: "bytes"))
    var diskReserve: Int64 = Settings.number(.diskReserve) ?? Defaults.diskReserve
    @Option(
        help: ArgumentHelp(
            "Bytes of new facts in the journal after which a snapshot takes the place of old ones: what a start reads. 0: never.",
            valueName: "bytes"))
    var snapshotBytes: Int64 = Settings.number(.snapshotBytes) ?? Defaults.snapshotBytes
    @Option(
        help: ArgumentHelp(
            "How long a submission is known after its end, with its results and output: at least 1m, or `forever`. Its key is free then.",
            valueName: "duration"))
    var retain = Settings.text(.retain).flatMap(RetentionArgument.init(argument:)) ?? .standard
    @Option(
        help: ArgumentHelp(
            "Bytes that submissions which have ended may take, with their values; beyond them those that ended first are forgotten. 0: any.",
            valueName: "bytes"))
    var retainBytes: Int64 = Settings.number(.retainBytes) ?? Defaults.retainBytes
    @Option(
        help: ArgumentHelp(
            "How long what became of submissions stands in DATA/history.sqlite: at least 1m, or `forever`, or `off`.",
            valueName: "duration"))
    var history = Settings.text(.history).flatMap(HistoryArgument.init(argument:)) ?? .standard
    @Option(
        help: ArgumentHelp(
            "Bytes of recordings of what the scheduler is told, for `aop journal replay`, the oldest of which go. 0: nothing is recorded.",
            valueName: "bytes"))
    var flightRecorder: Int64 = Settings.number(.flightRecorder) ?? Defaults.flightRecorder
    @Option(
        help: ArgumentHelp(
            "Serve one run: no cookie on a socket, end with standard input, remove this directory at the end.", visibility: .hidden))
    var privateDirectory: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let flags: [(Setting, [String])] = [
            (.listen, listen.map(\.description)), (.http, [http]), (.partialResultBytes, ["\(partialResultBytes)"]),
            (.diskReserve, ["\(diskReserve)"]), (.snapshotBytes, ["\(snapshotBytes)"]), (.retainBytes, ["\(retainBytes)"]),
            (.flightRecorder, ["\(flightRecorder)"]),
        ]
        let problems = flags.flatMap { setting, texts in setting.problems(ofFlag: texts) }
        guard problems.isEmpty else { throw ValidationError(problems.text) }
    }

    /// Nil: HTTP is served nowhere.
    ///
    /// - Throws: `HTTPAddressError` where it is no address.
    static func address(ofHTTP text: String) throws(HTTPAddressError) -> HTTPAddress? {
        text == "off" ? nil : try HTTPAddress(text)
    }

    var isPartOfARun: Bool { privateDirectory != nil }

    func execute(_ console: Console) async throws -> ExitStatus {
        // Who reads its log may go.
        signal(SIGPIPE, SIG_IGN)
        // It outlives a run that is killed, for as long as its orderly end takes.
        let hold = privateDirectory.flatMap { PrivateDirectory.Hold(of: $0) }
        defer { withExtendedLifetime(hold) {} }
        let status: ExitStatus
        do {
            status = try await serve(console)
        } catch let error as CoordinatorError {
            try await removePrivateDirectory()
            throw ToolError(error)
        } catch let error as CookieError {
            throw ToolError(.toolError, "cookie", "\(error)")
        }
        try await removePrivateDirectory()
        return status
    }

    private func serve(_ console: Console) async throws -> ExitStatus {
        var configuration = CoordinatorConfiguration(dataDirectory: dataDirectory)
        if !listen.isEmpty { configuration.endpoints = listen }
        configuration.partialResultBytes = partialResultBytes
        configuration.snapshotBytes = snapshotBytes
        configuration.retentionMilliseconds = retain.milliseconds
        configuration.retentionBytes = retainBytes == 0 ? nil : retainBytes
        configuration.flightRecorderBytes = flightRecorder
        // What belongs to one run is removed with it.
        configuration.historyMilliseconds = privateDirectory == nil ? history.milliseconds : 0
        configuration.diskReserveBytes = privateDirectory == nil ? diskReserve : 0
        let address = noHTTP ? nil : try Self.address(ofHTTP: http)
        let logger = Logger(label: "aop.coordinator")
        // One run's own coordinator has keys only where it is given some.
        if privateDirectory == nil || keys != nil {
            do throws(KeyError) {
                configuration.keys = try CoordinatorKeys.find(directory: keys, environment: Settings.keyEnvironment)
            } catch {
                throw CoordinatorError.keys(error)
            }
            // Without keys off loopback it does not come to anybody asking for it.
            if configuration.endpoints.contains(where: \.isLoopback) { configuration.cookie = try Cookie.loadOrCreate() }
        } else if configuration.endpoints.contains(where: { $0.port != nil }) {
            // Others reach a port who cannot enter the directory.
            configuration.cookie = try Cookie.loadOrCreate(directory: StateDirectory.path())
        }
        OpenFiles.raiseLimit()
        if let text = OpenFiles.lowLimit() { throw ToolError(.toolError, "openFiles", text) }
        FileSizeLimit.letWritesFail()
        let spans = QueueSpans(logger)
        if let spans { configuration.whenBegun = { spans.tell($0) } }
        let service = address.map {
            HTTPService($0, directory: dataDirectory, names: httpNames, readsNeedToken: httpPrivate, logger: logger) {
                let counts = SpanExporter.ownCounts ?? SpanExporter.Counts()
                return TracedSpans(exported: counts.exported, dropped: counts.dropped + (spans?.dropped ?? 0))
            }
        }
        let coordinator = try CoordinatorService(configuration, http: service, logger: logger)
        // An end that nobody asked for by a signal (the lifeline, the limit) is an orderly one, too.
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: coordinator, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: EndSignals.all, logger: quiet(logger)))
        if privateDirectory != nil { Lifeline.watch { Task { await group.triggerGracefulShutdown() } } }
        let announcement = Task {
            let addresses = try await coordinator.addresses
            ServiceManager().tell(.ready, .status("listening on \(addresses.endpoints.map(\.description).joined(separator: ", "))"))
            try await announce(addresses, keys: configuration.keys?.authorizedPath, token: service?.tokenPath, console)
        }
        defer { announcement.cancel() }
        let timeIsOver = OneWayFlag()
        let timer = Task {
            guard let timeout = output.timeout else { return }
            try await Task.sleep(for: timeout.duration)
            timeIsOver.raise()
            await group.triggerGracefulShutdown()
        }
        defer { timer.cancel() }
        do { try await group.run() } catch {
            await spans?.end()
            throw error
        }
        await spans?.end()
        return timeIsOver.isRaised ? .timeout : .success
    }

    /// Goes up once, seen by any thread.
    private final class OneWayFlag: Sendable {
        private let state = Atomic(false)
        func raise() { state.store(true, ordering: .releasing) }
        var isRaised: Bool { state.load(ordering: .acquiring) }
    }

    private func announce(
        _ addresses: CoordinatorService.Addresses, keys: String?, token: String?, _ console: Console
    ) async throws {
        switch console.mode {
        // Who has started it for itself reads it.
        case _ where isPartOfARun, .json, .jsonl:
            try await console.writeValue(
                .shape([
                    ("listen", .array(addresses.endpoints.map { .string($0.description) })),
                    ("http", addresses.http.map { .string($0.description) } ?? .null),
                    ("httpToken", token.map { .string($0) } ?? .null),
                    ("data", .string(dataDirectory)), ("pid", .integer(Int64(getpid()))),
                ]))
        case .quiet: try await console.write(addresses.endpoints.map { "\($0)\n" }.joined())
        case .text:
            try await console.write(addresses.endpoints.map { "listening on \($0)\n" }.joined())
            if let keys {
                let flag = "--dir \(KeyDirectory.of(keys).shellWord)"
                console.hint("keys: only who is listed in \(keys) gets in; `aop keys list \(flag)` shows them")
            }
            console.hint("data in \(dataDirectory)")
            if let http = addresses.http, let token {
                console.hint("dashboard at http://\(http)/; to cancel, retry or pause there: the token in \(token)")
                if !http.isLoopback {
                    console.hint("HTTP is not encrypted: across hosts the token can be read on its way; put a proxy with TLS before it")
                }
            }
            console.hint("next, in other terminals: \(Self.next(addresses.endpoints))")
        }
    }

    /// What a worker and a client of this host are started with; with its address, where that is not the one they look for.
    static func next(_ endpoints: [Endpoint]) -> String {
        func isFound(_ endpoint: Endpoint) -> Bool {
            endpoint == .standard || endpoint.isForListeners && endpoint.port == Endpoint.standard.port
        }
        guard !endpoints.contains(where: isFound), let endpoint = endpoints.first else { return "aop worker · aop submit FILE --watch" }
        let address = "\(endpoint.isForListeners ? endpoint.onLoopback : endpoint)".shellWord
        return "aop worker --connect \(address) · aop submit FILE --watch --coordinator \(address)"
    }

    private var dataDirectory: String { data.path }

    private func removePrivateDirectory() async throws {
        guard let privateDirectory else { return }
        try await OwnThread.run { try PrivateDirectory.remove(privateDirectory) }
    }

    /// The service group tells of every step it takes; only trouble is wanted.
    private func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}

extension ToolError {
    init(_ error: CoordinatorError) {
        switch error {
        case .keys: self.init(.notPermitted, "key", error.description)
        case .keysRequired: self.init(.notPermitted, "keysRequired", error.description)
        case .noEndpoint: self.init(.usage, "usage", error.description)
        case .addressInUse, .httpAddressInUse: self.init(.toolError, "addressInUse", error.description)
        case .cannotListen, .cannotServeHTTP, .httpToken, .dataDirectory, .journal, .blobs, .transport, .system:
            self.init(.toolError, "coordinator", error.description)
        }
    }
}
