import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct EngineLoadTests {
    @Test func twentyThousandOperations_withAsynchronousConditions_runOnASmallQueue() async {
        let queue = AOperationQueue(slots: 3)
        let gauge = Gauge()
        let evaluated = Log<Int>()
        let ran = Log<Int>()
        let count = Load.count(20_000)
        for index in 0..<count {
            AOperationBlock { finish in
                gauge.enter()
                ran.append(index)
                gauge.leave()
                finish()
            }
            .conditions(
                Rule { _, answer in
                    if index.isMultiple(of: 100) { evaluated.append(index) }
                    DispatchQueue.global().async { answer(index.isMultiple(of: 10) ? .failed("no") : .success) }
                }
            )
            .add(to: queue)
        }
        await queue.idle()
        #expect(gauge.most <= 3)
        #expect(ran.count == count - count / 10)
        #expect(evaluated.count == count / 100)
    }

    @Test func chainOfOperationsWithConditionsAndLocks_runsInOrder() async {
        let key = freshKey()
        let queue = AOperationQueue(slots: 2)
        let log = Log<Int>()
        var last: Step?
        let count = Load.count(2_000)
        for index in 0..<count {
            let step = Step { log.append(index) }.conditions(Rule(.success)).exclusive(key)
            if let last { step.addDependency(last) }
            last = step
            queue.addOperation(step)
        }
        await queue.idle()
        #expect(log.entries == Array(0..<count))
    }
}
