import Wire

// What operations say while they run, and what their conditions said.

extension WireProgress {
    package var json: JSONValue {
        .object([("fraction", .number(fraction)), ("message", hasMessage ? .string(message) : .null), ("at", .time(at))])
    }
}

extension WireOutputRecord {
    package var json: JSONValue {
        .object([
            ("path", .string(path)), ("attempt", .integer(Int64(attemptNumber))), ("stream", .string(stream.word)),
            ("at", .time(at)), ("text", .string(String(decoding: bytes, as: UTF8.self))), ("truncated", .bool(truncated)),
        ])
    }
}

extension WireConditionView {
    package var word: String {
        switch finding {
        case .satisfied: "satisfied"
        case .failed: "failed"
        case .ignored: "ignored"
        case .notNow: "notNow"
        case .UNRECOGNIZED: "unknown"
        }
    }

    /// An element of an operation's `conditions`.
    package var json: JSONValue {
        .object([
            ("condition", .string(key)), ("verdict", .string(word)), ("reason", .optional(reason)),
            ("evaluator", .string(evaluator.isEmpty ? "coordinator" : evaluator)), ("at", .time(at)), ("until", .time(until)),
        ])
    }
}

extension WireWorkerEvent {
    /// Of the stream of the cluster's events.
    package var json: JSONValue {
        .object([("at", .time(at)), ("worker", .string(worker)), ("event", .string(event)), ("text", .optional(text))])
    }
}
