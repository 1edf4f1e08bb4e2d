import DequeModule
import Wire

/// What an executor holds and what happens to it: units from dispatch to acknowledged end, slots, stopping, draining.
///
/// A value that is stepped: every method is one input and returns what is to be done. `now` is of the boot clock,
/// `at` of the wall clock, both in milliseconds.
package struct ExecutorState: Sendable {
    /// Whether it takes work.
    package enum Intake: Equatable, Sendable {
        case open
        /// Told to end: what is running may end until `deadline`.
        case draining(deadline: Int64)
        /// Everything was stopped at the end of a drain; waits for the bodies and for acknowledgements until `deadline`.
        case closing(deadline: Int64)
        /// Nothing more can begin here. When what runs has ended this process does.
        case retiring
        /// A body does not end. When the others have ended this process does.
        case stuck
        /// The exit was ordered.
        case exiting
    }

    /// So many places of units that do not wait any more are no trouble.
    private static let placesMin = 256

    /// What a killed body has until it is given up.
    package static let killMilliseconds: Int64 = 2000
    /// What acknowledgements have at the end of a drain.
    package static let closingMilliseconds: Int64 = 3000

    package let slots: Int
    package internal(set) var intake = Intake.open
    /// Whether queued units may be started: not while the lease is over.
    var mayStart = false
    package internal(set) var units: [UnitKey: HeldUnit] = [:]
    /// What begins when these have succeeded.
    var links: [UnitKey: UnitKey] = [:]
    /// Ready to start; those that are not held any more are skipped.
    var queue = StartOrder()
    var running: Set<UnitKey> = []
    /// Questions about ends, which need no slot: operations may have them all that wait for these very ends.
    private var conclusions: Deque<UnitKey> = []
    /// Units of which an attempt runs that is not wanted any more: the next attempt is not begun beside it.
    var outrun: Set<UInt64> = []
    /// As the hello said that waits for its answer.
    private var toldAsRunning: Set<UnitKey>?
    /// What it told in that hello, and has not any more: said when the answer comes, as nothing is heard of it before.
    private var gone: [ExecutorAction] = []
    /// How many queued units may stand in the shell's line; 0: it has none.
    private let lineMax: Int
    /// Queued units that the shell may start by itself when another one ends. What it has started is told by `begun`.
    package internal(set) var lined: Set<UnitKey> = []
    /// So many at the head of `queue` have been looked at for the line.
    var lineCount = 0

    package init(slots: Int, lineMax: Int = 0) {
        self.slots = slots
        self.lineMax = lineMax
    }

    /// Places in the order of starts, also of units that do not wait any more.
    package var placeCount: Int { queue.count }

    package var isAccepting: Bool { intake == .open }

    /// Units whose bodies have not ended.
    package var runningCount: Int { running.count }

    package var queuedCount: Int {
        units.values.count { unit in
            switch unit.phase {
            case .fetching, .linked, .queued: true
            case .running, .finished: false
            }
        }
    }

    /// What a hello says of it.
    package var held: [WireHeldUnit] {
        units.map { key, unit in
            .with {
                $0.unit = key.unit
                $0.attempt = key.attempt
                $0.state = unit.heldState
            }
        }
    }

    // MARK: The session

    /// What a hello says, which `attached` completes: what begins in between was told as queued.
    ///
    /// What follows by a link is not told, and does not begin: its coordinator forgets links with the connection.
    package mutating func tellHeld() -> [WireHeldUnit] {
        for (key, unit) in units {
            switch unit.phase {
            case .linked: units[key] = nil
            case .queued(let assignment) where assignment.hasLink: units[key] = nil
            case .fetching, .queued, .running, .finished: break
            }
        }
        links = [:]
        toldAsRunning = running
        gone = []
        return held
    }

    package mutating func attached(drop: [UnitKey], now: Int64, at: Int64) -> [ExecutorAction] {
        mayStart = true
        var actions: [ExecutorAction] = []
        for key in drop {
            // Told as running, and over since: its end is waited for, whatever came of it.
            if toldAsRunning?.contains(key) == true, case .finished? = units[key]?.phase { actions.append(.report(.lost(key))) }
            abandon(key, by: .stop(key), now: now, into: &actions)
        }
        for (key, unit) in units {
            switch unit.phase {
            case .finished(let end): actions.append(.report(.ended(key, end)))
            case .running(let body):
                if toldAsRunning?.contains(key) == false { actions.append(.report(.started(key, at: body.startedAt))) }
                // Its coordinator may not have heard of a timeout, which it does not order.
                if body.course.cause == .timedOut { tellStopping(key, at: at, into: &actions) }
            case .fetching, .linked, .queued: break
            }
        }
        actions += gone
        (toldAsRunning, gone) = (nil, [])
        return actions + advance(now: now, at: at)
    }

    /// The coordinator has not been heard for too long: nothing new is started.
    package mutating func leaseOver() { mayStart = false }

    /// What runs under a key has to end before the lock lease is over, because its key then goes to others; until it has
    /// ended it is told as held.
    package mutating func lockLeaseEnding(graceMilliseconds: Int64, now: Int64) -> [ExecutorAction] {
        mayStart = false
        var actions: [ExecutorAction] = []
        for (key, unit) in units {
            switch unit.phase {
            case .fetching(let assignment) where assignment.isFenced, .queued(let assignment) where assignment.isFenced:
                actions += giveBack(key, .released(key, accepting: isAccepting))
            case .running(var running) where running.isFenced:
                let killAt = now + min(graceMilliseconds, running.graceMilliseconds)
                running.mustEndWithLease = true
                switch running.course {
                case .working:
                    running.course = .stopping(.lockLeaseEnding, killAt: killAt)
                    actions.append(.stop(key))
                case .stopping(let cause, let first):
                    running.course = .stopping(cause, killAt: min(first, killAt))
                case .killed(let cause, let lostAt, _):
                    running.course = .killed(cause, lostAt: lostAt, isHurried: true)
                    actions.append(.kill(key))
                case .stuck:
                    return actions + exit(.stuck)
                }
                units[key]?.phase = .running(running)
            case .fetching, .linked, .queued, .running, .finished: break
            }
        }
        return actions
    }

    /// By now everything must have stopped. What ended before keeps being offered.
    package mutating func orphanLimitOver(now: Int64) -> [ExecutorAction] {
        mayStart = false
        var actions: [ExecutorAction] = []
        for key in Array(units.keys) { abandon(key, by: .kill(key), now: now, into: &actions) }
        return actions
    }

    package mutating func dispatched(_ assignments: [WireAssignment], now: Int64, at: Int64) -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        for assignment in assignments {
            let key = UnitKey(assignment)
            if let held = units[key] {
                if case .finished(let end) = held.phase { actions.append(.report(.ended(key, end))) }
                continue
            }
            guard isAccepting else {
                actions.append(.report(.released(key, accepting: isAccepting)))
                continue
            }
            if assignment.hasLink {
                link(key, assignment, into: &actions)
            } else if assignment.hasLargeInputs {
                units[key] = HeldUnit(phase: .fetching(assignment))
                actions.append(.fetchInputs(key, assignment))
            } else {
                enqueue(key, assignment)
            }
        }
        return actions + advance(now: now, at: at)
    }

    package mutating func inputsReady(_ key: UnitKey, now: Int64, at: Int64) -> [ExecutorAction] {
        guard case .fetching(let assignment)? = units[key]?.phase else { return [] }
        enqueue(key, assignment)
        return advance(now: now, at: at)
    }

    /// An input cannot be had: the unit fails without having started.
    package mutating func inputsMissing(_ key: UnitKey, _ failure: WireOperationFailure, now: Int64, at: Int64) -> [ExecutorAction] {
        guard case .fetching? = units[key]?.phase else { return [] }
        return [finish(key, .attempt(startedAt: 0, endedAt: at, .failure([failure])))] + advance(now: now, at: at)
    }

    package mutating func stopOrdered(_ orders: [WireStopUnit], now: Int64, at: Int64) -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        for order in orders { stop(UnitKey(order), order, now: now, at: at, into: &actions) }
        return actions + advance(now: now, at: at)
    }

    package mutating func acknowledged(_ keys: [UnitKey], now: Int64, at: Int64) -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        for key in keys {
            guard case .finished? = units[key]?.phase else { continue }
            units[key] = nil
            actions.append(.forget(key))
        }
        return actions + advance(now: now, at: at)
    }

    // MARK: Bodies

    /// The body of a unit has ended: its slot is free, or has been taken by one that has `begun`.
    ///
    /// - Parameter endedAt: when that was; nil: just now.
    package mutating func ended(_ key: UnitKey, _ ending: UnitEnding, endedAt: Int64? = nil, now: Int64, at: Int64) -> [ExecutorAction] {
        guard case .running(let running)? = units[key]?.phase else { return [] }
        let endedAt = max(running.startedAt, endedAt ?? at)
        self.running.remove(key)
        var actions: [ExecutorAction] = []
        switch running.course {
        case .working:
            actions += finish(key, running, ending, endedAt: endedAt, now: now, at: at)
        case .stopping(let cause, _), .killed(let cause, _, _), .stuck(let cause):
            switch cause {
            case .cancelled:
                // It may have succeeded all the same, and that is what its end is told as: what follows on that does.
                actions += finish(key, running, ending, endedAt: endedAt, now: now, at: at)
            case .timedOut:
                let failure = WireOperationFailure.timedOut(afterMilliseconds: running.timeoutMilliseconds)
                actions.append(finish(key, .attempt(startedAt: running.startedAt, endedAt: endedAt, .failure([failure]))))
            case .unwanted:
                actions += endUnwanted(key)
                letNextAttempt(of: key.unit)
            case .lockLeaseEnding where running.isAtMostOnce:
                actions.append(finish(key, .attempt(startedAt: running.startedAt, endedAt: endedAt, ending.orStoppedForGood)))
            case .lockLeaseEnding:
                actions += giveBack(key, .lost(key))
            }
        }
        return actions + advance(now: now, at: at)
    }

    /// The unit's body cannot be ended by force. After its grace it gets a little longer, in case it is about to end; when
    /// it was ordered to end at once this process does.
    package mutating func cannotKill(_ key: UnitKey, now: Int64, at: Int64) -> [ExecutorAction] {
        guard case .running(let running)? = units[key]?.phase, case .killed(_, _, true) = running.course else { return [] }
        return endsWithTheProcess(at: at) + exit(.stuck)
    }

    // MARK: Time

    /// When `tick` is wanted; nil: not before something happens.
    package var deadline: Int64? {
        var deadline: Int64?
        func consider(_ time: Int64?) { if let time { deadline = min(deadline ?? time, time) } }
        switch intake {
        case .draining(let at), .closing(let at): consider(at)
        case .open, .retiring, .stuck, .exiting: break
        }
        for key in running {
            guard case .running(let running)? = units[key]?.phase else { continue }
            switch running.course {
            case .working(let timeoutAt): consider(timeoutAt)
            case .stopping(_, let killAt): consider(killAt)
            case .killed(_, let lostAt, _): consider(lostAt)
            case .stuck: break
            }
        }
        return deadline
    }

    package mutating func tick(now: Int64, at: Int64) -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        for key in running {
            guard case .running(var running)? = units[key]?.phase else { continue }
            switch running.course {
            case .working(let timeoutAt?) where timeoutAt <= now:
                running.course = .stopping(.timedOut, killAt: now + running.graceMilliseconds)
                actions += [.stop(key), .report(.stopping(key, at: at, forced: false))]
            case .stopping(let cause, let killAt) where killAt <= now:
                running.course = .killed(cause, lostAt: now + Self.killMilliseconds, isHurried: running.mustEndWithLease)
                actions.append(.kill(key))
            case .killed(let cause, let lostAt, _) where lostAt <= now:
                running.course = .stuck(cause)
                units[key]?.phase = .running(running)
                actions += giveUp(now: now, at: at)
                continue
            case .working, .stopping, .killed, .stuck:
                continue
            }
            units[key]?.phase = .running(running)
        }
        switch intake {
        case .draining(let deadline) where deadline <= now:
            intake = .closing(deadline: now + Self.killMilliseconds + Self.closingMilliseconds)
            for key in Array(units.keys) { abandon(key, by: .kill(key), now: now, into: &actions) }
        case .closing(let deadline) where deadline <= now:
            actions += exit(.drained)
        case .open, .draining, .closing, .retiring, .stuck, .exiting:
            break
        }
        return actions + advance(now: now, at: at)
    }

    // MARK: The end of the process

    /// Finish what runs within `graceMilliseconds`, give the rest back, and end. A second time with less grace hurries.
    package mutating func drain(graceMilliseconds: Int64, now: Int64, at: Int64) -> [ExecutorAction] {
        switch intake {
        case .open, .retiring: break
        case .draining(let deadline):
            intake = .draining(deadline: min(deadline, now + graceMilliseconds))
            return tick(now: now, at: at)
        case .closing, .stuck, .exiting: return []
        }
        intake = .draining(deadline: now + graceMilliseconds)
        return releaseQueued() + tick(now: now, at: at)
    }
}

// MARK: Steps that inputs share

extension ExecutorState {
    mutating func enqueue(_ key: UnitKey, _ assignment: WireAssignment) {
        units[key] = HeldUnit(phase: .queued(assignment))
        if assignment.kind == .conclude { return conclusions.append(key) }
        // What was given back keeps its place, which may be far behind what takes long.
        if queue.count > 2 * units.count + Self.placesMin {
            lineCount = queue.compact(head: lineCount) { if case .queued? = units[$0]?.phase { true } else { false } }
        }
        if !outrun.contains(key.unit) { queue.add(assignment, behind: lineCount) }
    }

    /// The attempt that was not wanted has ended: the one that came meanwhile takes its turn.
    private mutating func letNextAttempt(of unit: UInt64) {
        outrun.remove(unit)
        for (key, held) in units where key.unit == unit {
            if case .queued(let assignment) = held.phase { queue.add(assignment, behind: lineCount) }
        }
    }

    /// Starts what may be started, and ends the process when there is nothing more to wait for.
    mutating func advance(now: Int64, at: Int64) -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        while mayStart, isAccepting, let key = conclusions.popFirst() {
            guard case .queued(let assignment)? = units[key]?.phase else { continue }
            actions.append(begin(key, assignment, now: now, at: at))
            actions.append(.start(key, assignment))
        }
        while mayStart, isAccepting, runningCount < slots, let (key, assignment) = nextQueued() {
            lined.remove(key)
            actions.append(begin(key, assignment, now: now, at: at))
            actions.append(.start(key, assignment))
        }
        while mayStart, isAccepting, lined.count < lineMax, let (key, assignment) = nextForLine() {
            lined.insert(key)
            actions.append(.lineUp(key, assignment))
        }
        switch intake {
        case .draining, .closing, .retiring: if units.isEmpty { actions += exit(.drained) }
        case .stuck: if isOnlyStuck { actions += endsWithTheProcess(at: at) + exit(.stuck) }
        case .open, .exiting: break
        }
        return actions
    }

    /// - Returns: what is to be told of it.
    mutating func begin(_ key: UnitKey, _ assignment: WireAssignment, now: Int64, at: Int64) -> ExecutorAction {
        let timeout = Int64(assignment.timeoutMilliseconds)
        let body = HeldUnit.Running(
            startedAt: at, timeoutMilliseconds: timeout, graceMilliseconds: Int64(assignment.graceMilliseconds),
            isFenced: assignment.isFenced, isAtMostOnce: assignment.atMostOnce,
            course: .working(timeoutAt: timeout > 0 ? now + timeout : nil))
        units[key] = HeldUnit(phase: .running(body))
        running.insert(key)
        return .report(.started(key, at: at))
    }

    private mutating func nextQueued() -> (UnitKey, WireAssignment)? {
        skipBegun()
        guard let key = queue.first, case .queued(let assignment)? = units[key]?.phase else { return nil }
        removeHead()
        return (key, assignment)
    }

    /// Leaves those behind that do not wait any more.
    mutating func skipBegun() {
        while let key = queue.first {
            if case .queued? = units[key]?.phase { return }
            removeHead()
        }
    }

    private mutating func removeHead() {
        queue.removeFirst()
        lineCount = max(0, lineCount - 1)
    }

    /// The unit ends as its body did: what is linked to it begins, if that was a success.
    private mutating func finish(
        _ key: UnitKey, _ running: HeldUnit.Running, _ ending: UnitEnding, endedAt: Int64, now: Int64, at: Int64
    ) -> [ExecutorAction] {
        let linked = takeLink(after: key, ending)
        let end = finish(key, .attempt(startedAt: running.startedAt, endedAt: endedAt, ending))
        guard let (next, assignment) = linked else { return [end] }
        return [end, begin(next, assignment, now: now, at: at), .start(next, assignment)]
    }

    private mutating func finish(_ key: UnitKey, _ end: WireAttemptEnd) -> ExecutorAction {
        forgetLinks(after: key)
        units[key] = HeldUnit(phase: .finished(end))
        return .report(.ended(key, end))
    }

    private mutating func stop(
        _ key: UnitKey, _ order: WireStopUnit, now: Int64, at: Int64, into actions: inout [ExecutorAction]
    ) {
        let cause: StopCause
        switch order.reason {
        case .recalled:
            switch units[key]?.phase {
            case .fetching?, .linked?, .queued?:
                actions += giveBack(key, .released(key, accepting: isAccepting))
            case .running?, .finished?, nil:
                break
            }
            return
        case .superseded:
            return abandon(key, by: order.now ? .kill(key) : .stop(key), now: now, into: &actions)
        case .timeout: cause = .timedOut
        case .cancelled, .UNRECOGNIZED: cause = .cancelled
        }
        switch units[key]?.phase {
        case nil:
            // Never had it, or forgot it: the coordinator is not to wait for it.
            actions.append(.report(.ended(key, .attempt(startedAt: 0, endedAt: at, .cancelled))))
        case .fetching?, .linked?, .queued?:
            let end = WireAttemptEnd.attempt(startedAt: 0, endedAt: at, .cancelled)
            actions.append(finish(key, end))
        case .running(let running)?:
            stopRunning(key, running, cause: cause, force: order.now, now: now, into: &actions)
            tellStopping(key, at: at, into: &actions)
        case .finished(let end)?:
            actions.append(.report(.ended(key, end)))
        }
    }

    private mutating func stopRunning(
        _ key: UnitKey, _ running: HeldUnit.Running, cause: StopCause, force: Bool, now: Int64,
        into actions: inout [ExecutorAction]
    ) {
        var running = running
        if cause == .unwanted { outrun.insert(key.unit) }
        switch (running.course, force) {
        case (.working, false):
            running.course = .stopping(cause, killAt: now + running.graceMilliseconds)
            actions.append(.stop(key))
        case (.working, true):
            running.course = .killed(cause, lostAt: now + Self.killMilliseconds, isHurried: true)
            actions += [.stop(key), .kill(key)]
        case (.stopping(let first, let killAt), false):
            // What is not wanted any more stays so; else the first cause decided the outcome.
            running.course = .stopping(cause == .unwanted ? cause : first, killAt: killAt)
        case (.stopping(let first, _), true):
            running.course = .killed(
                cause == .unwanted ? cause : first, lostAt: now + Self.killMilliseconds, isHurried: true)
            actions.append(.kill(key))
        case (.killed(let first, let lostAt, let isHurried), _):
            running.course = .killed(cause == .unwanted ? cause : first, lostAt: lostAt, isHurried: isHurried || force)
            if force && !isHurried { actions.append(.kill(key)) }
        case (.stuck, true) where cause == .cancelled:
            // Who asks for that knows that the process may end with it. A watch over its timeout harms no neighbours.
            running.course = .killed(cause, lostAt: now + Self.killMilliseconds, isHurried: true)
            actions.append(.kill(key))
        case (.stuck(let first), _):
            running.course = .stuck(cause == .unwanted ? cause : first)
        }
        units[key]?.phase = .running(running)
    }

    /// Stops a unit of which nothing is to be reported. What has ended is kept: its end may still be wanted.
    private mutating func abandon(
        _ key: UnitKey, by action: ExecutorAction, now: Int64, into actions: inout [ExecutorAction]
    ) {
        switch units[key]?.phase {
        case nil: break
        case .fetching?, .linked?, .queued?:
            forgetLinks(after: key)
            units[key] = nil
            actions.append(.forget(key))
        case .finished?:
            guard case .stop = action else { break }
            units[key] = nil
            actions.append(.forget(key))
        case .running(let running)?:
            stopRunning(key, running, cause: .unwanted, force: action == .kill(key), now: now, into: &actions)
        }
    }

    mutating func releaseQueued() -> [ExecutorAction] {
        var actions: [ExecutorAction] = []
        for (key, unit) in units {
            switch unit.phase {
            case .fetching, .queued:
                actions += giveBack(key, .released(key, accepting: isAccepting))
            // Not one that it was told to begin: it is given back with the one before.
            case .linked:
                actions += giveBack(key, .lost(key))
            case .running, .finished: break
            }
        }
        return actions
    }

    /// A body does not end: only the end of this process ends it.
    private mutating func giveUp(now: Int64, at: Int64) -> [ExecutorAction] {
        switch intake {
        case .open, .draining, .retiring: break
        case .closing, .stuck, .exiting: return advance(now: now, at: at)
        }
        intake = .stuck
        return [.askForReplacement] + releaseQueued() + advance(now: now, at: at)
    }

    /// Of an attempt that nobody wants nothing is taken but that it has ended. The end of this process says that of all.
    private mutating func endUnwanted(_ key: UnitKey) -> [ExecutorAction] {
        switch intake {
        case .open, .draining, .retiring, .stuck: return giveBack(key, .lost(key))
        case .closing, .exiting:
            units[key] = nil
            return [.forget(key)]
        }
    }

    /// It is not held any more, and has no end.
    mutating func giveBack(_ key: UnitKey, _ report: WireUnitReport) -> [ExecutorAction] {
        forgetLinks(after: key)
        units[key] = nil
        if toldAsRunning != nil { gone.append(.report(report)) }
        return [.report(report), .forget(key)]
    }

    private var isOnlyStuck: Bool {
        units.values.allSatisfy { unit in
            guard case .running(let running) = unit.phase, case .stuck = running.course else { return false }
            return true
        }
    }

    /// Units that have ended here, which the coordinator has not acknowledged.
    package var untoldEnds: Int {
        units.values.count { unit in
            if case .finished = unit.phase { true } else { false }
        }
    }

    private mutating func exit(_ reason: ExitReason) -> [ExecutorAction] {
        guard intake != .exiting else { return [] }
        intake = .exiting
        return [.exit(reason)]
    }
}

extension WireAssignment {
    /// It has to end before the lock lease is over.
    var isFenced: Bool { atMostOnce || !fences.isEmpty }
}
