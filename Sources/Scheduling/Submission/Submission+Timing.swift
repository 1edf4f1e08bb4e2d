/// When units may start, and by when they must have ended.
extension Submission {
    /// Everything is over that the unit waits for, but its own delay and its group's limit: while it is delayed it takes
    /// no place of its group.
    mutating func approach(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        guard let until = delayEnd(unit, at) else { return enter(unit, at, &effects) }
        units[unit].phase = .delayed(until: until)
        effects.append(.delayed(id(unit), until: until))
    }

    mutating func endDelay(_ unit: Int, at: Int64, _ effects: inout [Effect]) throws(FactMismatch) {
        guard case .delayed = units[unit].phase else {
            throw FactMismatch("the delay of \(path(of: unit)) ended while it did not wait for that")
        }
        enter(unit, at, &effects)
        settle(at: at, &effects)
    }

    // MARK: Deadlines and queue timeouts

    /// The unit can begin from now on, as far as what is around it is concerned.
    mutating func startDeadline(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        // A child that was cancelled before its group began has ended.
        guard layout.graph.nodes[Int(units[unit].node)].hasOptions, !units[unit].hasEnded else { return }
        let options = layout.graph.nodes[Int(units[unit].node)].options
        guard options.deadlineMilliseconds > 0 || options.deadline > 0 else { return }
        let due = min(
            options.deadlineMilliseconds > 0 ? at + options.deadlineMilliseconds : .max, options.deadline > 0 ? options.deadline : .max)
        deadlines[Int32(unit)] = due
        effects.append(.deadline(id(unit), at: due))
    }

    mutating func endDeadline(_ unit: Int) {
        if !deadlines.isEmpty { deadlines[Int32(unit)] = nil }
    }

    /// The unit waits to be started from now on: for a worker, and for the locks that it needs.
    mutating func startWaiting(_ unit: Int, _ at: Int64, _ effects: inout [Effect]) {
        units[unit].queuedAt = at
        let node = Int(units[unit].node)
        if layout.graph.nodes[node].hasOptions, layout.graph.nodes[node].options.queueTimeoutMilliseconds > 0 {
            effects.append(.waits(id(unit)))
        }
    }

    /// How a unit ends that was stopped, where that is not the end of an attempt that may be tried again.
    func stoppedOutcome(_ unit: Int) -> Outcome {
        switch units[unit].stop {
        case .deadlinePassed: .failure([deadlineFailure(unit)])
        case .queueTimedOut: .failure([queueTimeoutFailure(unit)])
        case .conditionFailed: .failure(conditionFailures(unit))
        case .submitterGone: .failure([submitterGoneFailure(unit)])
        case .duplicate: duplicateOutcome(unit)
        case .lockCycle: .failure([lockCycleFailure(unit)])
        case .quarantined: .failure([quarantinedFailure(unit)])
        case .unfit: .failure([unfitFailure(unit)])
        case .fenced: .failure([fencedFailure(unit)])
        case .cancelled, .siblingFailed, .timedOut, .streamVoided, nil: .cancelled
        }
    }

    private func deadlineFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        let options = node(unit).options
        let isByWallTime = deadlines[Int32(unit)] == options.deadline
        let limit =
            isByWallTime
            ? "by \(WallTime.text(milliseconds: options.deadline))"
            : "within \(Duration.text(milliseconds: options.deadlineMilliseconds))"
        return Failure(
            code: .deadline, publisher: path, message: "did not end \(limit)", typeName: "AOperationError.DeadlinePassed", origin: path,
            detail: isByWallTime ? nil : .limit(milliseconds: options.deadlineMilliseconds))
    }

    private func queueTimeoutFailure(_ unit: Int) -> Failure {
        let path = path(of: unit)
        let limit = node(unit).options.queueTimeoutMilliseconds
        return Failure(
            code: .timeout, publisher: path, message: "did not start within \(Duration.text(milliseconds: limit)) after it was ready",
            typeName: "AOperationError.QueueTimeout", origin: path, detail: .limit(milliseconds: limit))
    }

    // MARK: Delays

    /// The wall time at which the delay of a unit that waits for nothing else since `at` is over; nil: it need not wait.
    private func delayEnd(_ unit: Int, _ at: Int64) -> Int64? {
        guard layout.graph.nodes[Int(units[unit].node)].hasOptions else { return nil }
        let options = layout.graph.nodes[Int(units[unit].node)].options
        guard options.delayMilliseconds > 0 || options.notBefore > at, !begunAnew.contains(Int32(unit)) else { return nil }
        // There is nothing to delay.
        guard forwardedFailure(unit) == nil else { return nil }
        return at + options.delayMilliseconds
    }
}
