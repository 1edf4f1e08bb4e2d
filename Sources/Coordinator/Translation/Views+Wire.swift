import Scheduling
import Wire

extension SubmissionView {
    var wire: WireSubmissionView {
        var wire = WireSubmissionView()
        wire.id = id
        wire.name = name
        wire.state = WireSubmissionState(rawValue: Int(state.rawValue)) ?? .pending
        wire.counts = counts.wire
        wire.submittedAt = submittedAt
        wire.cancelReason = cancelReason
        wire.finishedAt = finishedAt
        wire.timedOut = timedOut
        wire.key = key
        wire.principal = principal
        return wire
    }
}

extension Counts {
    fileprivate var wire: WireCounts {
        var wire = WireCounts()
        wire.total = UInt64(total)
        wire.succeeded = UInt64(succeeded)
        wire.failed = UInt64(failed)
        wire.cancelled = UInt64(cancelled)
        wire.running = UInt64(running)
        wire.pending = UInt64(max(0, pending))
        return wire
    }
}

extension Scheduling.OperationView {
    var wire: WireOperationView {
        var wire = WireOperationView()
        wire.unit = UInt32(clamping: unit)
        wire.parent = UInt32(clamping: parent)
        wire.position = UInt32(clamping: position)
        wire.path = path
        wire.kind = WireOperationView.Kind(rawValue: Int(kind.rawValue)) ?? .operation
        wire.type = type
        wire.state = state.wire
        wire.attempts = UInt32(clamping: attempts)
        wire.worker = worker
        wire.queuedAt = queuedAt
        wire.startedAt = startedAt
        wire.finishedAt = finishedAt
        wire.endNumber = UInt32(clamping: endNumber)
        wire.errors = errors.map(\.wire)
        if let value { wire.value = value.wire }
        wire.locks = locks.map(\.wire)
        wire.retryAt = retryAt
        wire.atMostOnce = isAtMostOnce
        wire.hosted = isHosted
        wire.preparation = isPreparation
        wire.priority = Int32(clamping: priority)
        wire.crashes = UInt32(clamping: crashes)
        wire.crashLimit = UInt32(clamping: crashLimit)
        if let lastFailure { wire.lastFailure = lastFailure.wire }
        wire.conditions = conditions.map(\.wire)
        if let waiting { wire.waiting = waiting.wire }
        wire.uniqueID = uniqueID
        wire.joinedTo = joinedTo
        if let progress { wire.progress = progress.wire }
        if let added { wire.added = added.wire }
        wire.history = history.map(\.wire)
        wire.earlierAttempts = earlierAttempts.map(\.wire)
        wire.stoppedByGroup = isStoppedByGroup
        wire.dependencies = dependencies.map { UInt32(clamping: $0) }
        return wire
    }
}

extension HistoryEntry {
    var wire: WireHistoryEntry {
        .with {
            $0.at = at
            $0.event = event.rawValue
            $0.text = text
        }
    }
}

extension EarlierAttemptView {
    fileprivate var wire: WireEarlierAttempt {
        .with {
            $0.number = UInt32(clamping: number)
            $0.worker = worker
            $0.startedAt = startedAt
            $0.finishedAt = finishedAt
            $0.ending = WireEarlierAttempt.Ending(rawValue: Int(ending.rawValue)) ?? .failed
            $0.wasEnd = wasEnd
            $0.text = text
        }
    }
}

extension AddedView {
    fileprivate var wire: WireAdded {
        .with {
            $0.parent = UInt32(clamping: parent)
            $0.kind = WireOperationView.Kind(rawValue: Int(kind.rawValue)) ?? .operation
            $0.type = type
            $0.hosted = isHosted
            $0.preparation = isPreparation
            if let producer { $0.producer = UInt32(clamping: producer) }
            $0.attempt = attempt.rawValue
            $0.node = UInt32(clamping: node)
            if let id { $0.id = id }
        }
    }
}

extension ProductReceipt {
    var wire: WireProductReceipt {
        .with {
            $0.unit = unit.rawValue
            $0.attempt = attempt.rawValue
            $0.number = number
            $0.problem = problem ?? ""
            $0.fresh = isNew
        }
    }
}

extension OperationState {
    var wire: WireOperationState { WireOperationState(rawValue: Int(rawValue)) ?? .blocked }
}

extension WorkerView {
    var wire: WireWorkerView {
        var wire = WireWorkerView()
        wire.id = name
        wire.host = host
        wire.pid = pid
        switch state {
        case .attached: wire.state = "attached"
        case .draining: wire.state = "draining"
        case .silent: wire.state = "silent"
        case .revoked: wire.state = "revoked"
        case .limited: wire.state = "limited"
        case .drained: wire.state = "drained"
        case .absent: wire.state = "absent"
        }
        wire.slots = UInt32(clamping: slots)
        wire.running = UInt32(clamping: running)
        wire.operations = operations
        wire.labels = labels
        wire.lastHeard = lastHeard
        wire.resources = resources.map(\.wire)
        wire.givenName = givenName
        if let drain {
            wire.drain = .with {
                $0.since = drain.since
                $0.by = drain.by
                $0.reason = drain.reason
            }
        }
        if let detail { wire.detail = detail.wire }
        return wire
    }
}

extension WorkerEvent {
    var wire: WireWorkerEvent {
        .with {
            $0.number = number
            $0.at = at
            $0.worker = worker
            $0.event = kind.rawValue
            $0.text = text
        }
    }
}

extension WorkerDetail {
    fileprivate var wire: WireWorkerDetail {
        .with {
            $0.held = held.map { held in
                .with {
                    $0.operation = held.operation
                    $0.state = held.state.wire
                    $0.startedAt = held.startedAt
                }
            }
            $0.heldCount = UInt32(clamping: heldCount)
            $0.conditions = conditions
            $0.operations = signatures.map { signature in
                .with {
                    $0.name = signature.name
                    $0.version = UInt32(clamping: signature.version)
                    $0.oldestVersion = UInt32(clamping: signature.oldestVersion)
                }
            }
            $0.line = UInt32(clamping: line)
            $0.mayRunUntil = mayRunUntil
        }
    }
}

extension UnitEvent {
    var wire: WireEvent {
        var wire = WireEvent()
        wire.unit = UInt32(clamping: unit)
        wire.path = path
        wire.state = state.wire
        wire.at = at
        wire.worker = worker
        wire.errors = errors.map(\.wire)
        wire.attempt = UInt32(clamping: attempt)
        wire.startedAt = startedAt
        wire.group = isGroup
        if let progress { wire.progress = progress.wire }
        if let value { wire.value = value.wire }
        if let added { wire.added = added.wire }
        wire.stoppedByGroup = isStoppedByGroup
        wire.history = history.map(\.wire)
        return wire
    }

    var wireBytes: Int {
        80 + history.reduce(0) { $0 + 48 + $1.text.utf8.count } + (added.map { 48 + $0.type.utf8.count + ($0.id?.utf8.count ?? 0) } ?? 0)
            + (progress?.message?.utf8.count ?? 0)
            + path.utf8.count + worker.utf8.count + errors.reduce(0) { $0 + $1.wireBytes }
            + (value?.wireBytes ?? 0)
    }
}

extension OutputPage {
    /// - Parameters:
    ///   - id: the submission's whole id.
    ///   - isEnded: nothing will follow what is stored.
    func wire(id: String, isEnded: Bool) -> WireOutputPage {
        var wire = WireOutputPage()
        wire.records = records.map(\.wire)
        wire.position = UInt64(max(0, position))
        wire.ended = isEnded && !more
        wire.id = id
        return wire
    }
}

extension OutputRecord {
    fileprivate var wire: WireOutputRecord {
        var wire = WireOutputRecord()
        wire.unit = UInt32(clamping: unit.index)
        wire.path = path
        wire.attemptNumber = UInt32(clamping: attemptNumber)
        switch stream {
        case .stdout: wire.stream = .stdout
        case .stderr: wire.stream = .stderr
        case .log: wire.stream = .log
        }
        wire.at = at
        wire.bytes = .init(bytes)
        wire.truncated = isTruncated
        return wire
    }
}
