import Shapes

extension Timeline {
    /// Everything that the picture is made of, as JSON.
    package var members: [(String, JSONValue)] {
        [
            ("start", .time(start)), ("end", .time(end)),
            (
                "lanes",
                .array(
                    lanes.map { lane in
                        .object([("worker", .string(lane.worker)), ("attempts", .array(lane.bars.map(\.json)))])
                    })
            ),
            (
                "lost",
                .array(losses.map { .object([("path", .string($0.path)), ("at", .time($0.at)), ("text", .string($0.text))]) })
            ),
        ]
    }
}

extension Timeline.Bar {
    fileprivate var json: JSONValue {
        .object([
            ("path", .string(path)), ("attempt", .integer(Int64(attempt))), ("earlier", .bool(isEarlier)), ("state", .string(state)),
            ("from", .time(from)), ("to", .time(to)), ("error", .optional(error)),
        ])
    }
}
