/// An attempt of an operation that is not its newest, or of which nothing counts: for those who look.
public struct EarlierAttempt: Hashable, Sendable {
    public enum Ending: UInt8, Hashable, Sendable {
        /// With a success that did not count, or counts no more: what it followed on, or is part of, was tried again.
        case succeeded = 0
        case failed
        /// It was told to end, or ended itself as cancelled.
        case cancelled
        /// With its worker.
        case lost
    }
    /// From 1.
    public var number: Int32
    public var worker: WorkerNumber
    /// Wall-clock milliseconds since 1970.
    public var startedAt: Int64
    public var endedAt: Int64
    public var ending: Ending
    /// It was the operation's end, until its group was tried again.
    public var wasEnd: Bool
    /// Why it failed, was ended or was lost; empty: nothing is known of that.
    public var text: String

    /// In a snapshot, beside the ending: whether it was the operation's. Layouts before the fifteenth do not say.
    fileprivate static let (saysSo, isEnd): (UInt8, UInt8) = (0x80, 0x40)
}

extension Submission {
    /// Those of one unit that are kept: the last ones.
    static let earlierAttemptsMax = 20
    /// Of one text; the rest is cut off.
    static let earlierTextCharacters = 200

    /// The unit's attempt has ended, which is not the unit's end.
    mutating func noteEarlierAttempt(of unit: Int, _ outcome: AttemptOutcome, startedAt: Int64, endedAt: Int64) {
        let (ending, text): (EarlierAttempt.Ending, String) =
            switch (units[unit].phase, outcome) {
            // A timeout makes a failure of it, whatever it says itself.
            case (.retryWait, _): (.failed, lastFailures[Int32(unit)]?.message ?? "")
            case (_, .failure(let failures)): (.failed, failures.first?.message ?? "")
            case (_, .success), (_, .production): (.succeeded, "")
            case (_, .stopped), (_, .elements), (_, .answers), (_, .decided), (_, .concluded): (.cancelled, "")
            }
        append(ending, text, to: unit, startedAt: startedAt, endedAt: endedAt)
    }

    /// The unit's attempt is over with its worker, or was given up with it.
    mutating func noteEarlierAttempt(lost unit: Int, _ cause: LossCause, startedAt: Int64, at: Int64) {
        switch units[unit].stop {
        case nil, .streamVoided?: append(.lost, lossText(of: unit, cause) ?? "", to: unit, startedAt: startedAt, endedAt: at)
        case .some(let reason): append(.cancelled, requestText(of: unit, reason), to: unit, startedAt: startedAt, endedAt: at)
        }
    }

    /// The unit, which has ended, begins anew with its group.
    mutating func noteEarlierAttempt(forgotten unit: Int) {
        guard let outcome = units[unit].outcome else { return }
        let (ending, text): (EarlierAttempt.Ending, String) =
            switch outcome {
            case .success: (.succeeded, "")
            case .failure(let failures): (.failed, failures.first?.message ?? "")
            case .cancelled: (.cancelled, "")
            }
        append(ending, text, to: unit, startedAt: units[unit].startedAt, endedAt: units[unit].finishedAt, wasEnd: true)
    }

    private mutating func append(
        _ ending: EarlierAttempt.Ending, _ text: String, to unit: Int, startedAt: Int64, endedAt: Int64, wasEnd: Bool = false
    ) {
        guard startedAt > 0, node(unit).isOperation, !units[unit].isEvaluating, let worker = units[unit].lastWorker else { return }
        var attempts = earlierAttempts[Int32(unit)] ?? []
        var startedAt = startedAt
        if let last = attempts.last, last.number == units[unit].attempts {
            // Its success, which did not count, is known.
            guard wasEnd, !last.wasEnd else { return }
            // How it ended by itself, before the operation ended without another one, stays known.
            if last.ending == ending { attempts.removeLast() } else { startedAt = endedAt }
        }
        if attempts.count == Self.earlierAttemptsMax { attempts.removeFirst() }
        attempts.append(
            EarlierAttempt(
                number: units[unit].attempts, worker: worker, startedAt: startedAt, endedAt: max(startedAt, endedAt), ending: ending,
                wasEnd: wasEnd, text: String(text.prefix(Self.earlierTextCharacters))))
        earlierAttempts[Int32(unit)] = attempts
    }

    /// Those that are not what the unit itself shows: its newest attempt may be among them while it is not decided whether that counts.
    @inline(__always)  // else the submission is copied for the call
    func shownEarlierAttempts(of unit: Int) -> [EarlierAttempt] {
        guard !earlierAttempts.isEmpty, let attempts = earlierAttempts[Int32(unit)] else { return [] }
        guard units[unit].startedAt > 0 else { return attempts }
        return attempts.filter { $0.number != units[unit].attempts || !isShown($0, by: unit) }
    }

    /// Whether what the unit shows as its own is this attempt, its newest one: it may have ended without another attempt, by a stop or by a
    /// condition.
    @inline(__always)
    private func isShown(_ attempt: EarlierAttempt, by unit: Int) -> Bool {
        switch (units[unit].outcome, attempt.ending) {
        case (nil, _): units[unit].phase == .provisional
        case (.failure(let failures)?, .failed): attempt.text == (failures.first?.message ?? "").prefix(Self.earlierTextCharacters)
        case (.failure?, .lost), (.success?, .succeeded), (.cancelled?, .cancelled): true
        case (.failure?, _), (.success?, _), (.cancelled?, _): false
        }
    }
}

extension ByteWriter {
    mutating func write(earlierAttempts attempts: [EarlierAttempt]) {
        write(list: attempts) { writer, attempt in
            writer.write(attempt.number)
            writer.write(UInt64(attempt.worker.rawValue))
            writer.write(attempt.startedAt)
            writer.write(attempt.endedAt)
            writer.write(attempt.ending.rawValue | EarlierAttempt.saysSo | (attempt.wasEnd ? EarlierAttempt.isEnd : 0))
            writer.write(attempt.text)
        }
    }
}

extension ByteReader {
    mutating func earlierAttempts() throws(DecodingFailure) -> [EarlierAttempt] {
        try list { reader throws(DecodingFailure) in
            let (number, worker) = (try reader.signed32(), WorkerNumber(try reader.unsigned32()))
            let (startedAt, endedAt) = (try reader.signed(), try reader.signed())
            let byte = try reader.byte()
            guard let ending = EarlierAttempt.Ending(rawValue: byte & ~(EarlierAttempt.saysSo | EarlierAttempt.isEnd)) else {
                throw DecodingFailure("an attempt's end is \(byte)")
            }
            let wasEnd = byte & EarlierAttempt.saysSo != 0 ? byte & EarlierAttempt.isEnd != 0 : ending == .succeeded || ending == .cancelled
            return EarlierAttempt(
                number: number, worker: worker, startedAt: startedAt, endedAt: endedAt, ending: ending,
                wasEnd: wasEnd, text: try reader.text())
        }
    }
}
