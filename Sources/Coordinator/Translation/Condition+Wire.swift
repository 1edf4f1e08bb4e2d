import Foundation
import Scheduling
import Wire

extension Scheduling.Condition {
    /// - Throws: `TranslationError` for a condition without a kind, and for names that are too long.
    init(wire: WireCondition, index: Int) throws(TranslationError) {
        let kind: Kind
        switch wire.kind {
        case .noFailedDependencies: kind = .noFailedDependencies
        case .noCancelledDependencies: kind = .noCancelledDependencies
        case .timeWindow(let window):
            try TranslationError.checkName(window.zone, "the time zone of a condition of node \(index) of the graph")
            kind = .timeWindow(
                TimeWindow(startMinute: Int(window.startMinute), endMinute: Int(window.endMinute), zone: window.zone))
        case .rateLimit(let limit):
            try TranslationError.checkName(limit.key, "the key of a rate limit of node \(index) of the graph")
            guard limit.perMilliseconds <= UInt32.max else {
                throw TranslationError(
                    "node \(index) of the graph has a rate limit per \(limit.perMilliseconds) ms; the limit is \(UInt32.max) ms (49 days)")
            }
            kind = .rateLimit(
                Scheduling.RateLimit(key: limit.key, count: Int(limit.count), perMilliseconds: Int64(limit.perMilliseconds)))
        case .probe(let probe):
            try TranslationError.checkName(probe.type, "the type of a condition of node \(index) of the graph")
            kind = .probe(
                Probe(
                    type: probe.type, parameters: Int(probe.parameters), isTemplated: probe.templated, waits: probe.wait,
                    isHosted: probe.hosted))
        case nil:
            throw TranslationError(
                "node \(index) of the graph has a condition of a kind that this coordinator (\(ProductVersion.current)) does not know"
                    + "; the client may be newer")
        }
        self.init(kind, isNegated: wire.negated)
    }
}

extension ConditionQuestion {
    var wire: WireConditionQuestion {
        var wire = WireConditionQuestion()
        wire.condition = UInt32(clamping: condition)
        wire.type = type
        wire.parameters = Data(parameters)
        wire.templated = isTemplated
        wire.negated = isNegated
        wire.wait = waits
        wire.failedParts = failedParts.map { part in
            .with {
                $0.part = UInt32(clamping: part.part)
                $0.failure = part.failure.wire
            }
        }
        return wire
    }

    /// About how many bytes it takes.
    var wireBytes: Int { 24 + type.utf8.count + parameters.count + failedParts.reduce(0) { $0 + 8 + $1.failure.wireBytes } }
}

extension ConditionAnswer {
    /// - Throws: `TranslationError` for an unknown finding, or an encoded error above `Limits.inlineValueBytes`.
    init(wire: WireConditionAnswer) throws(TranslationError) {
        let finding: Finding
        switch wire.finding {
        case .satisfied: finding = .satisfied
        case .failed: finding = .failed
        case .ignored: finding = .ignored
        case .notNow: finding = .retryAfter(milliseconds: Int64(wire.retryAfterMilliseconds))
        case .UNRECOGNIZED(let number): throw TranslationError("an answer to a condition with the unknown finding \(number)")
        }
        guard wire.error.count <= Limits.inlineValueBytes else {
            throw TranslationError("an encoded error of \(wire.error.count) bytes; the limit is \(Limits.inlineValueBytes)")
        }
        self.init(
            condition: Int(wire.condition), finding: finding, reason: Failure.cut(wire.reason, Failure.reasonBytesMax),
            image: finding == .failed ? [UInt8](wire.error) : [])
    }
}

extension ConditionView {
    var wire: WireConditionView {
        var wire = WireConditionView()
        wire.key = key
        switch verdict.finding {
        case .satisfied: wire.finding = .satisfied
        case .failed: wire.finding = .failed
        case .ignored: wire.finding = .ignored
        case .notNow(let until):
            wire.finding = .notNow
            wire.until = until
        }
        wire.reason = verdict.reason
        wire.evaluator = verdict.evaluator
        wire.at = verdict.at
        return wire
    }
}
