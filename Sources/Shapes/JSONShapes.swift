import Cluster
import Wire

// The stable JSON shapes of cli.md. Keys are added, never removed, under one `schema`.

extension JSONValue {
    /// An object that carries the schema's number.
    package static func shape(_ members: [(String, JSONValue)]) -> JSONValue {
        .object([("schema", .integer(1))] + members)
    }
}

extension WireCounts {
    package var json: JSONValue {
        .object([
            ("total", .integer(Int64(total))), ("succeeded", .integer(Int64(succeeded))),
            ("failed", .integer(Int64(failed))), ("cancelled", .integer(Int64(cancelled))),
            ("running", .integer(Int64(running))), ("pending", .integer(Int64(pending))),
        ])
    }
}

extension WireSubmissionView {
    /// How long it took, or has been going on.
    package var durationMilliseconds: Int64 {
        max(0, (finishedAt == 0 ? WallClock.milliseconds() : finishedAt) - submittedAt)
    }

    /// Members that every shape of a submission begins with.
    package var commonMembers: [(String, JSONValue)] {
        [("id", .string(id)), ("name", .string(name)), ("state", .string(state.word)), ("counts", counts.json)]
    }

    /// An element of `list`.
    package var listJSON: JSONValue {
        .object(
            commonMembers + [
                ("submittedAt", .time(submittedAt)), ("duration", .seconds(milliseconds: durationMilliseconds)),
            ])
    }
}

extension SubmissionResult {
    /// Members of `run`, `submit --wait`, `wait`, `result ID`.
    package var members: [(String, JSONValue)] {
        submission.commonMembers + [
            ("duration", .seconds(milliseconds: submission.durationMilliseconds)),
            ("value", operations.json(valueOf: 0)),
            ("errors", .array(failures.map(\.json))),
        ]
    }
}

extension OperationTree {
    /// The value of a node: an operation's own, a group's children's as an array, null where there is none.
    package func json(valueOf index: Int) -> JSONValue {
        guard nodes.indices.contains(index) else { return .null }
        let node = nodes[index]
        // One that has joined another group has that one's values.
        if node.isGroup, !node.view.hasValue { return .array(node.children.map { json(valueOf: $0) }) }
        return node.view.hasValue ? .value(node.view.value) : .null
    }
}

extension FailedOperation {
    /// The leading error with the operation's path; further ones, where there are, in `further`.
    package var json: JSONValue {
        let all = errors.map { JSONValue.members(of: $0, path: path) }
        guard var members = all.first else { return .null }
        if all.count > 1 { members.append(("further", .array(all.dropFirst().map(JSONValue.object)))) }
        return .object(members)
    }
}

extension JSONValue {
    package static func members(of error: WireOperationFailure, path: String) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("path", .string(path)),
            ("origin", error.origin.isEmpty || error.origin == path ? .null : .string(error.origin)),
            ("code", .string(error.code.word)),
            ("state", .string(error.state == .condition ? "condition" : "execution")),
            ("publisher", .optional(error.publisher)),
            ("message", .string(error.message)),
        ]
        if error.hasExitCode { members.append(("exitCode", .integer(Int64(error.exitCode)))) }
        if error.hasSignal { members.append(("signal", .integer(Int64(error.signal)))) }
        if error.hasStderr { members.append(("stderr", .string(error.stderr))) }
        if !error.host.isEmpty { members.append(("host", .string(error.host))) }
        if !error.duplicateOf.isEmpty { members.append(("duplicateOf", .string(error.duplicateOf))) }
        return members
    }
}

extension WireOperationView {
    /// An element of `show`'s `operations`.
    ///
    /// - Parameter producedBy: path of the operation that has produced it while the graph ran; nil: it was there before.
    package func json(producedBy: String?) -> JSONValue {
        .object([
            ("path", .string(path)),
            ("type", .string(kind == .operation ? type : kind.word)),
            ("state", .string(state.word)),
            ("attempts", .integer(Int64(attempts))),
            ("worker", .optional(worker)),
            ("queuedAt", .time(queuedAt)), ("startedAt", .time(startedAt)), ("finishedAt", .time(finishedAt)),
            ("errors", .array(errors.map { .object(JSONValue.members(of: $0, path: path)) })),
            ("locks", .array(locks.map(\.json))),
            ("retryAt", .time(retryAt)),
            ("atMostOnce", .bool(atMostOnce)),
            ("priority", .integer(Int64(priority))),
            ("crashes", .integer(Int64(crashes))), ("crashLimit", .integer(Int64(crashLimit))),
            ("lastError", hasLastFailure ? .object(JSONValue.members(of: lastFailure, path: path)) : .null),
            ("conditions", .array(conditions.map(\.json))),
            (
                "waiting",
                hasWaiting ? .object([("kind", .string(waiting.kind)), ("text", .string(waiting.text))]) : .null
            ),
            ("uniqueId", .optional(uniqueID)), ("joinedTo", .optional(joinedTo)),
            ("hosted", .bool(hosted)),
            ("added", .bool(hasAdded)), ("producedBy", producedBy.map { .string($0) } ?? .null),
            ("progress", hasProgress ? progress.json : .null),
            ("history", .array(history.map(\.json))),
            ("earlierAttempts", .array(earlierAttempts.map(\.json))),
        ])
    }
}

extension WireEarlierAttempt {
    /// An element of an operation's `earlierAttempts`.
    package var json: JSONValue {
        .object([
            ("attempt", .integer(Int64(number))), ("worker", .optional(worker)), ("startedAt", .time(startedAt)),
            ("finishedAt", .time(finishedAt)), ("ended", .string(word)), ("text", .optional(text)),
        ])
    }

    /// How it ended.
    package var word: String {
        switch ending {
        case .succeeded, .UNRECOGNIZED: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .lost: "lost"
        }
    }
}

extension WireHistoryEntry {
    /// An element of an operation's `history`.
    package var json: JSONValue { .object([("at", .time(at)), ("event", .string(event)), ("text", .string(text))]) }
}

extension WireLockView {
    /// An element of `locks`, and of the `locks` of an operation that waits for them.
    package var json: JSONValue {
        .object([
            ("key", .string(key)), ("limit", .integer(Int64(limit))), ("scope", .optional(scope)),
            (
                "holders",
                .array(
                    holders.map { holder in
                        .object([
                            ("operation", .string(holder.operation)), ("worker", .optional(holder.worker)),
                            // A string: 64 bits are more than many readers of JSON keep.
                            ("token", holder.token == 0 ? .null : .string("\(holder.token)")), ("since", .time(holder.since)),
                        ])
                    })
            ),
            ("holderCount", .integer(Int64(holderCount))),
            ("waiting", .array(waiting.map { .object([("operation", .string($0.operation)), ("since", .time($0.since))]) })),
            ("waitingCount", .integer(Int64(waitingCount))),
        ])
    }
}

extension WireWorkerView {
    package var json: JSONValue { .object(members) }

    /// With what only who asks about this one is told.
    package var detailedJSON: JSONValue {
        .object(
            members + [
                ("conditions", .array(detail.conditions.map(JSONValue.string))),
                (
                    "types",
                    .array(
                        detail.operations.map { operation in
                            .object([
                                ("name", .string(operation.name)), ("version", .integer(Int64(operation.version))),
                                ("oldestVersion", .integer(Int64(operation.oldestVersion))),
                            ])
                        })
                ),
                (
                    "held",
                    .array(
                        detail.held.map { held in
                            .object([
                                ("operation", .string(held.operation)), ("state", .string(held.state.word)),
                                ("startedAt", .time(held.startedAt)),
                            ])
                        })
                ),
                ("heldCount", .integer(Int64(detail.heldCount))), ("mayRunUntil", .time(detail.mayRunUntil)),
            ])
    }

    private var members: [(String, JSONValue)] {
        [
            ("id", .string(id)), ("host", .string(host)), ("pid", .integer(Int64(pid))), ("state", .string(state)),
            ("slots", .integer(Int64(slots))), ("running", .integer(Int64(running))),
            ("operations", .array(operations.map(JSONValue.string))),
            ("labels", .array(labels.map(JSONValue.string))),
            (
                "resources",
                .object(
                    resources.map { resource in
                        (
                            resource.name,
                            .object([
                                ("amount", .integer(Int64(clamping: resource.amount))),
                                ("taken", .integer(Int64(clamping: resource.taken))),
                            ])
                        )
                    })
            ),
            ("lastHeard", .time(lastHeard)), ("version", .optional(version)), ("name", .string(givenName)),
            ("drain", hasDrain ? drain.json : .null), ("clockOffset", hasClockOffset ? .integer(clockOffset) : .null),
        ]
    }
}

extension WireWorkerDrain {
    fileprivate var json: JSONValue {
        .object([("since", .time(since)), ("by", .optional(by)), ("reason", .optional(reason))])
    }
}
