import Scheduling
import Wire

/// What an attempt's end brings: everything, or the name of a large value that is asked for first.
enum ReportedEnd {
    case whole(AttemptOutcome)
    case value(PayloadEncoding, BlobKey, Addition?)
    case elements(BlobKey)

    /// Reads an attempt's end. What a worker reports against the protocol becomes the failure of that attempt: were it
    /// dropped, the unit would wait for ever.
    init(wire: WireAttemptEnd, host: String) {
        do throws(TranslationError) { self = try Self.read(wire) } catch {
            self = .whole(.failure([Self.unreadable("\(error)", host: host)]))
        }
    }

    /// The failure of an attempt whose result could not be taken over.
    static func unreadable(_ reason: String, host: String) -> Failure {
        Failure(code: .operation, message: "the worker's result cannot be taken over: \(reason)", host: host)
    }

    private static func read(_ wire: WireAttemptEnd) throws(TranslationError) -> ReportedEnd {
        switch wire.outcome {
        case .success(let value):
            let addition = wire.hasAddition ? try Addition(wire: wire.addition) : nil
            if case .blob(let reference) = value.storage {
                return .value(try PayloadEncoding(wire: value.encoding), try BlobKey(wire: reference), addition)
            }
            return .whole(AttemptOutcome(try Payload(inline: value), addition))
        case .failure(let failures): return .whole(.failure(try [Failure](wire: failures)))
        case .stopped: return .whole(.stopped)
        case .elements(let elements): return .whole(.elements(try Self.elements(elements)))
        case .storedElements(let reference):
            return .elements(try BlobKey(wire: reference, limit: CoordinatorLimits.elementsBytes))
        case .answers(let answers):
            try TranslationError.checkCount(
                answers.answers.count, "answers to conditions", limit: CoordinatorLimits.answersPerUnit, named: "answersPerUnit")
            var read: [ConditionAnswer] = []
            for answer in answers.answers { read.append(try ConditionAnswer(wire: answer)) }
            return .whole(.answers(read))
        case .concluded(let conclusion):
            let wait = conclusion.hasRetryAfterMilliseconds ? Int64(min(conclusion.retryAfterMilliseconds, UInt64(UInt32.max))) : nil
            return .whole(.concluded(wait))
        case .decided(let decision): return .whole(.decided(try GroupDecision(wire: decision)))
        case nil: throw TranslationError("it has no outcome; the worker may be newer than this coordinator")
        }
    }

    /// - Throws: `TranslationError` above `Limits.forEachElements`.
    static func elements(_ wire: WireElements) throws(TranslationError) -> [[UInt8]] {
        try TranslationError.checkCount(
            wire.elements.count, "elements for a forEach", limit: Limits.forEachElements, named: "forEachElements")
        for element in wire.elements { try TranslationError.checkBytes(element.count, "the list for a forEach has an element") }
        return wire.elements.map { [UInt8]($0) }
    }
}

extension AttemptOutcome {
    /// A success, with what it adds to its group if it does.
    init(_ payload: Payload, _ addition: Addition?) {
        if let addition { self = .production(payload, addition) } else { self = .success(payload) }
    }
}

extension Addition {
    init(wire: WireAddition) throws(TranslationError) {
        self.init(
            id: wire.hasID ? wire.id : nil, graph: try Graph(wire: wire.graph), products: wire.products.map(Int.init))
    }
}
