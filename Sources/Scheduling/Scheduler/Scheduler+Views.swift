/// What those who look are shown. Everything is computed from the state as it is; nothing is kept for it.
extension Scheduler {
    func view(of number: SubmissionNumber) -> SubmissionView {
        let index = durable.index(of: number)
        let root = durable.submissions[index].units[0]
        let state: SubmissionState =
            switch root.outcome {
            case .success?: .succeeded
            case .failure?: .failed
            case .cancelled?: .cancelled
            case nil where durable.submissions[index].pauses[0] != nil: .paused
            case nil: durable.submissions[index].hasBegun ? .running : .pending
            }
        return SubmissionView(
            number: number, id: durable.submissions[index].id, key: durable.submissions[index].key,
            name: durable.submissions[index].name, state: state, counts: durable.submissions[index].counts,
            submittedAt: durable.submissions[index].submittedAt, finishedAt: root.finishedAt,
            timedOut: root.hasEnded && (root.stop == .timedOut || root.stop == .deadlinePassed),
            cancelReason: durable.submissions[index].cancelReason, principal: durable.submissions[index].principal
        )
    }

    func operationState(of unit: Int, _ index: Int) -> OperationState {
        // It has failed, or followed on a failure; whether that counts others decide.
        if durable.submissions[index].isHeldInScope(unit), durable.submissions[index].units[unit].phase != .lingering { return .retrying }
        return operationState(of: durable.submissions[index].units[unit], isPaused: durable.submissions[index].isPaused(unit))
    }

    /// - Parameter isPaused: it or something around it.
    func operationState(of unit: Unit, isPaused: Bool) -> OperationState {
        switch unit.phase {
        case .blocked where unit.stop != nil: .stopping
        case .blocked, .delayed, .held, .dropped: .blocked
        case .paused: .paused
        case .wanting where isPaused, .ready where isPaused, .postponed where isPaused, .retryWait where isPaused: .paused
        case .open where isPaused && unit.stop == nil, .preparing where isPaused && unit.stop == nil: .paused
        case .wanting, .ready: .queued
        case .locking: .locking
        case .postponed: .evaluating
        case .preparing: unit.stop != nil ? .stopping : .evaluating
        // One that is asked about the failure of its conditions has not begun.
        case .provisional: unit.startedAt > 0 ? .running : .queued
        case .assigned where unit.stop != nil: .stopping
        case .assigned where unit.isEvaluating: .evaluating
        // It has begun, also if it is asked about its end.
        case .assigned: unit.isRunning || unit.startedAt > 0 ? .running : .queued
        case .retryWait: .retrying
        case .open: unit.stop != nil ? .stopping : .running
        case .lingering: .stopping
        case .ended(.success): .succeeded
        case .ended(.failure): .failed
        case .ended(.cancelled): .cancelled
        }
    }

    /// One page of the units below a path, parents before children.
    func operations(_ query: OperationQuery, of number: SubmissionNumber, for reader: Authority) -> Reply {
        let index = durable.index(of: number)
        let id = durable.submissions[index].id
        guard let top = query.path.isEmpty ? 0 : durable.submissions[index].unit(atPath: query.path) else {
            return .failed(.notFound("no operation `\(query.path)` in submission \(id); `aop show \(id)` lists them"))
        }
        var views: [OperationView] = []
        var bytes = 0
        var waits: [Int: WaitingView?] = [:]
        var unit = max(query.from, top)
        while unit < durable.submissions[index].units.count {
            if includes(unit, query, below: top, index) {
                var view = operationView(unit, index, withValue: query.withValues, for: reader)
                view.waiting = waiting(UnitID(number, unit), known: &waits, for: reader)
                if query.withDependencies { view.dependencies = durable.submissions[index].dependencies(ofUnit: unit) }
                bytes += view.approximateBytes
                if !views.isEmpty, bytes > configuration.pageBytes || (query.limit > 0 && views.count >= query.limit) { break }
                views.append(view)
            }
            unit += 1
        }
        return .operations(views, next: unit < durable.submissions[index].units.count ? unit : 0, id: id)
    }

    private func includes(_ unit: Int, _ query: OperationQuery, below top: Int, _ index: Int) -> Bool {
        let state = durable.submissions[index].units[unit]
        if state.phase == .dropped { return false }
        if query.failedOnly {
            guard case .failure? = state.outcome else { return false }
        }
        return top == 0 || durable.submissions[index].isInside(unit, of: top)
    }

    private func operationView(_ unit: Int, _ index: Int, withValue: Bool, for reader: Authority) -> OperationView {
        let state = durable.submissions[index].units[unit]
        let node = durable.submissions[index].node(unit)
        var view = OperationView(
            unit: unit, parent: max(0, Int(state.parent)), position: Int(state.position),
            path: durable.submissions[index].path(of: unit), kind: .operation, type: "",
            state: operationState(of: unit, index),
            attempts: Int(state.attempts), worker: "", queuedAt: durable.submissions[index].shownQueuedAt(of: unit),
            startedAt: state.startedAt, finishedAt: state.finishedAt, errors: [], value: nil
        )
        switch node.kind {
        case .operation(let operation): view.type = operation.type
        case .group(let group): view.kind = group.isOrdered ? .ordered : .group
        case .forEach: view.kind = .forEach
        case .decider(let decider):
            view.kind = .decider
            view.type = decider.type
        }
        switch state.phase {
        case .assigned(_, let worker): view.worker = durable.workers[worker.index].identity.name
        case .ended(.failure(let errors)): view.errors = errors
        case .ended(.success(let payload)):
            if withValue { view.value = node.isOperation ? payload : durable.submissions[index].joinedValue(of: unit) }
        case .locking: view.locks = locksInTheWay(of: UnitID(durable.submissions[index].number, unit), for: reader)
        case .retryWait(let until): view.retryAt = until
        case .blocked, .delayed, .held, .paused, .wanting, .preparing, .ready, .postponed, .provisional, .open, .ended(.cancelled),
            .lingering, .dropped:
            break
        }
        if durable.submissions[index].isAdded(unit) { view.added = addedView(of: unit, index) }
        view.endNumber = Int(state.endNumber)
        view.isStoppedByGroup = state.wasStoppedByGroup
        view.priority = durable.submissions[index].priority(unit)
        view.crashes = Int(state.crashes)
        view.crashLimit = durable.submissions[index].crashLimit(unit, standard: configuration.crashLimit)
        view.isHosted = node.isHosted
        view.history = durable.submissions[index].histories[Int32(unit)] ?? []
        if state.stop != nil, let overdue = overdueAttempt(of: UnitID(durable.submissions[index].number, unit)) {
            view.history.append(overdue.stage)
        }
        view.earlierAttempts = durable.submissions[index].shownEarlierAttempts(of: unit).map { attempt in
            EarlierAttemptView(
                number: Int(attempt.number), worker: durable.workers[attempt.worker.index].identity.name, startedAt: attempt.startedAt,
                finishedAt: attempt.endedAt, ending: attempt.ending, wasEnd: attempt.wasEnd, text: attempt.text)
        }
        view.isPreparation = node.isPreparation
        view.isAtMostOnce = durable.submissions[index].isAtMostOnce(unit)
        view.lastFailure = durable.submissions[index].lastFailures[Int32(unit)]
        view.conditions = durable.submissions[index].conditionViews(of: unit)
        if durable.submissions[index].isUnique(unit) {
            view.uniqueID = durable.submissions[index].uniqueID(of: unit) ?? ""
            view.joinedTo = durable.submissions[index].joined(unit).map { durable.name(of: $0) } ?? ""
        }
        if !progress.isEmpty, case .assigned = state.phase { view.progress = progress[UnitID(durable.submissions[index].number, unit)] }
        if view.worker.isEmpty, let worker = state.lastWorker { view.worker = durable.workers[worker.index].identity.name }
        return view
    }
}

extension OperationView {
    /// What it takes in a page, roughly.
    fileprivate var approximateBytes: Int {
        var bytes = 64 + path.utf8.count + type.utf8.count + worker.utf8.count + uniqueID.utf8.count + joinedTo.utf8.count
        if case .inline(let content)? = value?.storage { bytes += content.count }
        for lock in locks { bytes += lock.approximateBytes }
        if let text = progress?.message { bytes += text.utf8.count }
        if let waiting { bytes += 16 + waiting.text.utf8.count }
        bytes += 5 * dependencies.count
        for entry in history { bytes += 32 + entry.text.utf8.count }
        for attempt in earlierAttempts { bytes += 32 + attempt.worker.utf8.count + attempt.text.utf8.count }
        for condition in conditions { bytes += condition.approximateBytes }
        for error in errors + (lastFailure.map { [$0] } ?? []) {
            bytes += 64 + error.message.utf8.count + (error.stderr?.utf8.count ?? 0) + error.origin.utf8.count
        }
        return bytes
    }
}
