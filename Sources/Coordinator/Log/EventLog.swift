import DequeModule
import Logging
import Scheduling

/// What a coordinator's log says of its work: a line for each event, with ids, as soon as that is on the disk.
///
/// Nothing is made of what the level leaves out: whether a fact has a line is looked up by its kind alone.
struct EventLog {
    struct Line {
        var level: Logger.Level
        var message: Logger.Message
        var metadata: Logger.Metadata
    }

    private let logger: Logger
    /// What is not on the disk yet.
    private var waiting: Deque<(line: Line, after: JournalSequence)> = []
    /// How many failed attempts of operations had a line, by submission, while it has not ended.
    private var failures: [SubmissionNumber: Int] = [:]

    init(_ logger: Logger) { self.logger = logger }

    /// What the scheduler is to tell.
    var telling: Happening.Telling {
        isOn(.debug) ? .everything : isOn(.notice) ? .failures : .nothing
    }

    func isOn(_ level: Logger.Level) -> Bool { logger.logLevel <= level }

    /// A line that may be written when the journal is durable up to `after`.
    mutating func append(_ line: Line, after: JournalSequence) {
        if isOn(line.level) { waiting.append((line, after)) }
    }

    /// As `append`, of a failed attempt: of one submission so many have a line, and the last of them says that there are more.
    mutating func append(failure line: Line, of number: SubmissionNumber, after: JournalSequence) {
        guard !isOn(.debug), isOn(line.level) else { return append(line, after: after) }
        let count = failures[number, default: 0] + 1
        guard count <= CoordinatorLimits.failureLinesPerSubmission else { return }
        failures[number] = count
        append(line, after: after)
        guard count == CoordinatorLimits.failureLinesPerSubmission else { return }
        append(
            Line(
                level: line.level,
                message:
                    "\(count) attempts of a submission have failed (failureLinesPerSubmission); its others are in the log from level debug on",
                metadata: ["submission": line.metadata["submission"] ?? ""]), after: after)
    }

    mutating func forget(_ number: SubmissionNumber) {
        if !failures.isEmpty { failures[number] = nil }
    }

    mutating func release(upTo durable: JournalSequence) {
        while let first = waiting.first, first.after <= durable {
            waiting.removeFirst()
            logger.log(level: first.line.level, first.line.message, metadata: first.line.metadata)
        }
    }
}
