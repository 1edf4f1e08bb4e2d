import Testing

/// For tests that set handlers of `AOperation.Debugger`, which are the process's: one after the other, in whatever suites they are.
struct DebuggerTurn: SuiteTrait, TestTrait, TestScoping {
    private static let turn = Turn()

    var isRecursive: Bool { true }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        await Self.turn.take()
        do {
            try await function()
        } catch {
            await Self.turn.leave()
            throw error
        }
        await Self.turn.leave()
    }
}

extension Trait where Self == DebuggerTurn {
    static var hasTheDebugger: Self { Self() }
}

/// Whoever has it has it alone; it goes to those who wait in their order.
private actor Turn {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
