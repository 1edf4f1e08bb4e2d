import Foundation
import Testing

@testable import AOperation

/// Groups that were made of operations are tried again with fresh ones.
@Suite(.timeLimit(Load.patience))
struct RetryPlainGroupTests {
    let queue = AOperationQueue()

    private func step(_ name: String, _ log: Log<String>, fails times: Int = 0) -> Attempted {
        Attempted(
            Script(name) { run in
                log.append("\(run.operation.publisherName) \(run.number)")
                run.number <= times ? run.fail() : run.succeed()
            })
    }

    @Test func allChildrenStartAgain_inTheirOrder() async {
        let log = Log<String>()
        let group = OrderedGroupOperation(step("a", log), step("b", log, fails: 2), step("c", log)).onFailure(.stop)
        let ends = Log<Bool>()
        group.retry(.times(4)).didFinish { ends.append($0.error == nil) }.add(to: queue)
        await group.ended()
        await callbacksDelivered()
        #expect(log.entries == ["a 1", "b 1", "a 2", "b 2", "a 3", "b 3", "c 1"])
        #expect(ends.entries == [true])
        #expect(group.outcomes.count == 3)
        #expect(group.operations.map(\.name) == ["a", "b", "c"])
    }

    @Test func lastFailure_isTheOutcome() async {
        let log = Log<String>()
        let group = GroupOperation(step("a", log, fails: 9))
        await group.retry(.times(3)).add(to: queue).ended()
        #expect(group.outcome?.errors.map(\.localizedDescription) == ["a 3"])
    }

    @Test func dependenciesAmongChildren_countInEachAttempt() async {
        let log = Log<String>()
        let (first, second) = (step("first", log), step("second", log, fails: 1))
        first.addDependency(second)
        let group = GroupOperation(first, second).retry(.times(2))
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.entries == ["second 1", "first 1", "second 2", "first 2"])
    }

    /// The outer group's second attempt has another inner group; the first one is what it was.
    @Test func outcomesOfAGroup_areThoseOfItsOwnAttempts() async {
        let log = Log<String>()
        let inner = GroupOperation(step("a", log, fails: 2)).retry(RetryPolicy(attempts: 2))
        let outer = GroupOperation(inner).retry(RetryPolicy(attempts: 2))
        #expect(await outer.result(on: AOperationQueue()).error == nil)
        #expect(inner.outcome?.isFailure == true)
        #expect(inner.outcomes.map(\.isSuccess) == [false])
        #expect(outer.outcomes.map(\.isSuccess) == [true])
    }

    @Test func nestedGroups_areMadeAnew_withWhatTheirChildrenWaitFor() async {
        let log = Log<String>()
        let (inner, outer) = (step("inner", log), step("outer", log, fails: 1))
        inner.addDependency(outer)
        let nested = OrderedGroupOperation(inner, step("last", log))
        nested.name = "nested"
        let group = GroupOperation(nested, outer).retry(.times(2))
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.entries == ["outer 1", "inner 1", "last 1", "outer 2", "inner 2", "last 2"])
        #expect(group.operations.map(\.name) == ["nested", "outer"])
        #expect(group.operations.first is OrderedGroupOperation)
    }

    @Test func namesConditionsPoliciesAndTimeLimits_stayWithTheChildren() async {
        let log = Log<String>()
        let asked = Log<String>()
        let child = step("child", log, fails: 3).retry(.times(2)).deadline(.seconds(3_600)).queueTimeout(.seconds(3_600))
        child.name = "renamed"
        child.condition { completion in
            asked.append("asked")
            completion(.success)
        }
        let group = GroupOperation(child).retry(.times(2))
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true, "two attempts of the group, of two attempts each")
        #expect(log.entries == (1...4).map { "renamed \($0)" })
        #expect(asked.count == 4)
        #expect(child.outcome?.isFailure == true, "it is a child of the first attempt")
        let last = group.operations.first as? AOperation
        #expect(last !== child)
        #expect(last?.core.withLock { $0.timeLimits.deadline } == .seconds(3_600))
        #expect(last?.core.withLock { $0.timeLimits.queueTimeout != nil } == true)
    }

    @Test func failedConditionOfTheGroup_leavesItsChildrenForAnotherAttempt() async {
        let log = Log<String>()
        let asked = Log<Int>()
        let group = GroupOperation(step("a", log)).retry(.times(3)).condition { completion in
            asked.append(1)
            completion(asked.count < 3 ? .failure(AOperationError(Failed(text: "no"))) : .success)
        }
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.entries == ["a 1"])
    }

    @Test func locksOfTheChildren_areTakenInEachAttempt() async {
        let (key, log, gauge) = ("\(UUID())", Log<String>(), Gauge())
        let children = (0..<4).map { index in
            Attempted(
                Script("\(index)") { run in
                    gauge.enter()
                    log.append("run")
                    DispatchQueue.global().async {
                        gauge.leave()
                        run.number == 1 && index == 2 ? run.fail() : run.succeed()
                    }
                }
            ).exclusive(key)
        }
        let group = GroupOperation(children).retry(.times(2))
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.count == 8)
        #expect(gauge.most == 1)
    }

    /// What receivers get is of the same attempt.
    @Test func deliveriesAmongChildren_areMadeAgain_inEveryForm() async {
        let log = Log<String>()
        let (a, b, c) = (Emit("a"), Emit("b"), Emit("c"))
        let one = a.deliver(to: Absorb<String>(log) { "one \($0)" })
        let accepting = Absorb<String>(log) { "accepting \($0)" }
        accepting.accept(b)
        let list = [a, b].deliver(to: Absorb<[String]>(log) { "list \($0.joined(separator: "+"))" })
        let tuple = deliver(a, b, c, to: Absorb<(String, String, String)>(log) { "tuple \($0.0)+\($0.1)+\($0.2)" })
        let nested = GroupOperation(c)
        let values = nested.deliver(to: Absorb<[String]>(log) { "values \($0.joined(separator: "+"))" })
        let outcomes = nested.deliver(to: Absorb<GroupOutcomes>(log) { "outcomes \($0.compactMap { $0.value as? String })" })
        let last = values.deliver(to: Attempted(.failing("last", 1)))
        let children: [Foundation.Operation] = [a, b, one, accepting, list, tuple, nested, values, outcomes, last]
        let group = GroupOperation(children).retry(.times(2))
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true, "\(group.publishedErrors)")
        let expected = [1, 2].flatMap { attempt in
            let (a, b, c) = ("a\(attempt)", "b\(attempt)", "c\(attempt)")
            return [
                "one \(a)", "accepting \(b)", "list \(a)+\(b)", "tuple \(a)+\(b)+\(c)", "values \(c)", "outcomes [\"\(c)\"]",
            ]
        }
        #expect(log.entries.sorted() == expected.sorted())
    }

    /// Those of the outer group's second attempt are made anew once more.
    @Test func deliveriesInAGroupInAGroup_bothTriedAgain_areMadeAgainEachTime() async {
        let log = Log<String>()
        let a = Emit("a")
        let one = a.deliver(to: Absorb<String>(log) { "one \($0)" })
        let inner = OrderedGroupOperation(a, one, Attempted(.failing("last", 3))).retry(.times(2))
        let outer = GroupOperation(inner).retry(.times(2))
        await outer.add(to: queue).ended()
        #expect(outer.outcome?.isSuccess == true, "\(outer.publishedErrors)")
        #expect(log.entries == ["one a1", "one a2", "one a3", "one a4"])
    }

    /// Producers become children as those do that receive from them; the end of a net in the group has a policy of its own.
    @Test func netOfWhichTheGroupNamesTheEnd_isMadeAgainAsAWhole_andItsEndTriesItAgainInEachAttempt() async {
        let log = Log<String>()
        let (first, second) = (step("first", log), step("second", log, fails: 3))
        let group = GroupOperation(first.deliver(to: second).retry(.times(2))).retry(.times(2))
        await group.add(to: queue).ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(log.entries == ["first 1", "second 1", "second 2", "first 2", "second 3", "second 4"])
    }

    enum Obstacle: CaseIterable { case noRetryable, plain, deliveryOutside, subclass }

    @Test(arguments: Obstacle.allCases) func childThatCannotBeMadeAnew_leavesTheFirstFailure(obstacle: Obstacle) async {
        final class Special: GroupOperation, @unchecked Sendable {}
        let log = Log<String>()
        let failing = step("a", log, fails: 1)
        let children: [Foundation.Operation] =
            switch obstacle {
            case .noRetryable: [failing, Step()]
            case .plain: [failing, BlockOperation {}]
            case .deliveryOutside: [failing]
            case .subclass: [failing, Special()]
            }
        let group = GroupOperation(children).retry(.times(3))
        if obstacle == .deliveryOutside { GroupOperation(failing.deliver(to: step("b", log))).add(to: queue) }
        await group.add(to: queue).ended()
        #expect(group.outcome?.errors.first?.localizedDescription == "a 1")
        #expect(log.entries.filter { $0.hasPrefix("a") } == ["a 1"])
    }

    @Test func groupAboveTheEndOfAChain_isTriedAgainByIt() async throws {
        let log = Log<String>()
        let group = GroupOperation(step("a", log, fails: 1))
        let tail = group.deliver(to: RetryablePass())
        tail.retry(.times(3))
        await tail.add(to: queue).ended()
        #expect(tail.outcome?.value == ["a"])
        #expect(log.entries == ["a 1", "a 2"])
    }

    @Test func whatTheAttemptsWereMadeOf_isLetGoAtTheEnd() async {
        let log = Log<String>()
        weak var condition: Marker?
        let group: GroupOperation
        do {
            let marker = Marker()
            condition = marker
            let child = step("a", log, fails: 1).condition { completion in
                completion(withExtendedLifetime(marker) { .success })
            }
            group = GroupOperation(child).retry(.times(2))
        }
        await group.add(to: queue).ended()
        await queue.idle()
        #expect(group.outcome?.isSuccess == true)
        #expect(condition == nil)
    }
}

private final class Marker: Sendable {}

/// Forwards what it receives, and can be tried again.
private final class RetryablePass: ResultableOperation<[String]>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<[String], AOperationError>?
    func new() -> RetryablePass { RetryablePass() }
    override func execute() { finish(with: receivedValue ?? .failure(.receivedValueIsNil(in: self))) }
}

/// Delivers its name, and how many there have been of it.
private final class Emit: ResultableOperation<String>, RetryableOperation, @unchecked Sendable {
    private let label: String
    private let runs: Log<Void>

    convenience init(_ label: String) { self.init(label, Log<Void>()) }

    private init(_ label: String, _ runs: Log<Void>) {
        (self.label, self.runs) = (label, runs)
        super.init()
        name = label
    }

    func new() -> Emit { Emit(label, runs) }

    override func execute() {
        runs.append(())
        finish(with: .success("\(label)\(runs.count)"))
    }
}

/// Notes what it receives, and delivers that.
private final class Absorb<Input>: ResultableOperation<String>, ReceiverOperation, RetryableOperation, @unchecked Sendable {
    var receivedValue: Result<Input, AOperationError>?
    private let log: Log<String>
    private let text: @Sendable (Input) -> String

    init(_ log: Log<String>, _ text: @escaping @Sendable (Input) -> String) {
        (self.log, self.text) = (log, text)
        super.init()
    }

    func new() -> Absorb<Input> { Absorb(log, text) }

    override func execute() {
        let result = receivedValue.map { $0.map(text) } ?? .failure(.receivedValueIsNil(in: self))
        if case .success(let text) = result { log.append(text) }
        finish(with: result)
    }
}
