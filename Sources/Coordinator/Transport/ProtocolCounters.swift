import Logging

/// Counts what peers should not have sent, and says so in the log now and then.
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

    private(set) var counts: [Kind: UInt64] = [:]
    private var limits: [Kind: RateLimit] = [:]

    mutating func note(_ kind: Kind, _ text: @autoclosure () -> String, _ now: Int64, _ logger: Logger) {
        counts[kind, default: 0] += 1
        guard let skipped = limits[kind, default: RateLimit()].allow(at: now) else { return }
        logger.log(
            level: kind.level, "\(kind.rawValue): \(text())\(skipped)", metadata: ["total": "\(counts[kind, default: 0])"])
    }

    /// Whether ``noteRest(_:_:)`` will have something to say.
    var hasRest: Bool { limits.values.contains(where: \.hasRest) }

    /// Says what ``note(_:_:_:_:)`` has kept quiet where nothing of the kind has come since: the log has all of them then.
    mutating func noteRest(_ now: Int64, _ logger: Logger) {
        for kind in Kind.allCases {
            guard let count = limits[kind]?.rest(at: now) else { continue }
            logger.log(
                level: kind.level, "\(kind.rawValue): \(count) more like the last one were not logged",
                metadata: ["total": "\(counts[kind, default: 0])"])
        }
    }
}
