/// What is asked of a scheduler by those who take what its executors send, and of one that folds what is on the disk by a simulation.
extension Scheduler {
    /// Whether the unit is given out under this attempt, which has not ended.
    public func isOpen(_ unit: UnitID, under attempt: Attempt) -> Bool {
        guard durable.holds(unit), case .assigned(attempt, _) = durable.phase(unit) else { return false }
        return true
    }

    /// Whether a submission of this id was admitted.
    public func isKnown(submission id: String) -> Bool { durable.submissionByID[id] != nil }

    /// Whether the whole submission has its outcome; nil: it is not known.
    public func hasOutcome(submission id: String) -> Bool? { submission(id).map { $0.outcome != nil } }

    /// When the whole submission has ended, in wall time; nil: it has not, or is not known.
    public func endOfSubmission(_ id: String) -> Int64? { submission(id).flatMap { $0.outcome == nil ? nil : $0.units[0].finishedAt } }

    /// Whether the operation or group has its outcome; nil: it is not known.
    public func hasOutcome(_ path: String, of id: String) -> Bool? {
        guard let submission = submission(id), let unit = submission.unit(atPath: path) else { return nil }
        return submission.units[unit].hasEnded
    }

    /// In which state the operation or group is; nil: it is not known.
    public func state(_ path: String, of id: String) -> OperationState? {
        guard let number = durable.submissionByID[id], let unit = submission(id)?.unit(atPath: path) else { return nil }
        return operationState(of: unit, durable.index(of: number))
    }

    /// In which state the unit is; nil: its submission is not known.
    public func state(of unit: UnitID) -> OperationState? {
        durable.holds(unit) ? operationState(of: unit.index, durable.index(of: unit.submission)) : nil
    }

    /// Whether something was produced under the id in the group around the unit.
    public func isProduced(_ id: String, around unit: UnitID) -> Bool {
        guard durable.holds(unit) else { return false }
        let submission = durable.submissions[durable.index(of: unit.submission)]
        return submission.produced(id, in: submission.growingGroup(around: unit.index)) != nil
    }

    /// Whether an attempt of it has ended whose outcome counts for its delivery net only, until the end of that has decided.
    public func isProvisional(_ path: String, of id: String) -> Bool {
        guard let submission = submission(id), let unit = submission.unit(atPath: path) else { return false }
        return submission.units[unit].phase == .provisional
    }

    /// In which states operations and groups are, of everything that has not ended. O(units).
    public var statesOfOpenWork: Set<OperationState> {
        var states: Set<OperationState> = []
        for index in durable.submissions.indices where durable.submissions[index].outcome == nil {
            for unit in durable.submissions[index].units.indices where durable.submissions[index].units[unit].phase != .dropped {
                states.insert(operationState(of: unit, index))
            }
        }
        return states
    }

    /// Whether it has been told to stop, by whatever. O(path's parts).
    public func isStopping(_ path: String, of id: String) -> Bool {
        guard let submission = submission(id), let unit = submission.unit(atPath: path) else { return false }
        return submission.units[unit].stop != nil
    }

    /// What is in the way of each operation of the submission that has not ended. O(units × what is in the way).
    public func explanations(submission id: String) -> [String] {
        guard let submission = submission(id) else { return [] }
        let open = submission.units.indices.filter { submission.node($0).isOperation && !submission.units[$0].hasEnded }
        return open.map { unit in
            let explanation = explanation(of: UnitID(submission.number, unit), for: .unlimited)
            return "\(submission.path(of: unit)) is \(explanation.state): \(explanation.blockers)"
        }
    }

    /// Submission and path.
    public func name(of unit: UnitID) -> String { durable.name(of: unit) }

    /// As users see it.
    public func name(of worker: WorkerNumber) -> String { durable.workers[worker.index].identity.name }

    private func submission(_ id: String) -> Submission? {
        guard let number = durable.submissionByID[id], !durable.isForgotten(number) else { return nil }
        return durable.submission(number)
    }
}
