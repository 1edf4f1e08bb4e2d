import Logging

/// Counts what peers should not have sent, and says so in the log: of everybody from whom it comes ever more seldom while it goes on, and of
/// all together no more than a disk can take. What is not said is counted, and that is said.
struct ProtocolCounters {
    enum Kind: String, CaseIterable {
        /// Bytes that are no message.
        case garbage
        /// A message that decodes but breaks the protocol.
        case violation
        /// A connection that did not come to be.
        case handshake
        /// One that showed no key where keys are asked for, or the other way round.
        case keyless
        /// One that could not be accepted.
        case accepting
        /// A connection whose key is not authorised.
        case denied
        /// A hello, a request or a message that its key may not send.
        case notPermitted
        /// The file of authorised keys cannot be changed when a host joins.
        case keys
        /// A hello that was refused.
        case refused
        /// Output of an attempt that is not known (any more).
        case strayOutput

        /// Attempts leave output behind: no operator has to act on that.
        var level: Logger.Level {
            switch self {
            case .keys, .accepting: .error
            case .garbage, .violation, .refused, .denied, .notPermitted, .handshake, .keyless: .warning
            case .strayOutput: .info
            }
        }
    }

    private struct Origin: Hashable {
        let kind: Kind
        let source: LogSource
    }

    /// Origins with a limit of their own; the others share what the log takes of their kind. Keys cost a stranger nothing.
    private static let originsMax = 1000
    /// Addresses that have a first line beside the budget of their kind, in the time in which it is not taken for another one.
    private static let firstsMax = 500
    private static let firstMilliseconds: Int64 = 3_600_000
    private static let intervalMilliseconds: Int64 = 1000
    private static let intervalMillisecondsMax: Int64 = 60_000

    private(set) var counts: [Kind: UInt64] = [:]
    private var limits: [Origin: RateLimit] = [:]
    private var budgets: [Kind: LineBudget] = [:]
    /// Addresses that have had their first line of a kind, whoever else is loud, and when (boot time).
    private var firsts: [Origin: Int64] = [:]
    /// Counted, and not told of yet.
    private var unsaid = 0

    mutating func note(
        _ kind: Kind, from source: LogSource, _ text: @autoclosure () -> String, _ now: Int64, _ logger: Logger
    ) {
        counts[kind, default: 0] += 1
        unsaid += 1
        guard let skipped = admit(Origin(kind: kind, source: source), now) else { return }
        let isFirst = isFirst(kind, source, now)
        guard let others = isFirst ? 0 : budgets[kind, default: LineBudget()].take(1 + skipped, at: now) else { return }
        unsaid -= 1 + skipped + others
        log(kind, "\(text())\(skipped == 0 ? "" : " (\(skipped) more like this were not logged)")\(Self.text(others))", logger)
    }

    /// Whether ``noteRest(_:_:)`` will have something to say.
    var hasRest: Bool { unsaid > 0 }

    /// Says what ``note(_:from:_:_:_:)`` has kept quiet where nothing of the kind has come since: the log has all of them then.
    mutating func noteRest(_ now: Int64, _ logger: Logger) {
        guard unsaid > 0 else { return }
        for (origin, limit) in limits where limit.hasRest {
            guard let count = limits[origin]?.rest(at: now),
                let others = budgets[origin.kind, default: LineBudget()].take(count, at: now)
            else { continue }
            unsaid -= count + others
            log(origin.kind, "\(count) more like the last one\(origin.source.text) were not logged\(Self.text(others))", logger)
        }
        for kind in Kind.allCases {
            guard let count = budgets[kind]?.rest(at: now) else { continue }
            unsaid -= count
            log(kind, "\(count) more like these were not logged", logger)
        }
    }

    /// - Returns: nil: keep quiet; else how many from there were kept quiet before it.
    private mutating func admit(_ origin: Origin, _ now: Int64) -> Int? {
        if limits[origin] == nil {
            if limits.count >= Self.originsMax { limits = limits.filter { !$0.value.isOver(at: now) } }
            guard limits.count < Self.originsMax else { return 0 }
        }
        return limits[
            origin,
            default: RateLimit(
                intervalMilliseconds: Self.intervalMilliseconds, intervalMillisecondsMax: Self.intervalMillisecondsMax)
        ].admit(at: now)
    }

    /// Whether nothing of the kind has come from the address for long: what others send does not keep that out of the log.
    private mutating func isFirst(_ kind: Kind, _ source: LogSource, _ now: Int64) -> Bool {
        guard let address = source.address else { return false }
        let origin = Origin(kind: kind, source: LogSource(address: address))
        if firsts[origin] == nil, firsts.count >= Self.firstsMax { firsts = firsts.filter { now - $0.value < Self.firstMilliseconds } }
        if let earlier = firsts[origin] {
            guard now - earlier >= Self.firstMilliseconds else { return false }
        } else if firsts.count >= Self.firstsMax {
            return false
        }
        firsts[origin] = now
        return true
    }

    private static func text(_ others: Int) -> String { others == 0 ? "" : "; \(others) more like it from elsewhere were not logged" }

    private func log(_ kind: Kind, _ text: String, _ logger: Logger) {
        logger.log(level: kind.level, "\(kind.rawValue): \(text)", metadata: ["total": "\(counts[kind, default: 0])"])
    }
}
