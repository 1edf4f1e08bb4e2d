/// A failure after which a unit was tried again, and behind which no attempt of a worker stands: by a condition, or of a group.
struct EarlierFailure: Hashable {
    /// Of a group: the attempt that failed, from 1. 0: it had not begun.
    var number: Int32
    /// Wall-clock milliseconds since 1970.
    var at: Int64
    var text: String
}

/// Those of one unit.
struct EarlierFailures: Hashable {
    /// Since when the unit waited to be started when the first of them came; 0: it did not.
    var since: Int64
    /// How many there were.
    var count: Int32 = 0
    /// The last of them.
    var last: [EarlierFailure] = []
}

extension Submission {
    /// Failures of one unit that are named in one text.
    private static let failuresPerText = 10

    /// The unit is about to wait to be tried again. What a worker's attempt has failed with is kept with that.
    mutating func noteEarlierFailure(of unit: Int, _ failures: [Failure], leading: Failure?, at: Int64) {
        switch units[unit].phase {
        case .open:
            append(of: unit, units[unit].attempts, failures, leading: leading, at: at)
        // An attempt has failed, or the submitter has said something to a failure.
        case .assigned:
            if isByConditions(failures, unit) {
                append(of: unit, 0, failures, leading: leading, at: at)
            } else if !node(unit).isOperation {
                append(of: unit, units[unit].attempts, failures, leading: leading, at: at)
            }
        case .blocked, .delayed, .held, .paused, .wanting, .locking, .preparing, .ready, .postponed, .provisional, .retryWait, .ended,
            .lingering, .dropped:
            append(of: unit, 0, failures, leading: leading, at: at)
        }
    }

    /// The unit, which has ended, begins anew with its group.
    mutating func noteEarlierFailure(forgotten unit: Int) {
        guard case .failure(let failures)? = units[unit].outcome else { return }
        noteEarlierFailure(whole: unit, failures, at: units[unit].finishedAt)
    }

    /// The unit, whose end is held, begins anew with its delivery net.
    mutating func noteEarlierFailure(held unit: Int) {
        guard case .failure(let failures)? = scoped[Int32(unit)] else { return }
        let times = isByConditions(failures, unit) ? verdicts[Int32(unit)]?.map(\.at) : children(of: unit).map { units[$0].finishedAt }
        if let at = times?.max() { noteEarlierFailure(whole: unit, failures, at: at) }
    }

    private mutating func noteEarlierFailure(whole unit: Int, _ failures: [Failure], at: Int64) {
        if isByConditions(failures, unit) {
            append(of: unit, 0, failures, leading: nil, at: at)
        } else if !node(unit).isOperation, !isDecider(unit), units[unit].attempts > 0 {
            append(of: unit, units[unit].attempts, failures, leading: nil, at: at)
        }
    }

    private func isByConditions(_ failures: [Failure], _ unit: Int) -> Bool {
        !failures.isEmpty && hasConditions(unit) && failures == conditionFailures(unit)
    }

    private mutating func append(of unit: Int, _ number: Int32, _ failures: [Failure], leading: Failure?, at: Int64) {
        var earlier = earlierFailures[Int32(unit)] ?? EarlierFailures(since: units[unit].queuedAt)
        earlier.count += 1
        if earlier.last.count == Self.earlierAttemptsMax { earlier.last.removeFirst() }
        earlier.last.append(EarlierFailure(number: number, at: at, text: earlierText(of: unit, failures, leading: leading)))
        earlierFailures[Int32(unit)] = earlier
    }

    private func earlierText(of unit: Int, _ failures: [Failure], leading: Failure?) -> String {
        let path = path(of: unit)
        let first = leading ?? leadingFailure(of: unit, failures)
        let own = first.map { failures.first == $0 ? failures : [$0] + failures } ?? failures
        guard !own.isEmpty else { return "\(units[unit].unsuccessfulChildren) of its members did not succeed" }
        let texts = own.prefix(Self.failuresPerText).map { failure in
            let isOwn = failure.origin.isEmpty || failure.origin == path
            let source = isOwn ? (failure.isCondition ? failure.publisher : "") : failure.origin
            let message = failure.message.prefix(Self.earlierTextCharacters)
            return source.isEmpty || message.isEmpty ? "\(source)\(message)" : "\(source): \(message)"
        }
        return String(texts.joined(separator: "; ").prefix(Self.earlierTextCharacters))
    }
}

extension ByteWriter {
    mutating func write(earlierFailures earlier: EarlierFailures) {
        write(earlier.since)
        write(earlier.count)
        write(list: earlier.last) { writer, failure in
            writer.write(failure.number)
            writer.write(failure.at)
            writer.write(failure.text)
        }
    }
}

extension ByteReader {
    mutating func earlierFailures() throws(DecodingFailure) -> EarlierFailures {
        let (since, count) = (try signed(), try signed32())
        let last = try list { reader throws(DecodingFailure) in
            EarlierFailure(number: try reader.signed32(), at: try reader.signed(), text: try reader.text())
        }
        guard count >= last.count, count < .max else { throw DecodingFailure("\(count) failures were kept as \(last.count)") }
        return EarlierFailures(since: since, count: count, last: last)
    }
}
