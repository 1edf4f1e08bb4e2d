import Logging
import Scheduling

/// Which events have a line, and what it says.
extension EventLog {
    /// From which level on a fact has a line; nil: it has none.
    static func level(of fact: Fact) -> Logger.Level? {
        switch fact {
        case .lockSeized: .notice
        case .submitted, .cancelRequested, .paused, .resumed, .outcomesKept, .forgotten, .quarantineLifted: .info
        // What was given back unbegun goes on elsewhere, and nobody has lost anything.
        case .attemptLost(_, _, let cause, _, _): cause == .released ? .debug : .info
        case .assigned: .debug
        case .epochStarted, .typesRegistered, .signaturesRegistered, .offersRegistered, .workerMet, .workerEnded, .linked, .attemptEnded,
            .timedOut, .groupRestarted, .scopeRestarted, .delayEnded, .locksAsked, .locksReturned, .deadlinePassed, .queueTimedOut, .judged,
            .submitterMissed, .produced, .lockCycleFound, .quarantineMet, .misfitFound, .streamBegun, .preparationDue, .lateResultRefused,
            .orphanEnded, .attemptStrayed, .strayEnded, .attemptTimedOut, .stopBegun, .deathProven, .workerDrained, .workerResumed,
            .workerRemoved,
            .zonesRegistered:
            nil
        }
    }

    /// The line of a fact that has one.
    ///
    /// - Parameter id: of a submission; nil: it is not known any more.
    static func line(_ fact: Fact, _ level: Logger.Level, _ scheduler: Scheduler, id: (SubmissionNumber) -> String?) -> Line? {
        func line(_ message: Logger.Message, _ metadata: Logger.Metadata) -> Line {
            Line(level: level, message: message, metadata: metadata)
        }
        func of(_ unit: UnitID) -> Logger.Metadata {
            var metadata: Logger.Metadata = ["submission": "\(id(unit.submission) ?? "")"]
            if unit.index > 0 { metadata["operation"] = "\(text(scheduler.name(of: unit)))" }
            return metadata
        }
        switch fact {
        case .submitted(let admission):
            var metadata: Logger.Metadata = ["submission": "\(admission.id)", "nodes": "\(admission.graph.nodes.count)"]
            if !admission.name.isEmpty { metadata["name"] = "\(text(admission.name))" }
            if !admission.principal.isEmpty { metadata["principal"] = "\(text(admission.principal))" }
            return line("submission admitted", metadata)
        case .cancelRequested(let unit, let reason, let now, _):
            var metadata = of(unit)
            if !reason.isEmpty { metadata["reason"] = "\(text(reason))" }
            if now { metadata["now"] = "true" }
            return line(unit.index == 0 ? "submission is cancelled" : "operation is cancelled", metadata)
        case .paused(let unit, _): return line(unit.index == 0 ? "submission paused" : "operation paused", of(unit))
        case .resumed(let unit, _): return line(unit.index == 0 ? "submission resumed" : "operation resumed", of(unit))
        case .outcomesKept(let number, let first, _, _):
            return line("submission keeps what has succeeded", ["submission": "\(id(number) ?? "")", "from": "\(id(first) ?? "")"])
        case .forgotten(let number, _): return line("submission pruned", ["submission": "\(id(number) ?? "")"])
        case .quarantineLifted(let unit, _): return line("quarantine lifted", of(unit))
        case .lockSeized(let unit, let key, let reason, _):
            var metadata = of(unit)
            metadata["lock"] = "\(text(key))"
            if !reason.isEmpty { metadata["reason"] = "\(text(reason))" }
            return line("lock released by hand", metadata)
        case .attemptLost(let unit, _, let cause, _, _):
            var metadata = of(unit)
            metadata["cause"] = "\(cause)"
            return line(cause == .released ? "operation given back unbegun" : "operation lost by its worker", metadata)
        case .assigned(let unit, _, let worker, _):
            var metadata = of(unit)
            metadata["worker"] = "\(scheduler.name(of: worker))"
            return line("operation given out", metadata)
        default: return nil
        }
    }

    static func line(_ operation: EndedOperation, _ end: Tally.End, id: String) -> Line {
        var metadata: Logger.Metadata = [
            "submission": "\(id)", "operation": "\(text("\(id)/\(operation.path)"))", "type": "\(operation.type)",
        ]
        if operation.attempts > 0 { metadata["attempt"] = "\(operation.attempts)" }
        if !operation.worker.isEmpty { metadata["worker"] = "\(text(operation.worker))" }
        if let failure = operation.failure, end == .failed || end == .retrying {
            metadata["code"] = "\(failure.code)"
            metadata["error"] = "\(text(failure.message))"
        }
        switch end {
        case .succeeded: return Line(level: .debug, message: "operation succeeded", metadata: metadata)
        case .cancelled: return Line(level: .debug, message: "operation cancelled", metadata: metadata)
        case .failed: return Line(level: .notice, message: "operation failed", metadata: metadata)
        case .retrying: return Line(level: .info, message: "operation is tried again", metadata: metadata)
        }
    }

    /// The end of a submission.
    ///
    /// - Parameter failure: what it has failed with, where no line of an operation has told that.
    static func line(_ view: SubmissionView, failure: Failure?) -> Line {
        let counts = view.counts
        var metadata: Logger.Metadata = [
            "submission": "\(view.id)", "state": "\(view.state)", "succeeded": "\(counts.succeeded)", "failed": "\(counts.failed)",
            "cancelled": "\(counts.cancelled)", "milliseconds": "\(max(0, view.finishedAt - view.submittedAt))",
        ]
        if let failure {
            metadata["code"] = "\(failure.code)"
            metadata["error"] = "\(text(failure.message))"
            if !failure.origin.isEmpty { metadata["operation"] = "\(text("\(view.id)/\(failure.origin)"))" }
        }
        return Line(level: .info, message: "submission ended", metadata: metadata)
    }

    static func line(_ event: WorkerEvent) -> Line {
        let (level, message): (Logger.Level, Logger.Message) =
            switch event.kind {
            case .joined: (.info, "worker connected")
            case .back: (.info, "worker is back")
            case .draining: (.info, "worker is drained")
            case .resumed: (.info, "worker resumed")
            case .lost: (.notice, "worker lost")
            case .left: (.info, "worker left")
            case .removed: (.info, "worker removed")
            }
        return Line(level: level, message: message, metadata: ["worker": "\(text(event.worker))", "text": "\(text(event.text))"])
    }

    static func line(suspected worker: String) -> Line {
        Line(level: .info, message: "worker suspected: its connection has gone", metadata: ["worker": "\(text(worker))"])
    }

    /// On one line, not longer than fits on one, and nothing that a terminal takes for a command: what is said may be a command's output.
    private static func text(_ text: String) -> String {
        let cut = text.count > CoordinatorLimits.logTextCharacters ? "\(text.prefix(CoordinatorLimits.logTextCharacters))…" : text
        var plain = String.UnicodeScalarView()
        plain.append(contentsOf: cut.unicodeScalars.map(plainScalar))
        return String(plain)
    }

    private static func plainScalar(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x09...0x0d, 0x85, 0x2028, 0x2029: " "
        // The block "Control Pictures" begins at U+2400.
        case 0..<0x20: Unicode.Scalar(0x2400 + scalar.value) ?? "?"
        case 0x7f: "␡"
        case 0x80..<0xa0: "?"
        default: scalar
        }
    }
}
