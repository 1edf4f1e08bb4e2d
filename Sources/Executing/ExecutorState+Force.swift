import Wire

/// What is told of force: that it was used, never that it is about to be. There are bodies that nothing ends but the end of this process.
extension ExecutorState {
    /// The unit's body was ended by force; that it has ended comes as of any other.
    package mutating func killed(_ key: UnitKey, at: Int64) -> [ExecutorAction] {
        guard case .running(var running)? = units[key]?.phase, !running.isKilled else { return [] }
        running.isKilled = true
        units[key]?.phase = .running(running)
        guard running.course.cause == .cancelled else { return [] }
        return [.report(.stopping(key, at: at, forced: true))]
    }

    /// This process ends, and with it what was told to end and has not.
    func endsWithTheProcess(at: Int64) -> [ExecutorAction] {
        guard intake != .exiting else { return [] }
        return units.compactMap { key, unit in
            guard case .running(let running) = unit.phase, running.course.cause == .cancelled, !running.isKilled else { return nil }
            return .report(.stopping(key, at: at, forced: true))
        }
    }
}

extension HeldUnit.Course {
    /// Why it was told to end; nil: it was not.
    fileprivate var cause: StopCause? {
        switch self {
        case .working: nil
        case .stopping(let cause, _), .killed(let cause, _, _), .stuck(let cause): cause
        }
    }
}
