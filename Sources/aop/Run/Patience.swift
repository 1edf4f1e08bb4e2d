import Synchronization

/// Whether the coordinator is heard, as people are told it: once when it is not, and once when it is again.
struct Patience: Sendable {
    private let console: Console
    private let isAway = Flag()

    init(_ console: Console) { self.console = console }

    /// What `ask` gets; told after a while in which it has got nothing.
    func during<Value>(_ ask: () async throws -> Value) async throws -> Value {
        let patience = Task {
            try await Task.sleep(for: .milliseconds(Self.milliseconds))
            note("the coordinator does not answer")
        }
        defer { patience.cancel() }
        let answer = try await ask()
        isHeard()
        return answer
    }

    func isLost(_ reason: String) { note("the coordinator is not heard (\(reason))") }

    func isHeard() { if isAway.lower() { console.note("the coordinator is back\n") } }

    private func note(_ text: String) { if isAway.raise() { console.note("\(text); trying again\n") } }

    private static let milliseconds = 2000
}

/// Something that is so or not, for whoever notices first.
private final class Flag: Sendable {
    private let state = Mutex(false)

    /// - Returns: whether it was not so before.
    func raise() -> Bool {
        state.withLock { state in
            defer { state = true }
            return !state
        }
    }

    /// - Returns: whether it was so before.
    func lower() -> Bool {
        state.withLock { state in
            defer { state = false }
            return state
        }
    }
}
