import Foundation
import Wire

extension WireUnitReport {
    package static func started(_ key: UnitKey, at: Int64) -> Self {
        report(key, .started(.with { $0.startedAt = at }))
    }

    /// It was told to stop, as was ordered; `forced`: it was ended by force.
    package static func stopping(_ key: UnitKey, at: Int64, forced: Bool) -> Self {
        report(
            key,
            .stopping(
                .with {
                    $0.at = at
                    $0.forced = forced
                }))
    }

    package static func ended(_ key: UnitKey, _ end: WireAttemptEnd) -> Self { report(key, .ended(end)) }

    /// Given back without having started.
    package static func released(_ key: UnitKey, accepting: Bool) -> Self {
        report(key, .released(.with { $0.accepting = accepting }))
    }

    /// Stopped because the lock lease was ending.
    package static func lost(_ key: UnitKey) -> Self { report(key, .released(.with { $0.stopped = true })) }

    private static func report(_ key: UnitKey, _ body: OneOf_Body) -> Self {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.body = body
        }
    }
}

extension WireAttemptEnd {
    package static func attempt(startedAt: Int64, endedAt: Int64, _ ending: UnitEnding) -> Self {
        .with {
            $0.startedAt = startedAt
            $0.endedAt = endedAt
            switch ending {
            case .success(let value): $0.success = value
            case .production(let value, let addition):
                $0.success = value
                $0.addition = addition
            case .failure(let errors): $0.failure = .with { $0.errors = errors }
            case .cancelled: $0.stopped = WireStopped()
            case .elements(let elements): $0.elements = elements
            case .storedElements(let reference): $0.storedElements = reference
            case .answers(let answers): $0.answers = .with { $0.answers = answers }
            case .decided(let decision): $0.decided = decision
            case .concluded(let conclusion): $0.concluded = conclusion
            }
        }
    }
}

extension WireAssignment {
    /// Whether something it receives has to be fetched first.
    package var hasLargeInputs: Bool { inputs.contains(where: \.needsFetch) }
}

extension WireReceived {
    package var needsFetch: Bool {
        switch body {
        case .value(let value)?:
            if case .blob? = value.storage { true } else { false }
        case .list(let list)?: list.elements.contains(where: \.needsFetch)
        case .stored?: true
        case .failure?, nil: false
        }
    }
}

extension WireOperationFailure {
    package static func timedOut(afterMilliseconds milliseconds: Int64) -> Self {
        .with {
            $0.code = .timeout
            $0.message = "timed out after \(DurationText.seconds(milliseconds: milliseconds))"
            $0.typeName = "TimeoutObserver.Error"
        }
    }

    /// Of an operation that runs at most once and was stopped because nothing was heard of the coordinator.
    package static let stoppedForGood = WireOperationFailure.with {
        $0.code = .workerLost
        $0.message =
            "its worker lost the coordinator and had to stop it, and `atMostOnce` does not let it run again;"
            + " find out what it has done before you submit it again"
        $0.typeName = "WorkerLost"
    }
}
