import CLinux
import Executing
import Foundation
import Logging
import Synchronization
import Wire

/// The shell around ``ExecutorState``: one event loop that talks to the coordinator and the supervisor and runs units.
///
/// `@unchecked Sendable`: `state` is guarded by its mutex, because the link asks for held units and load from its own
/// threads; `pulse` is atomic; everything else is touched on the loop's thread only, or before it runs.
final class Executor: @unchecked Sendable {
    let configuration: ExecutorConfiguration
    let logger: Logger
    let loop: EventLoop
    let registry: OperationRegistry
    let spawns = SpawnGate()
    let host: HostSettings

    let state: Mutex<ExecutorState>
    /// When the loop last showed that it is alive.
    let pulse = Atomic<Int64>(0)
    private let context: ZMQContext
    var link: PeerLink?
    private var channel: ExecutorChannel?
    var runner: UnitRunner?
    private var inputs: InputDesk?
    var streams: StreamDesk?
    private var shelf = BlobShelf()
    var spool = OutputSpool()
    let progress = ProgressDesk()
    var elements = ElementDesk()
    var products = ProductDesk()
    /// Boot time of the last message about progress.
    var progressSentAt: Int64 = 0
    var isProgressDue = false
    /// Somebody has removed its temporary directory, and it could not be made again: it has retired.
    private var isDirectoryMissing = false
    var reports: [WireUnitReport] = []
    var startHold = StartHold.none
    /// Inputs that steps led to while another step was being carried out.
    private var pending: [ExecutorAction] = []
    private var isPerforming = false
    var timer: (deadline: Int64, timer: EventLoop.Timer)?
    /// How the coordinator calls this executor.
    private var name: String
    private var exitCode: Int32?

    /// Starts that are not told yet.
    enum StartHold {
        case none
        case held
        /// They have waited long enough.
        case due
    }

    /// How long the loop may be busy before it counts as hung, for the coordinator and for the supervisor.
    private static let hungMilliseconds: Int64 = 2500
    private static let pulseMilliseconds: Int64 = 500
    static let reportBytesMax = 4 << 20
    /// So many operations may begin before the loop knows.
    private static let lineMax = 128
    /// A loop that was busy for longer may have missed that nothing is to begin.
    private static let unattendedMilliseconds: Int64 = 1000

    init(_ configuration: ExecutorConfiguration, registry: OperationRegistry, logger: Logger) throws {
        self.configuration = configuration
        self.registry = registry
        self.logger = logger
        loop = try EventLoop()
        context = try ZMQContext()
        state = Mutex(ExecutorState(slots: configuration.slots, lineMax: Self.lineMax))
        name = "\(HostName.current)/\(configuration.index)"
        host = HostSettings(
            hostName: HostName.current,
            environment: CommandEnvironment(
                passedNames: configuration.passedNames, passesEverything: configuration.passesEverything, mark: configuration.mark,
                withheld: configuration.hasBacktracesOff ? [Backtraces.environmentName] : []),
            workingDirectory: configuration.workingDirectory,
            temporaryDirectory: configuration.temporaryDirectory,
            commands: try CommandHost(loop: loop, spawns: spawns, logger: logger),
            secrets: SecretStore(directory: configuration.secretsDirectory))
    }

    /// Runs until this executor is to end; on the process's first thread, which inherits orphans.
    /// - Returns: the exit code.
    func run() throws -> Int32 {
        guard clinux_become_subreaper() == 0 else {
            throw SystemCallError(operation: "prctl(PR_SET_CHILD_SUBREAPER)", errno: errno)
        }
        try TemporaryDirectory.ensure(configuration.temporaryDirectory)
        // The commands' share of the environment is passed on purpose; this is not part of it.
        unsetenv(ExecutorConfiguration.environmentName)
        // The runtime has read it. What operations start by themselves has it as little as commands.
        if configuration.hasBacktracesOff { unsetenv(Backtraces.environmentName) }
        let room = host.commands.room.max
        if room < configuration.slots {
            logger.warning(
                """
                this process may have \(OpenFileLimit.current) files open, which is enough for \(room) commands at once, and has \(configuration.slots) \
                slots; commands beyond wait in their slots. Raise it (LimitNOFILE=, ulimit -n), or give it fewer slots
                """)
        }
        try watchSignals()
        try openChannel()
        makeRunner()
        if configuration.shell { try CommandThreads.make() }
        try openLink()
        beat()
        loop.run { self.turnEnds() }
        // A goodbye says that nothing of this process runs any more.
        spawns.close()
        let left = Descendants.killAll(withinMilliseconds: 400)
        let isIdle = left.isEmpty && state.withLock { $0.runningCount } == 0
        link?.close(goodbye: isIdle ? "ended" : nil, flushMilliseconds: 1000)
        return exitCode ?? ExecutorExit.drained
    }

    // MARK: Set-up

    private func watchSignals() throws {
        let signals: [Int32] = [SIGTERM, SIGINT]
        let descriptor = try SystemCallError.check(clinux_signal_pipe(signals, Int32(signals.count)), "sigaction")
        try loop.watch(descriptor, .readable) { [unowned self] in
            var bytes = [UInt8](repeating: 0, count: 64)
            guard read(descriptor, &bytes, bytes.count) > 0 else { return }
            drain(graceMilliseconds: configuration.graceMilliseconds)
        }
    }

    private func openChannel() throws {
        let descriptor = ExecutorConfiguration.channelDescriptor
        _ = try SystemCallError.check(clinux_set_close_on_exec(descriptor), "fcntl", "the channel to the supervisor")
        let channel = ExecutorChannel(descriptor: descriptor, loop: loop)
        self.channel = channel
        try Lifeline.begin(descriptor, spawns: spawns, temporaryDirectory: configuration.temporaryDirectory)
        try channel.begin(
            line: { [unowned self] line in
                switch line {
                case .drain(let grace): drain(graceMilliseconds: grace)
                case .alive, .replaceMe, .denied, .permitted: break
                }
            },
            // The lifeline's thread ends the process.
            ended: {})
    }

    /// Whether the supervisor is gone: known before anybody ends a command for that.
    var isOrphaned: Bool { channel.map { clinux_is_hung_up($0.descriptor) } ?? false }

    private func makeRunner() {
        let line = StartLine { [weak self] in
            guard let self else { return false }
            return BootClock.milliseconds() - pulse.load(ordering: .relaxed) < Self.unattendedMilliseconds
        }
        runner = UnitRunner(
            registry: registry, slots: configuration.slots, loop: loop, hostName: host.hostName, progress: progress, line: line,
            whenBegun: { [unowned self] key, at in step { state, now, _ in state.begun(key, now: now, at: at) } }
        ) { [unowned self] key, finished in
            // Before it is given back: with that the coordinator is told whether others may come.
            if finished.isUnbegun { keepTemporaryDirectory() }
            shelf.release(key)
            spool.close(key)
            if let blob = finished.blob { shelf.put(blob.bytes, digest: blob.digest, for: key) }
            step {
                finished.isUnbegun
                    ? $0.couldNotBegin(key, finished.ending, endedAt: finished.endedAt, now: $1, at: $2)
                    : $0.ended(key, finished.ending, endedAt: finished.endedAt, now: $1, at: $2)
            }
        }
        runner?.whenProgressed = { [unowned self] in sendProgressSoon() }
        runner?.whenLogged = { [unowned self] key, bytes in spool.append(bytes, stream: .log, of: key, at: WallClock.milliseconds()) }
        runner?.whenSending = { [unowned self] key, gate, sent in elements.open(key, gate, sent: sent) }
        runner?.whenSent = { [unowned self] key, event in elements.receive(event, of: key) }
        runner?.whenStarting = { [unowned self] key in products.open(key) }
        runner?.whenProduced = { [unowned self] key, result, publisher in
            switch result {
            case .success(let addition): products.put(addition, of: key)
            case .failure(let refused): products.fail(.product(refused, publisher: publisher, host: host.hostName), of: key)
            }
        }
        openStreams()
        inputs = InputDesk(
            loop: loop, directory: configuration.temporaryDirectory, shelf: { [unowned self] in shelf },
            edit: { [unowned self] in $0(&shelf) },
            ask: { [unowned self] requests in
                for request in requests { link?.send(.with { $0.blobRequest = request }) }
            },
            whenReady: { [unowned self] key, result in
                switch result {
                case .success: stepWithoutLine { $0.inputsReady(key, now: $1, at: $2) }
                case .failure(let missing):
                    // Without a place for them it gives back what waits for them.
                    keepTemporaryDirectory()
                    let failure = WireOperationFailure.parameters(missing.reason, publisher: "", host: host.hostName)
                    step { $0.inputsMissing(key, failure, now: $1, at: $2) }
                }
            })
    }

    private func openLink() throws {
        let endpoint = try Endpoint(configuration.endpoint)
        let types = registry.wireTypes
        let conditions = registry.conditionNames
        var settings = PeerLink.Configuration(
            endpoint: endpoint, role: .executor,
            cookie: try configuration.cookieDirectory.map { try Cookie.loadOrCreate(directory: $0) },
            key: try configuration.keyFile.map { try PeerKey(contentsOf: $0) },
            incarnation: configuration.incarnation)
        settings.executorHello = { [unowned self] in
            .with {
                $0.supervisorIncarnation = configuration.supervisorIncarnation
                $0.slots = UInt32(configuration.slots)
                $0.operations = types
                $0.conditions = conditions
                $0.labels = configuration.labels
                $0.resources = configuration.resources.sorted { $0.key < $1.key }.map { name, amount in
                    .with {
                        $0.name = name
                        $0.amount = UInt64(amount)
                    }
                }
                $0.units = held()
                $0.line = UInt32(Self.lineMax)
                $0.index = configuration.index
            }
        }
        settings.heartbeat = { [unowned self] in heartbeat() }
        // Its supervisor ends it where the worker as a whole is refused.
        settings.afterRefusal = .tryOn
        let link = PeerLink(settings, context: context) { [unowned self] event in
            loop.submit { self.handle(event) }
        }
        self.link = link
        try link.start()
    }

    /// What this executor holds, after everything that came in the session before has been seen: a dispatch that still
    /// waited for its turn would be told as not held, be given to somebody else, and then start here too.
    ///
    /// Called on the link's queue, which may wait. What a loop that has ended did not see will never start.
    private func held() -> [WireHeldUnit] {
        let held = loop.ask { [unowned self] in
            takeBackLine()
            return state.withLock { $0.tellHeld() }
        }
        return held ?? state.withLock { $0.held }
    }

    // MARK: Signs of life

    /// Called on the link's queue: silent when the loop is.
    private func heartbeat() -> WireHeartbeat? {
        guard BootClock.milliseconds() - pulse.load(ordering: .relaxed) < Self.hungMilliseconds else { return nil }
        return state.withLock { state in
            .with {
                $0.running = UInt32(state.runningCount)
                $0.queued = UInt32(state.queuedCount)
                $0.accepting = state.isAccepting
            }
        }
    }

    private func beat() {
        pulse.store(BootClock.milliseconds(), ordering: .relaxed)
        channel?.send(.alive)
        _ = host.commands.mayHaveOrphans()
        keepTemporaryDirectory()
        loop.after(milliseconds: Self.pulseMilliseconds) { [unowned self] in beat() }
    }

    /// Where it is removed, and cannot be made again, nothing more is to begin here: all of it would fail at once, and more would come.
    private func keepTemporaryDirectory() {
        guard !TemporaryDirectory.isThere(configuration.temporaryDirectory) else { return }
        do {
            try TemporaryDirectory.ensure(configuration.temporaryDirectory)
            logger.warning("\(configuration.temporaryDirectory) was removed by somebody, and is made again")
        } catch {
            guard !isDirectoryMissing else { return }
            isDirectoryMissing = true
            logger.error("the temporary directory was removed by somebody: \(error)")
            stepWithoutLine { $0.retire(now: $1, at: $2) }
        }
    }

    // MARK: Events of the link

    private func handle(_ event: PeerLink.Event) {
        switch event {
        case .attached(let welcome, _):
            link?.enter()
            if !welcome.name.isEmpty { name = welcome.name }
            logger.info("attached to \(configuration.endpoint) as \(name)")
            channel?.send(.permitted)
            inputs?.resume()
            streams?.resume()
            progress.forgetSent()
            elements.forgetSent()
            products.forgetSent()
            spool.attached(acknowledges: welcome.capabilities.contains(ProtocolVersion.outputReceipts))
            isProgressDue = true
            stepWithoutLine { $0.attached(drop: welcome.drop.map { UnitKey($0) }, now: $1, at: $2) }
        case .detached(let reason, _):
            logger.trace("not connected to \(configuration.endpoint): \(reason)")
        case .denied(let reason):
            // Its supervisor says so, once for all of them.
            logger.debug("\(reason)")
            channel?.send(.denied(reason))
        case .leaseOver:
            logger.warning("the coordinator has not answered within the lease: nothing new is started")
            stepWithoutLine { state, _, _ in
                state.leaseOver()
                return []
            }
        case .lockLeaseEnding(let graceMilliseconds):
            stepWithoutLine { [logger] state, now, _ in
                let actions = state.lockLeaseEnding(graceMilliseconds: graceMilliseconds, now: now)
                let what =
                    actions.isEmpty
                    ? "the lock lease is about to be over, and nothing has begun under a key"
                    : "what runs under a key is stopped before the lock lease is over"
                logger.warning("the coordinator has not answered: \(what)")
                return actions
            }
        case .orphanLimitOver:
            logger.warning("the coordinator has not answered within the orphan limit: everything is stopped")
            stepWithoutLine { state, now, _ in state.orphanLimitOver(now: now) }
        case .refused(let refusal):
            logger.error("the coordinator at \(configuration.endpoint) refuses this executor: \(refusal.message)")
            end(ExecutorExit.refused)
        case .farewell(let reason):
            logger.info("the coordinator stops: \(reason)")
        case .message(let message, let attachment):
            handle(message, attachment)
        }
    }

    private func handle(_ message: WireCoordinatorMessage, _ attachment: Buffer?) {
        switch message.body {
        case .dispatch(let dispatch)?:
            if state.withLock({ $0.goAheadOfLine(dispatch.assignments) }) { takeBackLine() }
            step { $0.dispatched(dispatch.assignments, now: $1, at: $2) }
        case .stop(let stop)?:
            for unit in stop.units where unit.reason != .recalled {
                if let end = products.release(UnitKey(unit)) { admit(end) }
                if let end = elements.release(UnitKey(unit)) { reports.append(end) }
            }
            stepWithoutLine { $0.stopOrdered(stop.units, now: $1, at: $2) }
        case .elementReceipts(let receipts)?:
            reports += elements.receive(receipts.receipts, now: BootClock.milliseconds())
        case .productReceipts(let receipts)?:
            for receipt in receipts.receipts {
                let (end, stops) = products.receive(receipt, host: host.hostName)
                if let end { admit(end) }
                if stops { runner?.stop(UnitKey(unit: receipt.unit, attempt: receipt.attempt)) }
            }
        case .outputReceipts(let receipts)?: spool.receive(receipts.receipts, now: BootClock.milliseconds())
        case .acknowledgement(let acknowledgement)?:
            step { $0.acknowledged(acknowledgement.units.map { UnitKey($0) }, now: $1, at: $2) }
        case .blobRequest(let request)?:
            let (chunk, bytes) = shelf.answer(request)
            link?.send(.with { $0.blobChunk = chunk }, attachment: bytes)
        case .blobChunk(let chunk)?: inputs?.receive(chunk, attachment)
        case .response(let response)?: streams?.receive(response)
        case .welcome?, .refusal?, .heartbeatAnswer?, .events?, .farewell?, .helloWanted?, .enrolled?, nil: break
        }
    }

    // MARK: Steps

    private func drain(graceMilliseconds: Int64) {
        logger.info("draining: what runs has \(DurationText.seconds(milliseconds: graceMilliseconds))")
        stepWithoutLine { $0.drain(graceMilliseconds: graceMilliseconds, now: $1, at: $2) }
    }

    /// A step that asks who has begun, or says that nobody is to: it is certain who has.
    func stepWithoutLine(_ input: (inout ExecutorState, _ now: Int64, _ at: Int64) -> [ExecutorAction]) {
        takeBackLine()
        step(input)
    }

    private func takeBackLine(closing: Bool = false) {
        let waiting = runner?.takeBackLine(closing: closing) ?? []
        step { $0.tookBackLine(waiting: waiting, now: $1, at: $2) }
    }

    func step(_ input: (inout ExecutorState, _ now: Int64, _ at: Int64) -> [ExecutorAction]) {
        let (now, at) = (BootClock.milliseconds(), WallClock.milliseconds())
        pending += state.withLock { input(&$0, now, at) }
        guard !isPerforming else { return }
        isPerforming = true
        while !pending.isEmpty {
            let actions = pending
            pending = []
            for action in actions { perform(action) }
        }
        isPerforming = false
    }

    private func perform(_ action: ExecutorAction) {
        switch action {
        case .report(let report):
            if let report = products.admit(report) { admit(report) }
        case .fetchInputs(let key, let assignment):
            inputs?.begin(key, assignment.inputs)
        case .start(let key, let assignment):
            if let before = state.withLock({ $0.predecessor(of: assignment) }) { products.follow(key, after: before) }
            runner?.start(key, assignment, context: context(for: key, assignment), blobs: shelf.blobs(of: key))
        case .lineUp(let key, let assignment):
            // A step within this one may have ended the process.
            guard state.withLock({ $0.isAccepting }) else { break }
            runner?.lineUp(key, assignment, context: context(for: key, assignment))
        case .stop(let key):
            runner?.stop(key)
        case .kill(let key):
            guard let runner else { break }
            if runner.kill(key) { step { $0.killed(key, at: $2) } } else { step { $0.cannotKill(key, now: $1, at: $2) } }
        case .forget(let key):
            runner?.discard(key)
            shelf.release(key)
            spool.discard(key)
            elements.forget(key)
            products.forget(key)
            inputs?.cancel(key)
        case .askForReplacement:
            let reason = isDirectoryMissing ? "there is no temporary directory" : "an operation does not stop"
            logger.error("\(reason); this process takes no more work and is replaced")
            channel?.send(.replaceMe)
        case .exit(.drained):
            let untold = state.withLock { $0.untoldEnds }
            if untold > 0 {
                logger.warning("ends that could not be handed in: \(untold), as the coordinator does not answer; what may run again will")
            }
            end(ExecutorExit.drained)
        case .exit(.stuck):
            end(ExecutorExit.stuck)
        }
    }

    private func context(for key: UnitKey, _ assignment: WireAssignment) -> UnitContext {
        let output: @Sendable (UnitContext.Stream, [UInt8]) -> Void = { [unowned self] stream, bytes in
            spool.append(bytes, stream: stream == .stdout ? .stdout : .stderr, of: key, at: WallClock.milliseconds())
        }
        return UnitContext(
            submission: assignment.submission, path: assignment.path, attemptNumber: assignment.attemptNumber,
            worker: name, bindings: Bindings(assignment.bindings), fences: Fences(assignment.fences),
            resources: HeldResources(assignment.resources),
            graceMilliseconds: Int64(assignment.graceMilliseconds), output: output, host: host, trace: assignment.trace,
            span: host.span(of: assignment, on: name))
    }

    /// What it has produced is on the coordinator's disk; its elements may not be.
    private func admit(_ report: WireUnitReport) {
        if let report = elements.admit(report) { reports.append(report) }
    }

    private func end(_ code: Int32) {
        guard exitCode == nil else { return }
        exitCode = code
        takeBackLine(closing: true)
        loop.stop()
    }
}
