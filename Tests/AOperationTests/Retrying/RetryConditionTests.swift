import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct RetryConditionTests {
    let queue = AOperationQueue()

    private struct Counted: AOperationCondition {
        let asked: Log<String>
        let failures: Int
        let makesDependency: Bool
        init(_ asked: Log<String>, failures: Int = 0, makesDependency: Bool = false) {
            self.asked = asked
            self.failures = failures
            self.makesDependency = makesDependency
        }
        func dependencyForOperation(_ operation: AOperation) -> AOperation? {
            guard makesDependency else { return nil }
            asked.append("dependency for \(operation.publisherName)")
            return Step("dependent") { [asked] in asked.append("dependent") }
        }
        func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
            asked.append("evaluate")
            let count = asked.entries.filter { $0 == "evaluate" }.count
            completion(count <= failures ? .failure(AOperationError(Failed(text: "condition \(count)"))) : .success)
        }
    }

    @Test func conditions_areEvaluatedAnewForEachAttempt_withDependentOperationsAnew() async {
        let asked = Log<String>()
        let operation = Attempted(.failing("a", 2)).retry(.times(3)).conditions(Counted(asked, makesDependency: true))
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isSuccess == true)
        let round = ["dependency for a", "dependent", "evaluate"]
        #expect(asked.entries == round + round + round)
    }

    @Test func conditionIsAskedAboutTheOperationThatWasAdded_notAboutItsAttempt() async {
        final class Asked: AOperationCondition, Sendable {
            let operations = Log<ObjectIdentifier>()
            func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
                operations.append(ObjectIdentifier(operation))
                completion(.success)
            }
        }
        let condition = Asked()
        let operation = Attempted(.failing("a", 2)).retry(.times(3)).conditions(condition)
        await operation.add(to: queue).ended()
        #expect(condition.operations.entries == Array(repeating: ObjectIdentifier(operation), count: 3))
    }

    @Test func dependentOperationThatAConditionKeeps_isMadeNewIfItCanBe() async {
        struct Keeping: AOperationCondition {
            let dependentOperation: AOperation?
        }
        let dependent = Script.failing("dependent", 1)
        let operation = Attempted(.failing("a", 1)).retry(.times(5)).conditions(Keeping(dependentOperation: Attempted(dependent)))
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(dependent.runs == 3, "failed, then succeeded for the failing attempt and for the last one")
        #expect(operation.script.runs == 2)
    }

    @Test func D29_failedCondition_isRetried_andItsErrorKeepsItsState() async {
        let asked = Log<String>()
        let errors = Log<AOperationError>()
        let operation = Attempted(.failing("a", 0)).conditions(Counted(asked, failures: .max)).retryOnFailure { retries, error, retry in
            errors.append(error)
            retry(retries < 2)
        }
        await operation.add(to: queue).ended()
        #expect(operation.script.runs == 0)
        #expect(errors.entries.map(\.localizedDescription) == ["condition 1", "condition 2", "condition 3"])
        #expect(errors.entries.allSatisfy { $0.state == .condition && $0.publisher == "Counted" })
        #expect(operation.outcome?.errors == [errors.entries[2]])
    }

    @Test func conditionThatHoldsAtTheThirdTime_letsTheOperationRun() async {
        let asked = Log<String>()
        let operation = Attempted(.failing("a", 0)).conditions(Counted(asked, failures: 2)).retry(.times(3))
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(operation.script.runs == 1)
    }

    @Test func lock_isHeldThroughAllAttempts() async {
        let key = "\(UUID())"
        let asked = Signal()
        let kept = Log<Retry>()
        let operation = Attempted(.failing("a", 1)).exclusive(key).retryOnFailure { _, _, retry in
            kept.append(retry)
            asked.fire()
        }
        operation.add(to: queue)
        await asked.wait()
        let other = Step().exclusive(key)
        other.add(to: queue)
        let witness = Step().exclusive("\(UUID())")
        await witness.add(to: queue).ended()
        #expect(other.outcome == nil)
        kept.entries.first?(true)
        await operation.ended()
        await other.ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(other.outcome?.isSuccess == true)
    }

    @Test func dependentOperationUnderTheSameKey_runsInEveryAttempt() async {
        struct Guarding: AOperationCondition {
            let key: String
            let runs: Log<Int>
            var exclusion: MutualExclusion? { MutualExclusion(key: key) }
            func dependencyForOperation(_ operation: AOperation) -> AOperation? {
                Step("dependent") { [runs] in runs.append(1) }.exclusive(key)
            }
        }
        let runs = Log<Int>()
        let operation = Attempted(.failing("a", 2)).retry(.times(5)).conditions(Guarding(key: "\(UUID())", runs: runs))
        await operation.add(to: queue).ended()
        #expect(operation.outcome?.isSuccess == true)
        #expect(runs.count == 3)
    }

    @Test(arguments: 0..<5)
    func exclusiveOperationsThatAreTriedAgain_neverOverlap(round: Int) async {
        let key = "\(UUID())"
        let gauge = Gauge()
        let operations = (0..<40).map { index in
            let script = Script("\(index)") { run in
                gauge.enter()
                DispatchQueue.global().async {
                    gauge.leave()
                    run.number <= (index + round) % 4 ? run.fail() : run.succeed()
                }
            }
            return Attempted(script).retry(.times(5)).exclusive(key)
        }
        for operation in operations { operation.add(to: queue) }
        await queue.idle()
        #expect(gauge.most == 1)
        #expect(operations.allSatisfy { $0.outcome?.isSuccess == true })
    }

    /// An attempt that failed because its lock could not be had must not leave the next one without the lock.
    @Test func attemptThatFailsBecauseOfALockCycle_doesNotLetTheNextOneIn() async throws {
        let key = "\(UUID())"
        let holder = Gate("holder").exclusive(key)
        // A group that `holder` waits for is inside a scope that asks for the holder's lock: a circle.
        let inner = Attempted(.failing("inner", 0)).exclusive(key)
        let errors = Log<AOperationError>()
        inner.retryOnFailure { retries, error, retry in
            errors.append(error)
            if retries == 0 { holder.open() }
            if retries < 3 { holder.onEnd { _ in retry(true) } } else { retry(false) }
        }
        let waited = Gate("waited")
        let outer = OperationThatAdds(inner, after: waited)
        let last = Step("last").exclusive(key + "other")
        last.addDependency(outer)
        holder.add(to: queue)
        await holder.started.wait()
        outer.add(to: queue)
        last.add(to: queue)
        waited.add(to: queue)
        await waited.started.wait()
        waited.open()
        holder.open()
        await last.ended()
        #expect(inner.outcome?.isSuccess == true)
    }

    /// A group that adds an operation when another one has ended.
    private final class OperationThatAdds: GroupOperation, @unchecked Sendable {
        let added: AOperation
        init(_ added: AOperation, after first: AOperation) {
            self.added = added
            let step = Step("first")
            step.addDependency(first)
            super.init([step])
        }
        override func operationDidFinish(_ operation: Foundation.Operation, withErrors errors: [AOperationError]) {
            if operation !== added { addOperation(added) }
        }
    }
}
