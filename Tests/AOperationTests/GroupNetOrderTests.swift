import Foundation
import Testing

@testable import AOperation

/// Where the members of delivery nets stand in a group, and which operations are none of its business.
@Suite(.timeLimit(Load.patience))
struct GroupNetOrderTests {
    let queue = AOperationQueue()

    private func names(_ group: GroupOperation) -> [String] { group.operations.map { $0.name ?? "" } }

    private func passOn(_ name: String) -> PassOn<Int> {
        let operation = PassOn<Int>()
        operation.name = name
        return operation
    }

    @Test func deliveriesBetweenChildren_leaveTheirOrderAsItWasGiven() async throws {
        let (a, x, y, b) = (Value(1, name: "a"), Step("x"), Step("y"), passOn("b"))
        a.deliver(to: b)
        b.addDependency(x)
        let group = OrderedGroupOperation(a, x, y, b)
        queue.addOperation(group)
        await group.ended()
        #expect(names(group) == ["a", "x", "y", "b"])
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func valuesOfAGroup_comeInTheOrderInWhichItsChildrenWereGiven() async throws {
        let (one, two, three) = (Value(1), Value(2), MapOperationBlock<Int, Int> { _, finish in finish(.success(3)) })
        one.deliver(to: three)
        let all = Keep<[Int]>()
        GroupOperation(one, two, three).deliver(to: all)
        queue.addOperation(all)
        await all.ended()
        #expect(try all.result?.get()?.get() == [1, 2, 3])
    }

    @Test func membersThatWereNotGiven_standWhereTheyAreNeeded() async throws {
        let (a, x, b, last) = (Value(1, name: "a"), Step("x"), passOn("b"), passOn("last"))
        let (source, other) = (passOn("source"), Keep<Int>())
        a.deliver(to: source).deliver(to: b)
        b.deliver(to: last)
        b.deliver(to: other)
        other.name = "other"
        let group = OrderedGroupOperation(x, b, last)
        queue.addOperation(group)
        await group.ended()
        #expect(names(group) == ["x", "a", "source", "b", "other", "last"] || names(group) == ["x", "a", "source", "b", "last", "other"])
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func receiverBeforeItsProducer_comesAfterIt_inAnOrderedGroup() async throws {
        let (a, b) = (Value(1, name: "a"), passOn("b"))
        a.deliver(to: b)
        let group = OrderedGroupOperation([b, Step("x"), a])
        queue.addOperation(group)
        await group.ended()
        #expect(names(group) == ["a", "b", "x"])
    }

    @Test func longChainOfChildren_isLinear_andNeedsNoDeepStack() async throws {
        let chain = (0..<20_000).map { _ in PassOn<Int>() }
        let first = Value(1)
        first.deliver(to: chain[0])
        for (one, next) in zip(chain, chain.dropFirst()) { one.deliver(to: next) }
        let group = OrderedGroupOperation([chain.last ?? chain[0]])
        queue.addOperation(group)
        await group.ended()
        #expect(group.operations.count == 20_001)
        #expect(group.operations.first === first)
    }

    @Test func receiverThatWaitsForTheGroup_isNoChildOfIt() async throws {
        let (read, inner, after) = (Value(1, name: "read"), passOn("inner"), passOn("after"))
        read.deliver(to: inner)
        read.deliver(to: after)
        let group = GroupOperation(inner)
        let between = Step("between")
        between.addDependency(group)
        after.addDependency(between)
        queue.addOperation(group)
        await group.ended()
        #expect(Set(names(group)) == ["read", "inner"])
        for operation in [between, after] as [AOperation] { queue.addOperation(operation) }
        await after.ended()
        #expect(try after.result?.get() == 1)
    }
}
