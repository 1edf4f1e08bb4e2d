import Scheduling
import Wire

extension Explanation {
    var wire: WireExplanation {
        .with {
            $0.submission = submission
            $0.path = path
            $0.kind = WireOperationView.Kind(rawValue: Int(kind.rawValue)) ?? .operation
            $0.type = type
            $0.state = state.wire
            $0.since = since
            let name = path.isEmpty ? submission : "\(submission)/\(path)"
            $0.blockers = blockers.map { $0.wire(for: name, at: at) }
            $0.moreBlockers = UInt32(clamping: moreBlockers)
            $0.causes = causes.indices.map { place in
                let beside = [place - 1, place + 1].filter(causes.indices.contains)
                let hasOwnError = place == causes.count - 1 || beside.contains { causes[$0].unit == causes[place].unit }
                return causes[place].wire(hasOwnError: hasOwnError)
            }
            $0.history = history.map { event in
                .with {
                    $0.at = event.at
                    $0.event = event.event
                    $0.text = Failure.cut(event.text, Failure.reasonBytesMax)
                }
            }
            $0.inside = inside.map(\.wire)
            $0.moreInside = UInt32(clamping: moreInside)
            $0.insidePartial = isInsidePartial
            if let view { $0.view = view.wire }
            $0.at = at
        }
    }
}

extension Cause {
    /// Only the last one brings its error, and each of several conditions of one operation: the others have the same, or none.
    fileprivate func wire(hasOwnError: Bool) -> WireCause {
        .with {
            $0.operation = operation
            $0.link = link.rawValue
            $0.text = Failure.cut(text, Failure.reasonBytesMax)
            $0.at = at
            if hasOwnError, let failure { $0.failure = failure.wire }
            if let condition { $0.condition = condition.wire }
            $0.attempts = UInt32(clamping: attempts)
        }
    }
}

extension WaitingUnits {
    fileprivate var wire: WireWaitingOperations {
        .with {
            $0.kind = kind.rawValue
            $0.text = Failure.cut(text, Failure.reasonBytesMax)
            $0.count = UInt32(clamping: count)
            $0.operations = operations
        }
    }
}

extension Blocker {
    /// - Parameter operation: in whose way it is.
    fileprivate func wire(for operation: String, at now: Int64) -> WireBlocker {
        var wire = WireBlocker()
        wire.kind = kind.rawValue
        wire.text = Failure.cut(text(now: now), Failure.reasonBytesMax)
        wire.remedy = remedy(for: operation)
        switch self {
        case .dependency(let other), .order(let other), .group(let other): wire.name(other)
        case .delivery(let other, let delivery):
            wire.name(other)
            wire.stage = "\(delivery)"
        case .maxConcurrent(let wait):
            wire.name(wait.group)
            wire.limit = UInt32(clamping: wait.limit)
            wire.taken = UInt32(clamping: wait.taken)
            wire.ahead = UInt32(clamping: wait.ahead)
        case .delay(let until): wire.until = until
        case .paused(let other, let since):
            wire.name(other)
            wire.since = since
        case .lock(let wait):
            wire.lock = wait.lock.wire
            wire.ahead = UInt32(clamping: wait.ahead)
        case .condition(let wait): wire.describe(wait)
        case .join(let other, let id):
            wire.name(other)
            wire.uniqueID = id
        case .worker(let wait): wire.describe(wait)
        case .slots(let wait):
            wire.takers = wait.takers.map(\.wire)
            wire.takerCount = UInt32(clamping: wait.takerCount)
            wire.ahead = UInt32(clamping: wait.ahead)
        case .retry(let wait):
            if let tail = wait.decidedBy { wire.name(tail) }
            wire.attempt = UInt32(clamping: wait.attempt)
            wire.attempts = UInt32(clamping: wait.attemptsMax)
            wire.until = wait.until
            if let failure = wait.failure { wire.failure = failure.wire }
        case .submitter(let wait):
            wire.worker = wait.name
            wire.until = wait.until ?? 0
        case .stopping(let wait):
            if let running = wait.running { wire.name(running) }
            wire.since = wait.since
            wire.until = wait.until
            wire.open = UInt32(clamping: wait.open)
            if wait.isOverdue { wire.stage = "overdue" }
        case .partialResults, .value: break
        case .pausing(let wait):
            wire.name(wait.unit)
            wire.since = wait.since
            // Of several the text says it.
            wire.worker = wait.workers.count == 1 ? wait.workers[0] : ""
        }
        return wire
    }
}

extension WireBlocker {
    fileprivate mutating func name(_ other: BlockingUnit) {
        operation = other.operation
        state = "\(other.state)"
        worker = other.worker
    }

    fileprivate mutating func describe(_ wait: ConditionWait) {
        condition = wait.key
        switch wait.stage {
        case .notYet: stage = "notYet"
        case .preparing(let other):
            stage = "preparing"
            name(other)
        case .evaluating(let worker):
            stage = "evaluating"
            self.worker = worker
        case .notNow(let verdict, let ahead):
            stage = "notNow"
            self.verdict = ConditionView(key: wait.key, verdict: verdict).wire
            if case .notNow(let until) = verdict.finding { self.until = until }
            since = verdict.at
            self.ahead = UInt32(clamping: ahead)
        }
    }

    fileprivate mutating func describe(_ wait: WorkerWait) {
        operation = wait.operation
        absent = wait.absent.map(\.worker)
        switch wait.reason {
        case .noWorker: missing = "worker"
        case .operation: missing = "operation"
        case .version: missing = "version"
        case .condition: missing = "condition"
        case .requirements: missing = "requirements"
        case .together: missing = "together"
        case .unheard(let worker, let since, let until):
            missing = "unheard"
            (self.worker, self.since, self.until) = (worker, since, until)
        case .revoked(let worker, let until):
            missing = "revoked"
            (self.worker, self.until) = (worker, until)
        case .limited(let worker, let until):
            missing = "limited"
            (self.worker, self.until) = (worker, until)
        case .barred(let worker, let bar, let since, _):
            missing =
                switch bar {
                case .revoked: "revoked"
                case .limited: "limited"
                }
            (self.worker, self.since) = (worker, since)
        case .drained(let worker, let drain, _):
            missing = "drained"
            (self.worker, self.since) = (worker, drain.since)
        }
    }
}

extension SlotWait.Taker {
    fileprivate var wire: WireSlotTaker {
        .with {
            $0.worker = worker
            $0.slots = UInt32(clamping: slots)
            $0.taken = UInt32(clamping: taken)
            $0.undelivered = UInt32(clamping: undelivered)
            switch obstacle {
            case .full: $0.obstacle = "full"
            case .suspected: $0.obstacle = "suspected"
            case .alone: $0.obstacle = "alone"
            case .kept: $0.obstacle = "kept"
            case .resources: $0.obstacle = "resources"
            case .queued: $0.obstacle = "queued"
            }
        }
    }
}
