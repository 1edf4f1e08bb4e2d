import Foundation

/// A condition did not become true in time; says which, and what was seen last.
struct DeadlineMissed: Error, CustomStringConvertible {
    var what: String
    var last: String
    var description: String { "waited too long until \(what)\(last.isEmpty ? "" : "; last seen: \(last)")" }
}

/// How long anything may take on a slow, shared machine. Nothing measures time: this only ends what hangs.
let patience = Duration.seconds(90)

/// Waits until `body` gives a value.
func eventually<Value>(
    _ what: String, within limit: Duration = patience, last: () -> String = { "" }, _ body: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while true {
        if let value = try await body() { return value }
        if clock.now > deadline { throw DeadlineMissed(what: what, last: last()) }
        // Asks again soon; the deadline alone decides.
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Waits until `condition` holds.
func eventually(
    _ what: String, within limit: Duration = patience, last: () -> String = { "" }, _ condition: () async throws -> Bool
) async throws {
    let _: Bool = try await eventually(what, within: limit, last: last) { try await condition() ? true : nil }
}
