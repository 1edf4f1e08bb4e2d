import CLinux
import Executing
import Foundation
import Logging
import Wire

/// The shell around ``SupervisorState``: starts executors, buries what they leave behind, and proves their ends to the
/// coordinator.
///
/// It takes every child of its process that is neither a living executor nor its guardian for an orphan to be killed: a
/// process that runs it starts nothing else.
///
/// `@unchecked Sendable`: everything is touched on the loop's thread only, or before it runs.
final class Supervisor: @unchecked Sendable {
    private let settings: SupervisorSettings
    private let logger: Logger
    private let loop: EventLoop
    private let context: ZMQContext
    private let incarnation = UInt64.random(in: 1 ... .max)
    private var state: SupervisorState
    private var link: PeerLink?
    private var channels: [pid_t: ExecutorChannel] = [:]
    private var temporaryDirectories: [pid_t: String] = [:]
    private var isSweeping = false
    private var guardian: Guardian
    /// Why there is no guardian; told once.
    private var guardianFailure: String?
    private var startTimer: EventLoop.Timer?
    private var exitCode: Int32?
    private let temporaryDirectory: String
    private let service = ServiceManager()
    private var readiness = ServiceReadiness()
    private var standing: CoordinatorStanding

    init(_ settings: SupervisorSettings, logger: Logger) throws {
        self.settings = settings
        self.logger = logger
        loop = try EventLoop()
        context = try ZMQContext()
        state = SupervisorState(processes: settings.processes)
        standing = CoordinatorStanding(endpoint: settings.executor.endpoint)
        guardian = Guardian(try WorkerMark.ofThisProcess())
        temporaryDirectory = try TemporaryDirectory.make(for: guardian.mark)
    }

    /// Runs until the worker has ended.
    /// - Returns: the exit code.
    func run() throws -> Int32 {
        defer { TemporaryDirectory.remove(temporaryDirectory, logger: logger) }
        guard clinux_become_subreaper() == 0 else {
            throw SystemCallError(operation: "prctl(PR_SET_CHILD_SUBREAPER)", errno: errno)
        }
        try watchSignals()
        Leftovers.end(besides: guardian.mark, logger: logger)
        // No work depends on it, and there may be much.
        DispatchQueue.global().async { [mark = guardian.mark, logger] in
            TemporaryDirectory.removeThoseOfTheDead(besides: mark, logger: logger)
        }
        defer { guardian.end() }
        keepGuardian()
        try openLink()
        logger.info("worker of \(settings.executor.endpoint): \(settings.processes) × \(settings.executor.slots) slots")
        everySecond()
        showLife()
        loop.run()
        link?.close(goodbye: "the worker has ended", flushMilliseconds: 500)
        return exitCode ?? 0
    }

    // MARK: Set-up

    private func watchSignals() throws {
        // Who starts it with nohup wants it to outlast the terminal.
        let signals = [SIGTERM, SIGINT, SIGCHLD] + (clinux_is_ignored(SIGHUP) == 1 ? [] : [SIGHUP])
        let descriptor = try SystemCallError.check(clinux_signal_pipe(signals, Int32(signals.count)), "sigaction")
        try loop.watch(descriptor, .readable) { [unowned self] in
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = max(0, read(descriptor, &bytes, bytes.count))
            bury()
            for signal in bytes[..<count].map({ Int32($0) }) where signal != SIGCHLD { terminate() }
        }
    }

    private func terminate() {
        switch state.course {
        case .working:
            let grace = DurationText.seconds(milliseconds: settings.graceMilliseconds)
            logger.notice("ending: what runs has \(grace); a second signal ends it at once")
            service.tell(
                .stopping, .status("ending: what runs has \(grace)"),
                .needs(milliseconds: SupervisorState.endMilliseconds(graceMilliseconds: settings.graceMilliseconds)))
        case .draining, .closing, .over:
            logger.notice("ending at once")
        }
        perform(state.terminate(graceMilliseconds: settings.graceMilliseconds, now: BootClock.milliseconds()))
    }

    private func openLink() throws {
        var configuration = PeerLink.Configuration(
            endpoint: try Endpoint(settings.executor.endpoint), role: .supervisor,
            cookie: try settings.executor.cookieDirectory.map { try Cookie.loadOrCreate(directory: $0) },
            key: try settings.executor.keyFile.map { try PeerKey(contentsOf: $0) },
            incarnation: incarnation)
        configuration.afterRefusal = .tryOnOnceWelcomed
        let link = PeerLink(configuration, context: context) { [unowned self] event in loop.submit { self.handle(event) } }
        self.link = link
        try link.start()
    }

    private func everySecond() {
        bury()
        keepGuardian()
        perform(state.tick(now: BootClock.milliseconds()))
        if readiness.tick(at: BootClock.milliseconds()) { tellReady() }
        loop.after(milliseconds: 1000) { [unowned self] in everySecond() }
    }

    private func keepGuardian() {
        do {
            guard try guardian.startIfMissing(now: BootClock.milliseconds()), let process = guardian.process else { return }
            guardianFailure = nil
            logger.debug("the guardian is process \(process)")
        } catch {
            let reason = "\(error)"
            if reason != guardianFailure {
                logger.error(
                    "the guardian cannot be started: \(reason); trying on; commands may outlive a worker that is killed as a whole")
            }
            guardianFailure = reason
        }
    }

    // MARK: The service manager

    private func tellReady() {
        if state.course == .working { service.tell(.ready) }
    }

    private func tellService(_ status: String) {
        if state.course == .working { service.tell(.status(status)) }
    }

    /// From the loop that everything here depends on.
    private func showLife() {
        guard let limit = service.watchdogMilliseconds else { return }
        service.tell(.alive)
        loop.after(milliseconds: max(1, limit / 3)) { [unowned self] in showLife() }
    }

    private var timeText: String { Date.now.formatted(.iso8601) }

    // MARK: The coordinator

    private func handle(_ event: PeerLink.Event) {
        switch event {
        case .attached:
            link?.enter()
            readiness.attached()
            tell(standing.attached(at: BootClock.milliseconds()))
            logger.info("attached to \(settings.executor.endpoint)")
            perform(state.attached())
        case .detached(let reason, let isThere):
            readiness.detached(at: BootClock.milliseconds())
            tell(standing.detached(reason, isThere: isThere, time: timeText))
        case .refused(let refusal):
            logger.error("the coordinator at \(settings.executor.endpoint) refuses this worker: \(refusal.message)")
            service.tell(.stopping, .status("refused by the coordinator at \(settings.executor.endpoint): \(refusal.message)"))
            let code: Int32 = refusal.code == .cookie || refusal.code == .notPermitted ? 77 : 1
            perform(state.refused(exitCode: code, now: BootClock.milliseconds()))
        case .denied(let reason):
            readiness.denied()
            tell(standing.denied(reason, time: timeText))
        case .farewell(let reason):
            logger.info("the coordinator stops (\(reason)); trying on")
        case .message(let message, _):
            guard case .acknowledgement(let acknowledgement)? = message.body else { break }
            perform(state.acknowledged(acknowledgement.endedExecutors, now: BootClock.milliseconds()))
        case .leaseOver, .lockLeaseEnding, .orphanLimitOver:
            // Executors count their own.
            break
        }
    }

    private func tell(_ news: [CoordinatorStanding.News]) {
        for piece in news {
            switch piece {
            case .log(let level, let text): logger.log(level: level, "\(text)")
            case .status(let text): tellService(text)
            }
        }
    }

    // MARK: Steps

    private func perform(_ actions: [SupervisorAction]) {
        for action in actions { perform(action) }
        armStart()
    }

    private func perform(_ action: SupervisorAction) {
        switch action {
        case .spawn(let index): spawn(index)
        case .drain(let process, let grace): channels[process]?.send(.drain(graceMilliseconds: grace))
        case .kill(let process): kill(process, SIGKILL)
        case .look(let process): perform(state.looked(at: process, isCrashing: Backtraces.isCrashing(process)))
        case .sweep: if !isSweeping { sweep(round: 0) }
        case .report(let ended):
            link?.send(
                .with {
                    $0.executorEnded = .with {
                        $0.executorIncarnation = ended.incarnation
                        $0.cause = ended.cause
                        $0.text = ended.text
                    }
                })
        case .log(let line):
            switch line.level {
            case .info: logger.info("\(line.text)")
            case .warning: logger.warning("\(line.text)")
            case .error: logger.error("\(line.text)")
            }
        case .exit(let code):
            exitCode = code
            loop.stop()
        }
    }

    /// Wakes up when a place is to be filled before the next second.
    private func armStart() {
        if let startTimer { loop.cancel(startTimer) }
        startTimer = state.nextStart.map { time in
            loop.after(milliseconds: time - BootClock.milliseconds()) { [unowned self] in
                startTimer = nil
                perform(state.tick(now: BootClock.milliseconds()))
            }
        }
    }

    private func spawn(_ index: UInt32) {
        var configuration = settings.executor
        configuration.index = index
        configuration.incarnation = UInt64.random(in: 1 ... .max)
        configuration.supervisorIncarnation = incarnation
        configuration.mark = guardian.mark.text
        configuration.temporaryDirectory = "\(temporaryDirectory)/\(String(configuration.incarnation, radix: 16))"
        do {
            // Without it the executor would end at once.
            try TemporaryDirectory.ensure(configuration.temporaryDirectory)
            let started = try ExecutorLaunch.start(configuration)
            let process = started.process
            let channel = ExecutorChannel(descriptor: started.channel, loop: loop)
            channels[process] = channel
            temporaryDirectories[process] = configuration.temporaryDirectory
            perform(
                state.spawned(process, index: index, incarnation: configuration.incarnation, now: BootClock.milliseconds()))
            try channel.begin(
                line: { [unowned self] line in
                    switch line {
                    case .alive: state.alive(process, now: BootClock.milliseconds())
                    case .replaceMe: perform(state.replacementAsked(by: process, now: BootClock.milliseconds()))
                    case .denied(let reason):
                        readiness.denied()
                        // What keeps all of them out this process is told itself, and may be its end.
                        if link?.isAttached == true {
                            tell(standing.executorDenied(reason, at: BootClock.milliseconds(), time: timeText))
                        }
                    case .permitted:
                        state.attached(process)
                        if link?.isAttached == true { tell(standing.attached(at: BootClock.milliseconds())) }
                        if readiness.accepted() { tellReady() }
                    case .drain: break
                    }
                },
                // Its end is told by the kernel.
                ended: {})
            logger.debug("executor \(index) is process \(process)")
        } catch {
            perform(state.spawnFailed(index: index, reason: "\(error)", now: BootClock.milliseconds()))
        }
    }

    /// Reaps every child that has ended.
    private func bury() {
        while true {
            let process = clinux_peek_ended_child()
            guard process > 0 else { return }
            var code: Int32 = 0
            let bySignal = clinux_reap(process, &code) == 1
            if guardian.ended(process, now: BootClock.milliseconds()) {
                logger.warning("the guardian (\(process)) has ended; another one is started")
                keepGuardian()
            }
            guard state.executors[process] != nil else { continue }
            channels.removeValue(forKey: process)?.close()
            if let directory = temporaryDirectories.removeValue(forKey: process) {
                TemporaryDirectory.remove(directory, logger: logger)
            }
            perform(state.exited(process, code: code, bySignal: bySignal, now: BootClock.milliseconds()))
        }
    }

    /// Kills orphans, again and again: those that a killed one leaves become children of this process in turn.
    private func sweep(round: Int64) {
        isSweeping = true
        bury()
        let orphans: [ProcessTable.Entry]
        do { orphans = try orphansNow() } catch {
            if round % 200 == 0 { logger.warning("what an ended executor has left cannot be looked for; trying again: \(error)") }
            loop.after(milliseconds: min(1 + round / 4, 50)) { [unowned self] in sweep(round: round + 1) }
            return
        }
        guard !orphans.isEmpty else {
            isSweeping = false
            return perform(state.swept(now: BootClock.milliseconds()))
        }
        for orphan in orphans where !orphan.isZombie { kill(orphan.id, SIGKILL) }
        if round == 200 { logger.warning("processes \(orphans.map(\.id)) do not die; waiting for them") }
        loop.after(milliseconds: min(1 + round / 4, 50)) { [unowned self] in sweep(round: round + 1) }
    }

    private func orphansNow() throws(SystemCallError) -> [ProcessTable.Entry] {
        try ProcessTable.current().children(of: getpid()).filter { state.executors[$0.id] == nil && $0.id != guardian.process }
    }
}

/// What a supervisor is run with.
struct SupervisorSettings: Sendable {
    var processes: Int
    /// What running units get when the worker is told to end.
    var graceMilliseconds: Int64
    /// What all executors have in common.
    var executor: ExecutorConfiguration
}
