import Wire

/// What is told of force: that it was used, never that it is about to be. There are bodies that nothing ends but the end of this process.
extension ExecutorState {
    /// The unit's body was ended by force; that it has ended comes as of any other.
    package mutating func killed(_ key: UnitKey, at: Int64) -> [ExecutorAction] {
        guard case .running(var running)? = units[key]?.phase, !running.isKilled else { return [] }
        running.isKilled = true
        units[key]?.phase = .running(running)
        guard running.course.cause?.isTold == true else { return [] }
        return [.report(.stopping(key, at: at, forced: true))]
    }

    /// This process ends, and with it what was told to end and has not.
    func endsWithTheProcess(at: Int64) -> [ExecutorAction] {
        guard intake != .exiting else { return [] }
        return units.compactMap { key, unit in
            guard case .running(let running) = unit.phase, running.course.cause?.isTold == true, !running.isKilled else { return nil }
            return .report(.stopping(key, at: at, forced: true))
        }
    }
}

extension ExecutorState {
    /// Tells that the body was told to end, and that it was ended by force, as far as it was.
    func tellStopping(_ key: UnitKey, at: Int64, into actions: inout [ExecutorAction]) {
        guard case .running(let running)? = units[key]?.phase else { return }
        actions.append(.report(.stopping(key, at: at, forced: false)))
        // Of what was ended by force before, who orders it may not have heard.
        if running.isKilled { actions.append(.report(.stopping(key, at: at, forced: true))) }
    }
}

extension StopCause {
    /// Whether who looks is told of the stages of the stop.
    fileprivate var isTold: Bool { self == .cancelled || self == .timedOut }
}

extension HeldUnit.Course {
    /// Why it was told to end; nil: it was not.
    var cause: StopCause? {
        switch self {
        case .working: nil
        case .stopping(let cause, _), .killed(let cause, _, _), .stuck(let cause): cause
        }
    }
}
