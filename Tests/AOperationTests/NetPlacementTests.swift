import Foundation
import Testing

@testable import AOperation

/// Members of delivery nets that were not given to a group stand where nothing waits for ever, or stay outside.
@Suite(.timeLimit(Load.patience))
struct NetPlacementTests {
    let queue = AOperationQueue()

    private static let ordered: [@Sendable () -> OrderedGroupOperation] = [
        {
            let (fetch, inner, second) = (Value(1), Keep<Int>(), Keep<Int>())
            fetch.deliver(to: inner)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation(inner), second)
        },
        {
            let (fetch, first, second) = (Value(1), Step(), Keep<Int>())
            first.addDependency(fetch)
            fetch.deliver(to: second)
            return OrderedGroupOperation(first, second)
        },
        {
            let (fetch, inner, second) = (Value(1), Step(), Keep<Int>())
            inner.addDependency(fetch)
            fetch.deliver(to: second)
            return OrderedGroupOperation(GroupOperation(inner), second)
        },
        {
            let (first, second, report) = (Value(1), Step(), Keep<Int>())
            first.deliver(to: report)
            report.addDependency(second)
            return OrderedGroupOperation(first, second)
        },
        {
            let (first, inner, report) = (Value(1), Step(), Keep<Int>())
            first.deliver(to: report)
            report.addDependency(inner)
            return OrderedGroupOperation(first, GroupOperation(inner))
        },
        {
            let (fetch, inner) = (Value(1), Keep<Int>())
            fetch.deliver(to: inner)
            return OrderedGroupOperation(GroupOperation(inner), fetch)
        },
    ]

    @Test(arguments: ordered.indices) func inAnOrderedGroup_whatIsInsideOfChildrenCounts(number: Int) async {
        let group = Self.ordered[number]()
        queue.addOperation(group)
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
    }

    /// A report that receives from a child of a group, and waits for something that waits for that group.
    private static let reports: [@Sendable (GroupOperation, Keep<Int>) -> [Foundation.Operation]] = [
        { group, report in
            let other = Step()
            other.addDependency(group)
            report.addDependency(other)
            return [other]
        },
        { group, report in
            let inner = Step()
            inner.addDependency(group)
            let other = GroupOperation(inner)
            report.addDependency(other)
            return [other]
        },
        { group, report in
            let inner = Step()
            let other = GroupOperation(inner)
            other.addDependency(group)
            report.addDependency(inner)
            return [other]
        },
        { group, report in
            let (first, second) = (Step(), Step())
            first.addDependency(group)
            report.addDependency(second)
            return [OrderedGroupOperation(first, second)]
        },
        { group, report in
            let plain = BlockOperation {}
            plain.addDependency(group)
            report.addDependency(plain)
            return [GroupOperation(plain)]
        },
    ]

    @Test(arguments: reports.indices) func receiverThatWaitsForTheGroup_isNoChildOfIt(number: Int) async {
        let (value, report) = (Value(1), Keep<Int>())
        value.deliver(to: report)
        let group = GroupOperation(value)
        let others = Self.reports[number](group, report)
        queue.addOperation(group)
        await group.ended()
        for other in others { queue.addOperation(other) }
        queue.addOperation(report)
        await report.ended()
        #expect(report.outcome?.value == .success(1))
        #expect(group.operations.count == 1)
    }
}
