import Wire

/// What ``ExecutorState`` wants done.
package enum ExecutorAction: Equatable, Sendable {
    /// Get the large values that this unit receives; answered by `inputsReady` or `inputsMissing`.
    case fetchInputs(UnitKey, WireAssignment)
    /// Run it; answered by `ended`, once.
    case start(UnitKey, WireAssignment)
    /// Put it into the line of those that start when others end; answered by `begun` when it has, or taken out by `start`.
    case lineUp(UnitKey, WireAssignment)
    /// Ask the unit's body to end: cancel it, SIGTERM to its command.
    case stop(UnitKey)
    /// End the unit's body by force; answered by `killed`, or by `cannotKill` when there is no way.
    case kill(UnitKey)
    /// Tell the coordinator.
    case report(WireUnitReport)
    /// Nothing of this unit is needed any more.
    case forget(UnitKey)
    /// A body does not end, or nothing more can begin here: ask the supervisor for another process in place of this one.
    case askForReplacement
    /// End this process.
    case exit(ExitReason)
}

/// Why an executor ends.
package enum ExitReason: String, Equatable, Sendable {
    /// All that was to be finished before the end is.
    case drained
    /// A body that cannot be stopped keeps its thread; only the process's end ends it.
    case stuck
}
