import Executing
import Scheduling
import Wire

/// Sees what really happens in every process, and judges it by what is on the disk.
///
/// It knows nothing of how the coordinator decides: only its journal, folded, and the bodies that run.
final class Witness {
    struct Run {
        let body: SimulatedExecutor.Body
        let executor: SimulatedExecutor
        let holders: [String: String]
    }

    unowned let world: Simulation
    /// What is on the disk, folded.
    private(set) var disk: Scheduler
    private(set) var journal: [Fact] = []
    /// Bodies that run, by attempt.
    private(set) var running: [UInt64: Run] = [:]
    /// The highest token under which something has begun, by key, and by who holds that.
    private var lastTokens: [String: [String: UInt64]] = [:]
    /// Incarnations, by the coordinator's numbers and by attempts.
    private var workers: [WorkerNumber: UInt64] = [:]
    private var executors: [UInt64: UInt64] = [:]
    /// Attempts of which the coordinator has decided that they are lost.
    private(set) var givenUp: Set<UInt64> = []
    /// Of which that is on the disk.
    private var givenUpOnDisk: Set<UInt64> = []
    /// Attempts that ran while their process stood still. What it does for a moment when it goes on is let pass.
    private var frozen: Set<UInt64> = []
    /// From whom an operator has taken a lock at once: what it, or what is in it, still does under any lock is on the operator.
    private var seized: Set<String> = []
    /// What bodies have said, by attempt.
    private var endings: [UInt64: UnitEnding] = [:]
    private var assigned: Set<UInt64> = []
    /// Attempts that an executor may begin by itself, and those of them that count.
    private var linked: Set<UInt64> = []
    private var adopted: Set<UInt64> = []
    /// By attempts that began by a link: after which attempt, and of what. And under which attempts operations have succeeded, on the disk.
    private var follows: [UInt64: (unit: UInt64, attempt: UInt64)] = [:]
    private var successes: [UInt64: UInt64] = [:]
    /// What executors may begin by themselves in what is paused.
    var pauses = PauseWitness()
    /// By the coordinator's numbers, under which names workers were started; and which names are drained.
    private var names: [WorkerNumber: String] = [:]
    private var drained: Set<String> = []
    private(set) var graphs: [String: Graph] = [:]
    /// In which session the hosted code of a submission is.
    private var submitters: [String: UInt64] = [:]
    /// Sessions of submitters that the coordinator takes for over.
    private var sessionsOver: Set<UInt64> = []

    init(of world: Simulation, _ configuration: Scheduler.Configuration) {
        self.world = world
        disk = Scheduler(configuration)
    }

    /// What was answered of the conditions of operations and groups, as far as that counts; by submission and path.
    var answers: [String: [Int: ConditionAnswer.Finding]] = [:]
    /// When attempts were given out.
    private(set) var given: [UInt64: (boot: Int64, wall: Int64)] = [:]
    /// What has started under limits of rates, by key.
    var starts: [String: [Start]] = [:]

    /// What attempts have produced under ids, in their order.
    var produced: [UInt64: [String]] = [:]

    /// Ids of submissions, by number; and of those that are forgotten.
    private var ids: [SubmissionNumber: String] = [:]
    private var forgotten: Set<String> = []

    struct Start {
        let at: Int64
        /// Of what was given out at one time the first one has the lowest.
        let attempt: UInt64
        let name: String
        let limit: RateLimit
    }

    // MARK: The disk

    func written(_ facts: [Fact]) {
        for fact in facts {
            journal.append(fact)
            world.coverage.facts[fact.name, default: 0] += 1
            if case .submitted(let admission) = fact {
                (graphs[admission.id], submitters[admission.id]) = (admission.graph, admission.submitter.rawValue)
            }
            if case .submitted(let admission) = fact { ids[admission.number] = admission.id }
            if case .forgotten(let number, let at) = fact { forgets(number, at) }
            if case .attemptLost(_, let attempt, _, _, _) = fact { givenUpOnDisk.insert(attempt.rawValue) }
            switch fact {
            case .assigned(_, let attempt, _, _), .linked(_, let attempt, _, _): assigned.insert(attempt.rawValue)
            default: break
            }
            do { try disk.restore(fact) } catch { world.violate("the journal cannot be folded at \(fact): \(error)") }
            if case .attemptEnded(let unit, let attempt, let outcome, _, _, _) = fact {
                if case .success = outcome { wroteSuccess(of: unit, attempt) }
                wroteEnd(of: unit, attempt, outcome)
            }
            switch fact {
            case .linked(let unit, let attempt, _, _): pauses.linked(disk.name(of: unit), attempt.rawValue)
            case .paused(let unit, _): pauses.paused(disk.name(of: unit))
            case .resumed(let unit, _): pauses.resumed(disk.name(of: unit))
            default: break
            }
        }
    }

    /// What began on the value of another attempt counts if that attempt does.
    private func wroteSuccess(of unit: UnitID, _ attempt: Attempt) {
        if let before = follows[attempt.rawValue], successes[before.unit] != before.attempt {
            world.violate(
                "attempt \(attempt.rawValue) counts, which began on attempt \(before.attempt), and that does not: "
                    + "\(successes[before.unit].map { "attempt \($0)" } ?? "none") does")
        }
        successes[unit.rawValue] = attempt.rawValue
    }

    /// What a coordinator had decided that is not on the disk was never so.
    func coordinatorStarts() {
        givenUp = givenUpOnDisk
        (drained, sessionsOver, adopted) = ([], [], [])
        for fact in journal {
            noteDrain(fact)
            if case .workerEnded(let number) = fact, let session = workers[number] { sessionsOver.insert(session) }
            if case .assigned(_, let attempt, _, _) = fact, linked.contains(attempt.rawValue) { adopted.insert(attempt.rawValue) }
        }
    }

    private func noteDrain(_ fact: Fact) {
        switch fact {
        case .workerDrained(let name, _, _, _): drained.insert(name)
        case .workerResumed(let name, _, _), .workerRemoved(let name, _, _): drained.remove(name)
        default: break
        }
    }

    // MARK: Decisions

    /// What is decided about attempts has to be so in their processes.
    func decided(_ facts: [Fact]) {
        for fact in facts {
            switch fact {
            case .workerMet(let number, let identity):
                workers[number] = identity.incarnation.rawValue
                names[number] = identity.givenName
            case .linked(_, let attempt, let worker, _):
                executors[attempt.rawValue] = workers[worker]
                linked.insert(attempt.rawValue)
            case .strayEnded(_, let attempt, _, _) where linked.contains(attempt.rawValue): linkEnded(attempt)
            case .assigned(_, let attempt, _, _) where linked.contains(attempt.rawValue): adopted.insert(attempt.rawValue)
            case .assigned(let unit, let attempt, let worker, let at):
                executors[attempt.rawValue] = workers[worker]
                given[attempt.rawValue] = (world.now, at)
                if let name = names[worker], drained.contains(name) {
                    world.violate("\(world.name(of: unit)) is given to \(name), which is drained")
                }
            case .workerDrained, .workerResumed, .workerRemoved: noteDrain(fact)
            case .attemptLost(_, let attempt, let cause, _, _): lost(attempt, cause)
            case .attemptEnded(let unit, let attempt, let outcome, _, _, _): check(outcome, of: attempt, unit)
            case .workerEnded(let number): ended(number)
            case .submitterMissed(let unit, _): missed(unit)
            case .lockSeized(let unit, _, _, _): seized.insert(world.name(of: unit))
            default: break
            }
        }
    }

    func isForgotten(_ id: String) -> Bool { forgotten.contains(id) }

    /// Whether it has ended, as the disk says, or had so long ago.
    func hasEnded(submission id: String) -> Bool { disk.hasOutcome(submission: id) ?? isForgotten(id) }

    /// What has ended is known for the time that was promised.
    private func forgets(_ number: SubmissionNumber, _ at: Int64) {
        guard let id = ids[number], let end = disk.endOfSubmission(id) else {
            return world.violate("submission \(number.rawValue) is forgotten, and its end is not on the disk")
        }
        forgotten.insert(id)
        let retention = world.work.retention
        let least = retention.bytes > 0 ? min(retention.milliseconds, 60_000) : retention.milliseconds
        if at - end < least { world.violate("\(id) is forgotten \(at - end) ms after its end, and \(least) are promised") }
    }

    private func lost(_ attempt: Attempt, _ cause: LossCause) {
        givenUp.insert(attempt.rawValue)
        let executor = executors[attempt.rawValue].flatMap { world.executor($0) }
        let run = running[attempt.rawValue]
        if let executor, !executor.isWorker { return lost(attempt, cause, by: executor) }
        func complain(_ text: String) { world.violate("attempt \(attempt.rawValue) is given up as \(cause), and \(text)") }
        switch cause {
        case .leaseOver: checkSilence(of: executor, for: Simulation.lease, complain)
        case .lockLeaseOver where run == nil: break  // it has said so itself
        case .lockLeaseOver: checkSilence(of: executor, for: Simulation.lockLease, complain)
        case .orphanLimitOver where run == nil: break
        case .orphanLimitOver: checkSilence(of: executor, for: Simulation.orphanLimit, complain)
        case .crashed, .suspected, .processEnded: if executor != nil { complain("its process lives") }
        case .neverArrived, .released: if run != nil { complain("it runs") }
        case .revoked, .limited: complain("no key is revoked or changed here")
        }
    }

    /// What an executor may begin by itself is over for the coordinator.
    private func linkEnded(_ attempt: Attempt) {
        guard let run = running[attempt.rawValue], !frozen.contains(attempt.rawValue) else { return }
        world.violate("attempt \(attempt.rawValue) is said to be over, and runs in \(run.executor.name)")
    }

    /// Only a submitter has what it hosts: it keeps that until its session is over.
    private func lost(_ attempt: Attempt, _ cause: LossCause, by submitter: SimulatedExecutor) {
        func complain(_ text: String) { world.violate("hosted attempt \(attempt.rawValue) is given up as \(cause), and \(text)") }
        switch cause {
        case .processEnded: if !sessionsOver.contains(submitter.incarnation) { complain("its session is not over") }
        case .neverArrived, .released: if running[attempt.rawValue] != nil { complain("it runs") }
        case .lockLeaseOver where running[attempt.rawValue] == nil: break  // it has said so itself
        case .leaseOver, .lockLeaseOver, .orphanLimitOver, .crashed, .suspected, .revoked, .limited: complain("it can go nowhere else")
        }
    }

    /// The session of a submitter is over when nobody can come back to it.
    private func ended(_ number: WorkerNumber) {
        guard let session = workers[number] else { return }
        sessionsOver.insert(session)
        guard let submitter = world.executor(session), !submitter.isWorker else { return }
        checkSilence(of: submitter, for: Simulation.lockLease) { world.violate("the session of \(submitter.name) is over, and \($0)") }
    }

    /// What is hosted fails only when the session is over in which it is.
    private func missed(_ unit: UnitID) {
        let name = world.name(of: unit)
        guard let id = name.split(separator: "/").first, let session = submitters[String(id)], !sessionsOver.contains(session) else {
            return
        }
        world.violate("\(name) misses its submitter, whose session is not over")
    }

    private func checkSilence(of executor: SimulatedExecutor?, for milliseconds: Int64, _ complain: (String) -> Void) {
        guard let executor, world.now - executor.lastHeard < milliseconds else { return }
        complain("its process was heard \(world.now - executor.lastHeard) ms ago")
    }

    /// What counts is what the body of that very attempt has said.
    private func check(_ outcome: AttemptOutcome, of attempt: Attempt, _ unit: UnitID) {
        if running[attempt.rawValue] != nil { world.violate("attempt \(attempt.rawValue) has ended as \(outcome), and runs") }
        let said = endings[attempt.rawValue]
        switch (outcome, said) {
        case (.success(let payload), .success(let value)?), (.success(let payload), .production(let value, _)?),
            (.production(let payload, _), .production(let value, _)?):
            guard payload.isWhat(value) else {
                return world.violate("attempt \(attempt.rawValue) has ended with another value than its own")
            }
        case (.elements(let elements), .elements(let spoken)?):
            guard elements == spoken.elements.map({ [UInt8]($0) }) else {
                return world.violate(
                    "attempt \(attempt.rawValue) has decided \(spoken.elements.count) elements, and \(elements.count) count")
            }
        case (.answers(let answers), .answers(let spoken)?):
            guard answers.map(\.condition) == spoken.map({ Int($0.condition) }) else {
                return world.violate("attempt \(attempt.rawValue) has answered \(spoken), and \(answers) counts")
            }
            answered(unit, answers)
        case (.success, _), (.production, _), (.elements, _), (.answers, _):
            world.violate("attempt \(attempt.rawValue) has ended as \(outcome), and never did")
        case (.failure, _), (.stopped, _), (.decided, _), (.concluded, _): break
        }
    }

    // MARK: Bodies

    func began(_ body: SimulatedExecutor.Body, in executor: SimulatedExecutor) {
        let assignment = body.assignment
        let attempt = Attempt(rawValue: assignment.attempt)
        let name = "\(assignment.submission)/\(assignment.path)"
        world.note("\(executor.name) begins \(name) #\(assignment.attemptNumber) (\(attempt.rawValue))")
        if !assigned.contains(attempt.rawValue) {
            world.violate("\(name) begins, and it is not on the disk that it was given out (\(attempt.rawValue))")
        }
        if givenUp.contains(attempt.rawValue), !executor.wasFrozen {
            world.violate("\(name) begins in \(executor.name), and was given up before (\(attempt.rawValue))")
        }
        if !pauses.mayBegin(attempt.rawValue), !executor.wasFrozen {
            world.violate("\(name) begins by a link, and the client was told that it is paused (\(attempt.rawValue))")
        }
        if !executor.isWorker, submitters[assignment.submission] != executor.incarnation {
            world.violate("\(name) begins in \(executor.name), which has not submitted it")
        }
        if assignment.hosted, executor.isWorker { world.violate("\(name) begins in \(executor.name), and is hosted by its submitter") }
        checkAlone(body, in: executor)
        checkLocks(body, in: executor)
        checkResources(body, in: executor)
        if assignment.kind == .execute { checkOrder(assignment, name) }
        if assignment.hasLink { checkLink(assignment, name, in: executor) }
        running[attempt.rawValue] = Run(body: body, executor: executor, holders: holders(of: assignment))
        if executor.wasFrozen { frozen.insert(attempt.rawValue) }
    }

    func standsStill(_ executor: SimulatedExecutor) {
        for (attempt, run) in running where run.executor === executor { frozen.insert(attempt) }
    }

    func ended(_ body: SimulatedExecutor.Body, in executor: SimulatedExecutor) {
        running[body.assignment.attempt] = nil
        endings[body.assignment.attempt] = body.ending
        world.note("\(executor.name) ends \(body.assignment.submission)/\(body.assignment.path) (\(body.assignment.attempt))")
    }

    /// No other body of the operation runs but of an attempt that was given up.
    private func checkAlone(_ body: SimulatedExecutor.Body, in executor: SimulatedExecutor) {
        for run in running.values where isSame(run.body.assignment, body.assignment) {
            let attempt = run.body.assignment.attempt
            // What holds a lock, or must not run twice, has to have ended by then, where its process did not stand still.
            // It may run again, and what begins before its coordinator knows may be in vain.
            if run.body.assignment.hasLink, !adopted.contains(attempt) { continue }
            if givenUp.contains(attempt), !run.body.assignment.isFenced || frozen.contains(attempt) { continue }
            // Nobody can tell it so while its host stands still.
            if isSeized(run.body), frozen.contains(attempt) { continue }
            // A frozen process may begin late what it was given before.
            if executor.wasFrozen, givenUp.contains(body.assignment.attempt) { continue }
            world.violate(
                "\(body.assignment.submission)/\(body.assignment.path) begins in \(executor.name), and runs in \(run.executor.name) under"
                    + " attempt \(attempt)")
        }
    }

    private func isSame(_ one: WireAssignment, _ other: WireAssignment) -> Bool {
        // One path is of one operation, also of what was added, unless a group has begun anew.
        one.unit == other.unit || (one.submission == other.submission && one.path == other.path)
    }

    private func checkLocks(_ body: SimulatedExecutor.Body, in executor: SimulatedExecutor) {
        guard !isSeized(body) else { return }
        let own = holders(of: body.assignment)
        let name = "\(body.assignment.submission)/\(body.assignment.path)"
        for fence in body.assignment.fences {
            // A frozen process may begin late what it was given before.
            let holder = own[fence.key] ?? ""
            let last = lastTokens[fence.key, default: [:]].filter { $0.key != holder }.values.max()
            if let last, fence.token <= last, isExclusive(fence.key), !executor.wasFrozen {
                world.violate("\(name) begins under token \(fence.token) of `\(fence.key)`, after one under \(last) has")
            }
            lastTokens[fence.key, default: [:]][holder] = max(lastTokens[fence.key]?[holder] ?? 0, fence.token)
            let rightful = running.values.filter { !frozen.contains($0.body.assignment.attempt) && !isSeized($0.body) }
            let others = Set(rightful.compactMap { $0.holders[fence.key] }).subtracting([holder])
            if others.count >= RandomWork.limit(of: fence.key) {
                world.violate("\(name) begins under `\(fence.key)` while \(others.sorted().joined(separator: ", ")) runs under it")
            }
        }
    }

    /// Whether a lock was taken from it, or from a group around it: it counts as ended from then on.
    private func isSeized(_ body: SimulatedExecutor.Body) -> Bool {
        let name = "\(body.assignment.submission)/\(body.assignment.path)"
        return seized.contains { name == $0 || name.hasPrefix($0 + "/") }
    }

    /// Whether it is a submitter whose session is over, and that has not heard of it: nobody can end what it goes on with.
    private func isCutOff(_ executor: SimulatedExecutor) -> Bool { !executor.isWorker && sessionsOver.contains(executor.incarnation) }

    private func isExclusive(_ key: String) -> Bool { RandomWork.limit(of: key) == 1 }

    /// Which operation or group around an attempt has its locks.
    private func holders(of assignment: WireAssignment) -> [String: String] {
        guard let graph = graphs[assignment.submission] else { return [:] }
        var holders: [String: String] = [:]
        for fence in assignment.fences {
            let named = graph.nodes.indices.filter { index in
                let path = graph.path(of: index)
                guard graph.nodes[index].options.exclusive.contains(where: { $0.key == fence.key }) else { return false }
                return path.isEmpty || assignment.path == path || assignment.path.hasPrefix(path + "/")
            }
            holders[fence.key] = "\(assignment.submission)/\(named.first.map { graph.path(of: $0) } ?? assignment.path)"
        }
        return holders
    }

    /// Whom it waits for has ended, on the disk.
    private func checkOrder(_ assignment: WireAssignment, _ name: String) {
        guard let graph = graphs[assignment.submission], !isForgotten(assignment.submission),
            let node = graph.nodes.indices.first(where: { graph.path(of: $0) == assignment.path && graph.isStatic($0) })
        else { return }
        checkConditions(assignment, name, of: node, in: graph)
        noteStart(assignment, of: graph.nodes[node])
        var next = node
        while true {
            var before = graph.nodes[next].receives + graph.nodes[next].after
            let parent = graph.nodes[next].parent
            let isPreparation = graph.nodes[next].options.prepares != nil
            if next != 0, !isPreparation, case .group(let group) = graph.nodes[parent].kind, group.isOrdered {
                before += graph.nodes.indices.filter { $0 != 0 && $0 < next && graph.nodes[$0].parent == parent }
            }
            // It begins on the success of that one's attempt, which `checkLink` looks at, and so behind all before that.
            if next == node, assignment.hasLink {
                before = (graph.nodes[next].receives + graph.nodes[next].after).filter { !isLinked(assignment, to: graph.path(of: $0)) }
            }
            for other in before.map({ graph.path(of: $0) }) where disk.hasOutcome(other, of: assignment.submission) != true {
                if disk.isProvisional(other, of: assignment.submission) { continue }
                // What it began on has been stopped meanwhile, and so has it, which it has yet to hear.
                if [other, assignment.path].allSatisfy({ disk.isStopping($0, of: assignment.submission) }) { continue }
                world.violate("\(name) begins before \(other) has ended")
            }
            if next == 0 { return }
            next = parent
        }
    }

    private func isLinked(_ assignment: WireAssignment, to path: String) -> Bool {
        // As the disk has it: there may be no coordinator just now.
        disk.name(of: UnitID(rawValue: assignment.link.unit)) == "\(assignment.submission)/\(path)"
    }

    /// What begins by a link follows a success on the same executor, and receives that very value.
    private func checkLink(_ assignment: WireAssignment, _ name: String, in executor: SimulatedExecutor) {
        guard case .success(let value)? = endings[assignment.link.attempt], executors[assignment.link.attempt] == executor.incarnation
        else {
            return world.violate(
                "\(name) begins in \(executor.name) after attempt \(assignment.link.attempt), which has not succeeded there")
        }
        follows[assignment.attempt] = (assignment.link.unit, assignment.link.attempt)
        if assignment.link.delivers, assignment.inputs != [.with { $0.value = value }] {
            world.violate("\(name) receives another value than attempt \(assignment.link.attempt) has come to")
        }
    }

    // MARK: What is told

    func acknowledged(submission id: String) {
        if !disk.isKnown(submission: id), !isForgotten(id) { world.violate("\(id) is acknowledged, and not on the disk") }
    }

    func shownFinished(submission id: String) {
        if !hasEnded(submission: id) { world.violate("\(id) is shown as finished, and is not on the disk") }
    }

    func acknowledged(_ unit: UnitID, _ attempt: Attempt) {
        if disk.isOpen(unit, under: attempt) {
            world.violate("the end of attempt \(attempt.rawValue) is acknowledged, and not on the disk")
        }
    }

    func shown(_ event: WireEvent, of id: String) {
        switch event.state {
        case .succeeded, .failed, .cancelled:
            // A group that is tried again begins its members anew: then what is told late was so before.
            guard event.state == .cancelled, disk.hasOutcome(event.path, of: id) == true else { return }
            for run in running.values where run.body.assignment.submission == id && isInside(run.body.assignment.path, of: event.path) {
                guard !frozen.contains(run.body.assignment.attempt), !isSeized(run.body), !isCutOff(run.executor) else { continue }
                world.violate(
                    "\(id)/\(event.path) is shown as cancelled, and \(run.body.assignment.path) runs in \(run.executor.name)")
            }
        case .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused, .UNRECOGNIZED: break
        }
    }
}

private func isInside(_ path: String, of group: String) -> Bool {
    group.isEmpty || path == group || path.hasPrefix(group + "/")
}

extension WireAssignment {
    var isFenced: Bool { atMostOnce || !fences.isEmpty }
}

extension Payload {
    /// Whether it is what was said.
    fileprivate func isWhat(_ value: WireValue) -> Bool {
        switch (storage, value.storage) {
        case (.inline(let bytes), .inline(let spoken)?): bytes == [UInt8](spoken)
        case (.blob(let digest, let size), .blob(let spoken)?): digest == [UInt8](spoken.digest) && size == spoken.size
        default: false
        }
    }
}

extension Fact {
    /// Its kind.
    var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
