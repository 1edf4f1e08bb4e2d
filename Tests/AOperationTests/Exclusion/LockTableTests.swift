import Foundation
import Testing

@testable import AOperation

/// The table itself, without operations that run.
@Suite(.timeLimit(Load.patience))
struct LockTableTests {
    private func request(_ locks: [String: Int], by operation: AOperation = Step(), lenders: [LockRequest] = []) -> LockRequest {
        var wanted: [LockID: Int] = [:]
        for (name, limit) in locks { wanted[LockID(scope: lenders.first?.id, name: name)] = limit }
        return LockRequest(by: operation, locks: wanted, lenders: lenders) { _ in }
    }

    @Test func allOrNothing() {
        let table = LockTable()
        let a = request(["a": 1])
        let both = request(["a": 1, "b": 1])
        let b = request(["b": 1])
        #expect(table.ask(a) == .held)
        #expect(table.ask(both) == .waiting)
        #expect(table.ask(b) == .waiting, "b is free, but somebody was there first")
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
        #expect(table.ask(never) == .void)
        #expect(!table.isHeld(never))
        #expect(!table.knows("a"))
        let one = request(["a": 1])
        #expect(table.ask(one) == .held)
        table.release(one)
        table.release(one)
        #expect(!table.knows("a"))
    }

    /// The first in line, and who holds the lock, may stay for as long as the program runs.
    @Test func whoLeavesTheLine_isNotKept_whileOthersStayInFrontOfHim() {
        let table = LockTable()
        let operation = Step()
        let (holder, first, pair) = (request(["a": 1]), request(["a": 1]), request(["a": 1, "b": 1]))
        #expect(table.ask(holder) == .held)
        #expect(table.ask(first) == .waiting)
        var left: [Weak<LockRequest>] = []
        for number in 0..<1_000 {
            if number == 500 { #expect(table.ask(pair) == .waiting) }
            let one = request(number.isMultiple(of: 2) ? ["a": 1] : ["a": 1, "b": 1], by: operation)
            #expect(table.ask(one) == .waiting)
            left.append(Weak(one))
            let isWithdrawn = table.withdraw(one)
            #expect(isWithdrawn)
        }
        #expect(left.count { $0.object != nil } < 50)
        let last = request(["a": 1])
        #expect(table.ask(last) == .waiting)
        table.release(holder)
        #expect(table.isHeld(first) && !table.isHeld(pair))
        table.release(first)
        #expect(table.isHeld(pair) && !table.isHeld(last))
        table.release(pair)
        #expect(table.isHeld(last))
        table.release(last)
        #expect(!table.knows("a") && !table.knows("b"))
    }

    /// What is lent goes back before what lends it.
    @Test func release_waitsForTheBorrowers() {
        let table = LockTable()
        let outer = request(["a": 1])
        #expect(table.ask(outer) == .held)
        let borrower = request(["a": 1], lenders: [outer])
        #expect(table.ask(borrower) == .held)
        let rival = request(["a": 1])
        #expect(table.ask(rival) == .waiting)
        table.release(outer)
        #expect(table.isHeld(outer) && !table.isHeld(rival))
        table.release(borrower)
        #expect(!table.isHeld(outer) && table.isHeld(rival))
        table.release(rival)
        #expect(!table.knows("a"))
    }

    @Test func borrowingFromOneThatHasGivenBack_isVoid() {
        let table = LockTable()
        let outer = request(["a": 1])
        #expect(table.ask(outer) == .held)
        table.release(outer)
        #expect(table.ask(request(["a": 1], lenders: [outer])) == .void)
        #expect(!table.knows("a"))
    }

    @Test(arguments: 0..<20)
    func anyOrderOfRequestsAndReleases_keepsTheLimits_andForgetsNobody(seed: Int) {
        var random = SeededGenerator(UInt64(seed))
        let table = LockTable()
        let names = ["a", "b", "c"]
        var open: [LockRequest] = []
        for _ in 0..<400 {
            if Bool.random(using: &random) || open.isEmpty {
                var locks: [String: Int] = [:]
                for name in names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
                    locks[name] = Int.random(in: 1...3, using: &random)
                }
                let new = request(locks)
                _ = table.ask(new)
                open.append(new)
            } else {
                table.release(open.remove(at: Int.random(in: 0..<open.count, using: &random)))
            }
            for name in names {
                let concerned = open.filter { $0.names.contains(name) }
                let holders = concerned.filter { table.isHeld($0) }
                // A holder may have come before one with a smaller limit; nobody was let in beyond the limit since.
                #expect(holders.count <= 3)
                // The first that waits for all its locks has a reason to.
                guard let first = concerned.first(where: { !table.isHeld($0) }) else { continue }
                #expect(!table.obstacles(of: first).isEmpty)
            }
            let first = open.first { !table.isHeld($0) }
            if let first {
                let isBlocked = table.obstacles(of: first).contains { $0.holders.count >= $0.limit }
                #expect(isBlocked, "the one that has waited longest waits only for holders")
            }
        }
        for request in open { table.release(request) }
        #expect(names.allSatisfy { !table.knows($0) })
    }
}
