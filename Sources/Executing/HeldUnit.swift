import Wire

/// A unit that an executor holds.
package struct HeldUnit: Equatable, Sendable {
    package enum Phase: Equatable, Sendable {
        /// Its large inputs are being fetched.
        case fetching(WireAssignment)
        /// Begins when the attempt has succeeded that it is linked to.
        case linked(WireAssignment)
        /// Waits for a slot.
        case queued(WireAssignment)
        case running(Running)
        /// Its end is offered until it is acknowledged.
        case finished(WireAttemptEnd)
    }

    package struct Running: Equatable, Sendable {
        package let startedAt: Int64
        package let timeoutMilliseconds: Int64
        package let graceMilliseconds: Int64
        /// It runs under a key, or at most once: it must have ended when the lock lease is over.
        package var isFenced = false
        /// That it was lost is kept until it is acknowledged: it is not to be run again.
        package var isAtMostOnce = false
        /// The lock lease is ending: its body must have ended before, if need be with this process. Why it was told to end stays what it was.
        package var mustEndWithLease = false
        /// Its body was ended by force, and its end has not come.
        package var isKilled = false
        package var course: Course
    }

    /// How far the running body has been told to end. Deadlines are of the boot clock.
    package enum Course: Equatable, Sendable {
        case working(timeoutAt: Int64?)
        /// It was asked to end; at `killAt` it is forced to.
        case stopping(StopCause, killAt: Int64)
        /// It is to end by force, if there is a way; at `lostAt` it is given up. `isHurried`: it was ordered to end without grace.
        case killed(StopCause, lostAt: Int64, isHurried: Bool)
        /// It cannot be ended but by the end of this process.
        case stuck(StopCause)
    }

    package var phase: Phase

    /// As it is told in a hello. Also of what nobody wants: somebody may wait for its end.
    package var heldState: WireHeldUnit.State {
        switch phase {
        case .fetching, .linked, .queued: .queued
        case .finished: .finished
        case .running: .running
        }
    }
}

/// Why a body was told to end.
package enum StopCause: Equatable, Sendable {
    case cancelled
    case timedOut
    /// Not wanted any more: superseded by another attempt, dropped, or lost with the lease.
    case unwanted
    /// The coordinator was not heard, and the lock lease is ending: it is lost, whatever becomes of it.
    case lockLeaseEnding
}

/// How a unit's body ended, as the shell saw it.
package enum UnitEnding: Equatable, Sendable {
    case success(WireValue)
    /// A success, and what it adds to its group.
    case production(WireValue, WireAddition)
    case failure([WireOperationFailure])
    case cancelled
    case elements(WireElements)
    case storedElements(WireBlobReference)
    case answers([WireConditionAnswer])
    case decided(WireDecision)
    case concluded(WireConclusion)
}

extension UnitEnding {
    /// What it has done, if it has; else that it was stopped, and must not run again.
    var orStoppedForGood: UnitEnding {
        switch self {
        case .success, .production, .elements, .storedElements, .answers, .decided, .concluded: self
        case .failure, .cancelled: .failure([.stoppedForGood])
        }
    }
}
