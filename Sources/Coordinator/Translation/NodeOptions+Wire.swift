import Scheduling
import Wire

extension NodeOptions {
    /// - Throws: `TranslationError` for numbers out of range.
    init(wire: WireNode, index: Int) throws(TranslationError) {
        self.init()
        func duration(_ value: UInt64, _ name: String) throws(TranslationError) -> Int64 {
            guard value <= UInt32.max else {
                throw TranslationError(
                    "node \(index) of the graph has a \(name) of \(value) ms; the limit is \(UInt32.max) ms (49 days)")
            }
            return Int64(value)
        }
        delayMilliseconds = try duration(wire.delayMilliseconds, "delay")
        notBefore = wire.notBefore
        deadlineMilliseconds = try duration(wire.deadlineMilliseconds, "deadline")
        deadline = wire.deadline
        queueTimeoutMilliseconds = try duration(wire.queueTimeoutMilliseconds, "queue timeout")
        if wire.hasBackoff {
            guard let kind = Backoff.Kind(rawValue: UInt8(clamping: wire.backoff.kind.rawValue)) else {
                throw TranslationError(
                    "node \(index) of the graph has a back-off that this coordinator (\(ProductVersion.current)) does not know; the client may be newer"
                )
            }
            backoff = Backoff(
                kind: kind, initialMilliseconds: try duration(wire.backoff.initialMilliseconds, "back-off"),
                maxMilliseconds: try duration(wire.backoff.maxMilliseconds, "back-off"), jitterPermille: Int(wire.backoff.jitterPermille),
                factorPermille: wire.backoff.factorPermille == 0 ? 2_000 : Int(wire.backoff.factorPermille))
        }
        try TranslationError.checkCount(
            wire.retryOn.count, "reasons to try node \(index) again", limit: CoordinatorLimits.retryReasons, named: "retryReasons")
        for reason in wire.retryOn { retryOn.append(try RetryReason(wire: reason, node: index)) }
        atMostOnce = wire.atMostOnce
        recomputable = wire.recomputable
        isHosted = wire.hosted
        say = SubmitterSay(holds: wire.willFinish, retries: wire.retryOnFailure)
        hostedTimeoutMilliseconds = try duration(wire.hostedTimeoutMilliseconds, "time limit for hosted steps")
        if wire.hasPrepares { prepares = Int(wire.prepares) }
        if wire.hasPreparesPart { preparesPart = Int(wire.preparesPart) }
        if wire.hasStream { stream = Int(wire.stream) }
        retriesNet = wire.retriesNet
        isAwaitedElsewhere = wire.awaitedElsewhere
        isDescribed = wire.described
        beginsCancelled = wire.beginsCancelled
        if wire.hasEndedBefore {
            for name in wire.endedBefore.failed + wire.endedBefore.cancelled {
                try TranslationError.checkName(name, "a dependency of node \(index) of the graph, which is not in it,")
            }
            endedBefore = EndsBefore(failed: wire.endedBefore.failed, cancelled: wire.endedBefore.cancelled)
        }
        if wire.hasPriority { priority = Int(wire.priority) }
        if wire.hasCrashLimit { crashLimit = Int(wire.crashLimit) }
        weight = Int(wire.weight)
        for exclusive in wire.exclusive {
            try TranslationError.checkKey(exclusive.key, "a key of node \(index) of the graph")
            self.exclusive.append(Exclusion(key: exclusive.key, limit: exclusive.limit == 0 ? 1 : Int(exclusive.limit)))
        }
        if wire.hasRequires {
            try TranslationError.checkCount(
                wire.requires.labels.count + wire.requires.resources.count, "requirements of node \(index)",
                limit: CoordinatorLimits.requirements, named: "requirements")
            requires = try Requirements(wire: wire.requires, index: index)
        }
        if wire.hasUnique {
            try TranslationError.checkName(wire.unique.output, "the output of node \(index) of the graph")
            unique = Uniqueness(
                id: wire.unique.id, isTemplated: wire.unique.templated, joins: wire.unique.join, output: wire.unique.output)
        }
        try take(wire.conditions, index: index)
    }
}

extension RetryReason {
    fileprivate init(wire: WireRetryReason, node: Int) throws(TranslationError) {
        switch wire.reason {
        case .exitCode(let code): self = .exitCode(code)
        case .signal(let number): self = .signal(number)
        case .error(let name):
            try TranslationError.checkName(name, "an error that node \(node) of the graph is tried again for")
            self = .error(name)
        case nil: throw TranslationError("node \(node) of the graph has an empty reason to be tried again")
        }
    }
}
