import Foundation
import Testing

@testable import AOperation

/// The table itself, without operations that run.
@Suite(.timeLimit(.minutes(1)))
struct LockTableTests {
    private func request(_ locks: [String: Int], by operation: AOperation = Step(), _ granted: @escaping @Sendable () -> Void = {}) -> LockRequest {
        var wanted: [LockID: Int] = [:]
        for (name, limit) in locks { wanted[LockID(scope: nil, name: name)] = limit }
        return LockRequest(by: operation, locks: wanted, granted: granted)
    }

    @Test func allOrNothing() {
        let table = LockTable()
        let a = request(["a": 1])
        let both = request(["a": 1, "b": 1])
        let b = request(["b": 1])
        #expect(table.ask(a))
        #expect(!table.ask(both))
        #expect(!table.ask(b), "b is free, but somebody was there first")
        table.release(a)
        #expect(table.isHeld(both))
        #expect(!table.isHeld(b))
        table.release(both)
        #expect(table.isHeld(b))
        table.release(b)
        #expect(!table.knows("a") && !table.knows("b"))
    }

    @Test func release_beforeTheRequest_orTwice_isHarmless() {
        let table = LockTable()
        let never = request(["a": 1])
        table.release(never)
        _ = table.ask(never)
        #expect(!table.isHeld(never))
        #expect(!table.knows("a"))
        let one = request(["a": 1])
        #expect(table.ask(one))
        table.release(one)
        table.release(one)
        #expect(!table.knows("a"))
    }
}
