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
            try TranslationError.checkKey(limit.key, "the key of a rate limit of node \(index) of the graph")
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
        case .composed, nil:
            throw TranslationError(
                "node \(index) of the graph has a condition of a kind that this coordinator (\(ProductVersion.current)) does not know"
                    + "; the client may be newer")
        }
        self.init(kind, isNegated: wire.negated)
    }
}

extension NodeOptions {
    /// Takes what the node requires: its conditions, and what is made of them.
    ///
    /// - Throws: `TranslationError` for a condition that cannot be expressed.
    mutating func take(_ wire: [WireCondition], index: Int) throws(TranslationError) {
        var trees: [ConditionTree] = []
        for condition in wire { trees.append(try take(condition, index: index, depth: 0)) }
        conditionTrees = trees.allSatisfy({ $0.parts.isEmpty && !$0.leaves.isEmpty }) ? [] : trees
    }

    private mutating func take(_ wire: WireCondition, index: Int, depth: Int) throws(TranslationError) -> ConditionTree {
        guard case .composed(let composed)? = wire.kind else {
            conditions.append(try Condition(wire: wire, index: index))
            return .leaf(conditions.count - 1)
        }
        guard depth < CoordinatorLimits.conditionDepth else {
            throw TranslationError(
                "node \(index) of the graph has conditions that are made of others more than \(CoordinatorLimits.conditionDepth) deep")
        }
        var parts: [ConditionTree] = []
        for part in composed.parts { parts.append(try take(part, index: index, depth: depth + 1)) }
        let tree: ConditionTree
        switch (composed.form, parts.count) {
        case (.all, _): tree = .all(parts)
        case (.any, _): tree = .any(parts)
        case (.not, 1): tree = .not(parts[0])
        case (.ignored, 1): tree = .ignored(parts[0])
        case (.not, let count), (.ignored, let count):
            throw TranslationError("node \(index) of the graph has a condition that is made of one other, with \(count) of them")
        case (.UNRECOGNIZED(let number), _):
            throw TranslationError("node \(index) of the graph has a condition that is made of others in the unknown form \(number)")
        }
        return wire.negated ? .not(tree) : tree
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
        var image: [UInt8] = []
        if finding == .failed, wire.hasFailure {
            var failure = try Failure(wire: wire.failure)
            failure.message = ""
            image = Failure.image(of: failure)
        } else if finding == .failed, !Failure.isReserved(wire.error) {
            image = [UInt8](wire.error)
        }
        self.init(
            condition: Int(wire.condition), finding: finding, reason: Failure.cut(wire.reason, Failure.reasonBytesMax), image: image)
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
