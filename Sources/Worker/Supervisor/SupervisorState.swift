import Executing
import Foundation
import Wire

/// What a supervisor wants done.
enum SupervisorAction: Equatable, Sendable {
    /// Start an executor in this place; answered by `spawned` or `spawnFailed`.
    case spawn(index: UInt32)
    case drain(pid_t, graceMilliseconds: Int64)
    case kill(pid_t)
    /// Look whether this executor, which is silent, is crashing; answered by `looked`.
    case look(pid_t)
    /// Kill and reap every child that is no executor, until there is none; answered by `swept`.
    case sweep
    /// Tell the coordinator; repeated until it is acknowledged.
    case report(EndedExecutor)
    case log(LogLine)
    case exit(Int32)

    struct LogLine: Equatable, Sendable {
        enum Level: Equatable, Sendable { case info, warning, error }
        let level: Level
        let text: String
    }
}

/// An executor whose end is proven: nothing of it is left.
struct EndedExecutor: Equatable, Sendable {
    let incarnation: UInt64
    let cause: WireExecutorEnded.Cause
    let text: String
}

/// Which executors there are, which are missing, and which ends are still to be told.
///
/// A value that is stepped; `now` is of the boot clock, in milliseconds.
struct SupervisorState: Sendable {
    struct Executor: Equatable, Sendable {
        enum Course: Equatable, Sendable {
            case working
            /// Another one has its place; it ends when its units have.
            case replaced
            /// Was told to end.
            case draining
            /// Was killed: because it was silent, or took too long to crash, or because this worker ends.
            case killed(WireExecutorEnded.Cause)
        }

        let index: UInt32
        let incarnation: UInt64
        let startedAt: Int64
        /// When it last showed that it is alive; nil: not yet.
        var aliveAt: Int64?
        var course: Course
        /// The coordinator has taken it: what ends it later is rather what it runs.
        var hasAttached = false
        /// Another one has its place, whatever becomes of it.
        var isReplaced = false
    }

    enum Course: Equatable, Sendable {
        case working
        /// Executors end by themselves until `killAt`.
        case draining(killAt: Int64)
        /// All executors have ended; waits for acknowledgements until `exitAt`.
        case closing(exitAt: Int64)
        case over
    }

    /// An executor that is silent for longer is killed, also one that is crashing: its work waits.
    static let silentMilliseconds: Int64 = 10_000
    /// What an executor has until it first shows that it is alive.
    static let startMilliseconds: Int64 = 30_000
    /// One that ran for this long did not crash at its start.
    static let steadyMilliseconds: Int64 = 30_000
    /// What an executor has on top of the grace it was given.
    static let drainMarginMilliseconds: Int64 = 12_000
    static let closingMilliseconds: Int64 = 1000
    /// Within this all is over that was told to end.
    static func endMilliseconds(graceMilliseconds: Int64) -> Int64 {
        graceMilliseconds + drainMarginMilliseconds + closingMilliseconds + pauseMilliseconds
    }
    /// Before the n-th start after a crash.
    static let backoffMilliseconds: [Int64] = [0, 200, 500, 1000, 2000, 5000, 10_000, 30_000]
    /// The longest of them for the place of one that had attached: the coordinator gives up what ends executors, and others are not to wait
    /// for that.
    static let attachedBackoffMilliseconds: Int64 = 1000
    /// Ticks come every second; one that is later by this much means that this process itself was stopped.
    static let pauseMilliseconds: Int64 = 3000

    private(set) var executors: [pid_t: Executor] = [:]
    private(set) var course = Course.working
    /// Places to be filled, with the time to do it.
    private var vacancies: [UInt32: Int64] = [:]
    private var crashes: [UInt32: Int] = [:]
    /// Ended, but something of them may be left.
    private var unswept: [EndedExecutor] = []
    /// Proven, but not acknowledged.
    private var unacknowledged: [EndedExecutor] = []
    private var lastTick: Int64?
    private var exitCode: Int32 = 0

    init(processes: Int) {
        for index in 0..<processes { vacancies[UInt32(index)] = 0 }
    }

    // MARK: Starting

    mutating func spawned(_ process: pid_t, index: UInt32, incarnation: UInt64, now: Int64) -> [SupervisorAction] {
        executors[process] = Executor(index: index, incarnation: incarnation, startedAt: now, course: .working)
        return []
    }

    mutating func spawnFailed(index: UInt32, reason: String, now: Int64) -> [SupervisorAction] {
        [.log(.init(level: .error, text: "executor \(index) cannot be started: \(reason)"))]
            + failed(index, "could not be started", hadAttached: false, now: now)
    }

    // MARK: Executors

    mutating func alive(_ process: pid_t, now: Int64) { executors[process]?.aliveAt = now }

    mutating func attached(_ process: pid_t) { executors[process]?.hasAttached = true }

    mutating func replacementAsked(by process: pid_t, now: Int64) -> [SupervisorAction] {
        guard let executor = executors[process], executor.course == .working, course == .working else { return [] }
        executors[process]?.course = .replaced
        executors[process]?.isReplaced = true
        vacancies[executor.index] = now
        let text = "executor \(executor.index) (\(process)) takes no more work and is replaced"
        return [.log(.init(level: .warning, text: text))] + tick(now: now)
    }

    /// An executor's process has ended and was reaped.
    mutating func exited(_ process: pid_t, code: Int32, bySignal: Bool, now: Int64) -> [SupervisorAction] {
        guard let executor = executors.removeValue(forKey: process) else { return [] }
        let text = bySignal ? "signal \(SignalName.describe(code))" : "exit code \(code)"
        let isOrderly = !bySignal && (code == ExecutorExit.drained || code == ExecutorExit.stuck)
        let cause: WireExecutorEnded.Cause
        switch executor.course {
        case .killed(let reason): cause = reason
        case .working, .replaced, .draining: cause = isOrderly ? .stopped : .crashed
        }
        unswept.append(EndedExecutor(incarnation: executor.incarnation, cause: cause, text: text))
        var actions: [SupervisorAction] = []
        if cause != .stopped {
            actions.append(.log(.init(level: .warning, text: "executor \(executor.index) (\(process)) has ended: \(text)")))
        }
        if case .working = course, !executor.isReplaced, vacancies[executor.index] == nil {
            if now - executor.startedAt >= Self.steadyMilliseconds { crashes[executor.index] = nil }
            if isOrderly {
                vacancies[executor.index] = now
            } else {
                actions += failed(executor.index, "has ended", hadAttached: executor.hasAttached, now: now)
            }
        }
        return actions + [.sweep]
    }

    /// No child is left that is no executor.
    mutating func swept(now: Int64) -> [SupervisorAction] {
        let proven = unswept
        unswept = []
        unacknowledged += proven
        return proven.map { .report($0) } + tick(now: now)
    }

    /// - Parameter what: became of the one in this place.
    private mutating func failed(_ index: UInt32, _ what: String, hadAttached: Bool, now: Int64) -> [SupervisorAction] {
        let count = crashes[index, default: 0]
        crashes[index] = count + 1
        let backoff = Self.backoffMilliseconds[min(count, Self.backoffMilliseconds.count - 1)]
        let pause = hadAttached ? min(backoff, Self.attachedBackoffMilliseconds) : backoff
        vacancies[index] = now + pause
        guard pause > 0 else { return [] }
        let text =
            "executor \(index) \(what) \(count + 1) times in a row; the next one starts in \(DurationText.seconds(milliseconds: pause))"
        return [.log(.init(level: .warning, text: text))]
    }

    // MARK: The coordinator

    mutating func attached() -> [SupervisorAction] { unacknowledged.map { .report($0) } }

    mutating func acknowledged(_ incarnations: [UInt64], now: Int64) -> [SupervisorAction] {
        unacknowledged.removeAll { incarnations.contains($0.incarnation) }
        return tick(now: now)
    }

    // MARK: The end

    /// First: executors finish what runs within the grace. Again: at once.
    mutating func terminate(graceMilliseconds: Int64, now: Int64) -> [SupervisorAction] {
        switch course {
        case .working:
            course = .draining(killAt: now + graceMilliseconds + Self.drainMarginMilliseconds)
            vacancies = [:]
            var actions: [SupervisorAction] = []
            for (process, executor) in executors where executor.course == .working || executor.course == .replaced {
                executors[process]?.course = .draining
                actions.append(.drain(process, graceMilliseconds: graceMilliseconds))
            }
            return actions + tick(now: now)
        case .draining:
            course = .draining(killAt: now)
            return tick(now: now)
        case .closing, .over:
            return []
        }
    }

    /// The coordinator will not have this worker: stop at once and exit with `code`.
    mutating func refused(exitCode code: Int32, now: Int64) -> [SupervisorAction] {
        exitCode = code
        _ = terminate(graceMilliseconds: 0, now: now)
        return terminate(graceMilliseconds: 0, now: now)
    }

    // MARK: Time

    /// Every second, and when something is due.
    mutating func tick(now: Int64) -> [SupervisorAction] {
        if let last = lastTick, now - last > Self.pauseMilliseconds {
            // This process was stopped, or the host slept: executors get a fresh period.
            for process in executors.keys where executors[process]?.aliveAt != nil { executors[process]?.aliveAt = now }
        }
        lastTick = now
        var actions: [SupervisorAction] = []
        for (process, executor) in executors { watch(process, executor, now: now, into: &actions) }
        switch course {
        case .working:
            for (index, time) in vacancies.sorted(by: { $0.key < $1.key }) where time <= now {
                vacancies[index] = nil
                actions.append(.spawn(index: index))
            }
        case .draining where executors.isEmpty && unswept.isEmpty:
            course = .closing(exitAt: now + Self.closingMilliseconds)
            return actions + tick(now: now)
        case .closing(let exitAt) where unacknowledged.isEmpty || exitAt <= now:
            course = .over
            actions.append(.exit(exitCode))
        case .draining, .closing, .over:
            break
        }
        return actions
    }

    private mutating func watch(_ process: pid_t, _ executor: Executor, now: Int64, into actions: inout [SupervisorAction]) {
        if case .killed = executor.course { return }
        if case .draining(let killAt) = course, killAt <= now {
            executors[process]?.course = .killed(.stopped)
            actions.append(.kill(process))
            return
        }
        let silentAt = executor.aliveAt.map { $0 + Self.silentMilliseconds } ?? executor.startedAt + Self.startMilliseconds
        if silentAt <= now { actions.append(.look(process)) }
    }

    /// What there is to be seen of an executor that is silent. It is killed, and if it was crashing that is what it has died of.
    mutating func looked(at process: pid_t, isCrashing: Bool) -> [SupervisorAction] {
        guard let executor = executors[process] else { return [] }
        if case .killed = executor.course { return [] }
        executors[process]?.course = .killed(isCrashing ? .crashed : .silent)
        let what = isCrashing ? "crashes, has been at its backtrace for too long" : "has been silent for too long"
        let text = "executor \(executor.index) (\(process)) \(what) and is killed"
        return [.log(.init(level: .warning, text: text)), .kill(process)]
    }

    /// When the next vacancy is to be filled; nil: none waits.
    var nextStart: Int64? { vacancies.values.min() }
}
