import Foundation

/// What somebody must know of an operation to run it elsewhere, and what it has that only this process has.
package struct OperationManifest {
    package enum Body {
        case operation(any ClusterOperation)
        case group(Group)
        /// It can execute in this process only.
        case hosted(Hosted)
        /// Nothing that can run elsewhere: why.
        case none(LocalPart)
    }

    package struct Group {
        package let children: [Foundation.Operation]
        package let isOrdered: Bool
        package let stopsOnFailure: Bool
        /// Nil: unlimited.
        package let maxConcurrent: Int?
        /// Who decides what it does next; nil: nobody.
        package let decider: Decider?
    }

    package enum Decider {
        /// Any worker that has registered it.
        case registered(any ClusterGroup, Occasion)
        /// This process, by its type's name.
        case hosted(String)
        /// This process makes the operation that it stands for, once.
        case wrapper(String, hasCodec: Bool)
    }

    /// When a group is asked what it does next.
    package enum Occasion {
        case eachChild
        case failures
        /// When it begins, and after each step.
        case steps
    }

    package struct Hosted {
        /// Its type, as it is shown.
        package let typeName: String
        /// Whether its value can leave the process.
        package let hasCodec: Bool
    }

    /// Whose values it receives, in declared order.
    package struct Reception {
        package let producers: [AOperation]
        /// Whether it receives a list, also of one.
        package let isList: Bool
        /// What it receives is put together in this process: a tuple, a group's outcomes.
        package let isCustom: Bool
    }

    /// Something that lives in this process.
    package struct LocalPart {
        /// What there is, e.g. "has a `willFinish` closure".
        package let what: String
        /// What to do about it.
        package let remedy: String

        package init(_ what: String, _ remedy: String) {
            self.what = what
            self.remedy = remedy
        }
    }

    /// Of those with one id one is active at a time.
    package struct Unique {
        package let id: String
        package let joins: Bool
        /// The type of what a success delivers.
        package let output: String
    }

    package let name: String
    package let body: Body
    package let reception: Reception?
    /// Whose elements it receives while that runs.
    package let streamProducer: AOperation?
    /// Everything it waits for, its producers included.
    package let dependencies: [Foundation.Operation]
    package let conditions: [ConditionManifest]
    package let exclusions: [MutualExclusion]
    package let retry: RetryPolicy?
    /// Whether this process decides, after each failure, if it is tried again.
    package let decidesRetry: Bool
    /// Whether it receives, and nobody receives from it: a retry is that of its net.
    package let isEndOfNet: Bool
    /// Whether `willFinish` is told of its end, and holds that back.
    package let holdsEnd: Bool
    /// Of one attempt, in seconds.
    package let timeout: TimeInterval?
    /// Nil: as usual.
    package let grace: Duration?
    package let delay: Duration?
    package let notBefore: Date?
    package let queueTimeout: Duration?
    package let deadline: Duration?
    /// Among those that could start; nil: as usual.
    package let priority: Int?
    /// What its worker must have.
    package let requirements: WorkerRequirements
    /// Whether it never runs again once it may have begun.
    package let isAtMostOnce: Bool
    /// Whether it may run again without harm, also after it has succeeded.
    package let isRecomputable: Bool
    /// How many processes may die under it; nil: as usual.
    package let crashLimit: Int?
    package let unique: Unique?
    /// What keeps it from running elsewhere.
    package let localParts: [LocalPart]
}

extension AOperation {
    /// What is needed to run the operation elsewhere. A group settles which children it has: those that belong to the
    /// delivery net of a child become children too.
    package final func manifest() -> OperationManifest {
        let body = manifestBody()
        let core = core.withLock { $0 }
        let limits = core.timeLimits
        let isHosted = if case .hosted = body { true } else { false }
        let gate = (self as? GatedOperation).map { [$0.condition] as [any AOperationCondition] } ?? []
        let conditions = ConditionManifests(of: core.conditions + gate, for: self, isHosted: isHosted)
        let timeouts = core.attemptObservers.compactMap { ($0 as? TimeoutObserver)?.timeout }
        let decidesRetry = core.retryDecider != nil && core.attachments?.retryPolicy?.isPortable != true
        var (delay, notBefore): (Duration?, Date?)
        switch limits.start {
        case .delay(let wait)?: delay = wait
        case .notBefore(let date)?: notBefore = date
        case nil: break
        }
        return OperationManifest(
            name: publisherName, body: body, reception: reception(core),
            streamProducer: core.attachments?.stream?.source, dependencies: core.dependencies.all,
            conditions: conditions.conditions, exclusions: conditions.exclusions,
            retry: decidesRetry ? nil : core.attachments?.retryPolicy, decidesRetry: decidesRetry,
            isEndOfNet: core.receivers.isEmpty && reception(core) != nil && !isContainer,
            holdsEnd: self.core.withLock { _ in holdsBack() }, timeout: timeouts.min(), grace: core.grace,
            delay: delay, notBefore: notBefore, queueTimeout: limits.queueTimeout?.limit, deadline: limits.deadline,
            priority: queuePriority == .normal ? nil : queuePriority.rawValue,
            requirements: core.attachments?.requirements ?? WorkerRequirements(),
            isAtMostOnce: core.attachments?.isAtMostOnce ?? false, isRecomputable: core.attachments?.isRecomputable ?? false,
            crashLimit: core.attachments?.crashLimit, unique: manifestUnique(),
            localParts: localParts(core, body, conditions))
    }

    /// Whether anybody in a queue waits for its end whom `isKnown` does not know. What waits in a plain queue of Foundation's is
    /// not seen.
    package final func isAwaited(besides isKnown: (AOperation) -> Bool) -> Bool {
        core.withLock(\.waiters.all).contains { waiter in (waiter as? AOperation).map { !isKnown($0) } ?? true }
    }

    private func manifestBody() -> OperationManifest.Body {
        if let group = self as? GroupOperation {
            let limit = group.maxConcurrentOperationCount
            return .group(
                .init(
                    children: group.settledChildren(), isOrdered: group.isOrdered, stopsOnFailure: group.onFailure == .stop,
                    maxConcurrent: limit < 0 ? nil : limit, decider: group.decider))
        }
        if let operation = self as? any ClusterOperation, !staysHere, !hasGivenValue { return .operation(operation) }
        guard !makesParts else {
            let decider = OperationManifest.Decider.wrapper(
                "\(type(of: self))".shownName, hasCodec: ValueCodec.hasCodec(for: type(of: self).outputType))
            return .group(.init(children: [], isOrdered: false, stopsOnFailure: false, maxConcurrent: nil, decider: decider))
        }
        let output = type(of: self).outputType
        return .hosted(.init(typeName: "\(type(of: self))".shownName, hasCodec: ValueCodec.hasCodec(for: output)))
    }

    private func manifestUnique() -> OperationManifest.Unique? {
        (self as? any UniqueOperation).map { unique in
            .init(id: unique.uniqueId, joins: unique.onDuplicate == .join, output: "\(type(of: self).outputType)")
        }
    }

    /// The producers that were connected last; with earlier ones it only waits.
    private func reception(_ core: OperationCore) -> OperationManifest.Reception? {
        guard case .of(let count, let shape) = core.delivery else { return nil }
        return .init(producers: core.producers.suffix(count), isList: shape == .list, isCustom: shape == .custom)
    }

    private func localParts(
        _ core: OperationCore, _ body: OperationManifest.Body, _ conditions: ConditionManifests
    ) -> [OperationManifest.LocalPart] {
        var parts: [OperationManifest.LocalPart] = []
        func found(_ what: String, _ remedy: String) { parts.append(.init(what, remedy)) }
        var isHosted = false
        switch body {
        case .none(let part): parts.append(part)
        case .hosted(let hosted):
            isHosted = true
            parts += hostedParts(core, hosted)
        case .operation, .group: break
        }
        parts += conditions.localParts
        if makesParts {
            isHosted = true
            if core.retryDecider != nil {
                found("makes the operation that it runs and \(retryText(core))", "give that operation the retry")
            }
            if self is any UniqueOperation { found("makes the operation that it runs and has a unique id", "give that operation the id") }
        }
        if core.retryDecider != nil {
            if isContainer, core.attachments?.retryPolicy?.isPortable != true {
                found(
                    "is a group and \(retryText(core)) that this process decides",
                    "use `retry` with a RetryPolicy without `retries`, or let its children be tried again, each by itself")
            }
            if core.attachments?.retryPolicy?.isPortable != true, retriesProducers(core) {
                found(
                    "is the end of a delivery net and \(retryText(core)) that this process decides, which tries its producers again as well",
                    "use `retry` with a RetryPolicy without `retries`, or let these be tried again themselves, each with a policy of its own"
                )
            }
        }
        if (self as? any UniqueOperation)?.uniqueId.utf8.count ?? 1 > Self.uniqueIdBytesMax {
            found("has a unique id of more than \(Self.uniqueIdBytesMax) bytes", "use a shorter one, a digest for example")
        }
        if !core.injections.isEmpty { found("has an injected result (`injectResult`)", "use `deliver(to:)`") }
        if case .of(_, .custom) = core.delivery, !isHosted {
            found("receives what only this process can put together (a group's outcomes, a pair)", "let it receive values, or a list")
        }
        if core.attachments?.stream != nil, makesParts {
            found("makes the operation that it runs and receives a stream", "let that operation receive it")
        }
        if let type = (self as? any PartialResultOperation).map({ type(of: $0) }), !type.canSendElsewhere {
            if core.attachments?.streams.isEmpty == false {
                found("streams elements that have no wire form (\(type.partialResultType))", "make them Codable")
            }
            if core.attachments?.partialResults != nil {
                found("has readers of its partial results, which have no wire form (\(type.partialResultType))", "make them Codable")
            }
        }
        if isContainer, queuePriority != .normal { found("is a group with a queue priority", "give its children theirs") }
        return parts
    }

    /// What keeps an operation that executes here from being part of a graph elsewhere.
    private func hostedParts(_ core: OperationCore, _ hosted: OperationManifest.Hosted) -> [OperationManifest.LocalPart] {
        var parts: [OperationManifest.LocalPart] = []
        if core.retryDecider != nil, !isRetryable {
            parts.append(
                .init(
                    "\(retryText(core)) and executes in this process, but is no RetryableOperation",
                    "conform it to RetryableOperation, and make a fresh operation in new()"))
        }
        let requirements = core.attachments?.requirements ?? WorkerRequirements()
        if !requirements.labels.isEmpty || !requirements.resources.isEmpty {
            parts.append(.init("requires something of a worker, but executes in this process", "take `requires` off"))
        }
        if self is any UniqueOperation, !hosted.hasCodec {
            parts.append(
                .init(
                    "has a unique id and delivers \(type(of: self).outputType), which has no codec for those that join it",
                    "make that type Codable, or a ClusterValue"))
        }
        return parts
    }

    private func retryText(_ core: OperationCore) -> String {
        core.attachments?.retryPolicy == nil ? "has a `retryOnFailure` closure" : "has a RetryPolicy"
    }

    /// As a cluster takes them.
    private static let uniqueIdBytesMax = 256

    /// Whether some producer would be tried again with it: one in the same unordered group, all of whose receivers are
    /// this operation. (If there is one further up, there is one here.)
    private func retriesProducers(_ core: OperationCore) -> Bool {
        guard core.receivers.isEmpty, core.group?.isOrdered != true else { return false }
        return core.producers.contains { producer in
            guard core.attachments?.stream?.isFrom(producer) != true else { return false }
            let (receivers, group) = producer.core.withLock { ($0.receivers, $0.group) }
            return group === core.group && receivers.allSatisfy { $0 === self }
        }
    }
}

/// Types of values, to be compared without knowing them.
extension AOperation {
    /// Whether what `producer` delivers is what this operation receives: of a group a list of what each child delivers.
    package final func fits(_ producer: AOperation) -> Bool {
        guard let input = (self as? any ReceiverOperation).map({ type(of: $0).inputType }) else { return true }
        guard let group = producer as? GroupOperation else {
            return input == EncodedValue.self || ValueCodec.isAlike(input, type(of: producer).outputType)
        }
        // It is a `VoidOperation`, too.
        if input == Void.self { return true }
        guard let element = (input as? any ListValue.Type)?.elementType else { return false }
        return group.operations.allSatisfy { child in
            guard let child = child as? AOperation, !child.isContainer else { return false }
            return type(of: child).outputType == element
        }
    }

    /// What its success delivers, in words.
    package final var deliveredTypeName: String {
        isContainer ? "its children's values, not all of that type" : "\(type(of: self).outputType)"
    }

    package final var inputTypeName: String {
        (self as? any ReceiverOperation).map { "\(type(of: $0).inputType)" } ?? "nothing"
    }

    /// Everything that has to end, or to start, before this operation can end: what it waits for, the groups around it,
    /// and those inside of it.
    package final var prerequisites: [Foundation.Operation] {
        let (dependencies, group, whole) = core.withLock { ($0.dependencies.all, $0.group, $0.whole) }
        return dependencies + [group, whole].compactMap { $0 }.flatMap(\.dependencies) + openMembers
    }
}

extension String {
    /// Of names for people as much as a cluster takes; those of generic types may be long.
    var shownName: String {
        var name = unicodeScalars.prefix(Self.shownNameBytesMax)
        while String(name).utf8.count > Self.shownNameBytesMax { name = name.dropLast() }
        return String(name)
    }

    private static let shownNameBytesMax = 200
}
