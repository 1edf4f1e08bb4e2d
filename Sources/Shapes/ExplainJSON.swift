import Wire

extension WireExplanation {
    /// Of `explain`.
    package var members: [(String, JSONValue)] {
        [
            ("id", .string(submission)), ("operation", .string(path.isEmpty ? submission : "\(submission)/\(path)")),
            ("type", .optional(kind == .operation || kind == .decider ? type : kind.word)),
            ("state", .string(hasView ? view.state.word : state.word)), ("since", .time(since)),
            ("blockers", .array(blockers.map(\.json))), ("moreBlockers", .integer(Int64(moreBlockers))),
            ("causes", .array(causes.map(\.json))), ("history", .array(history.map(\.json))),
            ("waiting", .array(inside.map(\.json))), ("moreWaiting", .integer(Int64(moreInside))),
            ("waitingIsPartial", .bool(insidePartial)), ("at", .time(at)),
        ]
    }
}

extension WireBlocker {
    /// An element of `blockers`: with the keys that its kind has.
    package var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("kind", .string(kind)), ("text", .string(text)), ("remedy", .optional(remedy)),
        ]
        func note(_ key: String, _ text: String) { if !text.isEmpty { members.append((key, .string(text))) } }
        func note(_ key: String, time: Int64) { if time > 0 { members.append((key, .time(time))) } }
        func note(_ key: String, _ number: UInt32) { if number > 0 { members.append((key, .integer(Int64(number)))) } }
        note("operation", operation)
        note("state", state)
        note("worker", worker)
        note("since", time: since)
        note("until", time: until)
        note("limit", limit)
        note("taken", taken)
        if hasLock { members.append(("lock", lock.json)) }
        note("condition", condition)
        note("stage", stage)
        if hasVerdict { members.append(("verdict", verdict.json)) }
        note("uniqueId", uniqueID)
        note("attempt", attempt)
        note("attempts", attempts)
        if hasFailure { members.append(("error", failure.explainedJSON)) }
        note("missing", missing)
        if !absent.isEmpty { members.append(("absent", .array(absent.map(JSONValue.string)))) }
        if !takers.isEmpty { members.append(("workers", .array(takers.map(\.json)))) }
        note("workerCount", takerCount)
        note("open", open)
        // Counted from the front: 1 is next.
        if hasAhead { members.append(("position", .integer(Int64(ahead) + 1))) }
        return .object(members)
    }
}

extension WireSlotTaker {
    fileprivate var json: JSONValue {
        .object([
            ("id", .string(worker)), ("slots", .integer(Int64(slots))), ("taken", .integer(Int64(taken))), ("obstacle", .string(obstacle)),
            ("undelivered", .integer(Int64(undelivered))),
        ])
    }
}

extension WireCause {
    fileprivate var json: JSONValue {
        .object([
            ("operation", .string(operation)), ("link", .string(link)), ("text", .string(text)), ("at", .time(at)),
            ("error", hasFailure ? failure.explainedJSON : .null),
            ("condition", hasCondition ? condition.json : .null),
        ])
    }
}

extension WireWaitingOperations {
    fileprivate var json: JSONValue {
        .object([
            ("kind", .string(kind)), ("text", .string(text)), ("count", .integer(Int64(count))),
            ("operations", .array(operations.map(JSONValue.string))),
        ])
    }
}

extension WireOperationFailure {
    /// In the shape of `errors`, without the path: that is the operation's beside it.
    fileprivate var explainedJSON: JSONValue { .object(JSONValue.members(of: self, path: "").filter { $0.0 != "path" }) }
}
