import Foundation
import Testing

@testable import AOperation

/// Answers of conditions to questions that have been given up.
@Suite(.timeLimit(Load.patience))
struct LateAnswerTests {
    private final class Asked: AOperationCondition, Sendable {
        let answers = Log<@Sendable (OperationConditionResult) -> Void>()
        func evaluateForOperation(_ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void) {
            answers.append(completion)
        }
    }

    /// It leaves alone what came after it: the operation waits for the time that the newer answer has named.
    @Test func aLateNotYet_doesNotTakeTheTimerOfTheNewerOne() async {
        let queue = AOperationQueue()
        let (asked, dependency) = (Asked(), Step())
        let operation = Step().conditions(asked)
        operation.add(to: queue)
        await until { asked.answers.count == 1 }
        operation.addDependency(dependency)
        dependency.add(to: queue)
        await until { asked.answers.count == 2 }
        asked.answers.entries[1](.retry(after: .milliseconds(50), because: "later"))
        asked.answers.entries[0](.retry(after: .milliseconds(1), because: "late"))
        await until { asked.answers.count == 3 }
        asked.answers.entries[2](.success)
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }
}
