import Foundation
import Testing

@testable import AOperation

/// Blocks its thread until it is told to go on; when it has finished, if it is asked to.
private final class Blocking: VoidOperation, @unchecked Sendable {
    private let goOn = DispatchSemaphore(value: 0)
    private let finishesFirst: Bool

    init(finishesFirst: Bool = false) {
        self.finishesFirst = finishesFirst
        super.init()
    }

    override func execute() {
        if finishesFirst { finish() }
        goOn.wait()
        if !finishesFirst { finish() }
    }

    func release() { goOn.signal() }
}

@Suite(.timeLimit(Load.patience))
struct QueueThreadTests {
    let queue = AOperationQueue()

    @Test func operationThatBlocksItsThread_keepsNobodyElseWaiting() async {
        let blocking = Blocking()
        let other = Step { blocking.release() }
        queue.addOperation(blocking)
        queue.addOperation(other)
        await queue.idle()
        #expect(blocking.outcome?.isSuccess == true)
        #expect(other.outcome?.isSuccess == true)
    }

    @Test(arguments: [1, -1]) func successor_runs_whileTheThreadOfAFinishedOperationIsStillBlocked(_ limit: Int) async {
        queue.maxConcurrentOperationCount = limit
        let blocking = Blocking(finishesFirst: true)
        let successor = Step { blocking.release() }
        successor.addDependency(blocking)
        queue.addOperations([blocking, successor], waitUntilFinished: false)
        await queue.idle()
        #expect(successor.outcome?.isSuccess == true)
    }

    @Test(arguments: [1, 2, -1]) func operationsOfDifferentQuality_allRun(_ limit: Int) async {
        queue.maxConcurrentOperationCount = limit
        let log = Log<Int>()
        let qualities: [QualityOfService] = [.default, .background, .userInitiated, .utility, .userInteractive]
        for number in 0..<200 {
            let step = Step { log.append(number) }
            step.qualityOfService = qualities[number % qualities.count]
            queue.addOperation(step)
        }
        await queue.idle()
        #expect(Set(log.entries) == Set(0..<200))
        if limit == 1 { #expect(log.entries == Array(0..<200)) }
    }

    @Test func operationThatSuspendsItsQueue_isTheLastToStart() async {
        queue.maxConcurrentOperationCount = 1
        let log = Log<Int>()
        let steps = (0..<50).map { number in
            Step { [queue] in
                log.append(number)
                if number == 20 { queue.isSuspended = true }
            }
        }
        queue.addOperations(steps, waitUntilFinished: false)
        await steps[20].ended()
        #expect(log.entries == Array(0...20))
        queue.isSuspended = false
        await queue.idle()
        #expect(log.entries == Array(0..<50))
    }

    @Test func serialUnderlyingQueue_runsOperationsInOrder_alsoThoseOfGroups() async {
        queue.underlyingQueue = DispatchQueue(label: "serial")
        let log = Log<Int>()
        let group = GroupOperation((100..<150).map { number in Step { log.append(number) } })
        queue.addOperations((0..<50).map { number in Step { log.append(number) } } + [group], waitUntilFinished: false)
        await queue.idle()
        #expect(log.entries == Array(0..<50) + Array(100..<150))
    }

    @Test(arguments: [1, 2, -1]) func twoGroupsAndTheirQueue_shareSlots_toTheEnd(_ limit: Int) async {
        queue.maxConcurrentOperationCount = limit
        let gauge = Gauge()
        let ends = Log<Int>()
        func steps() -> [Step] {
            (0..<100).map { number in
                Step {
                    gauge.enter()
                    ends.append(number)
                    gauge.leave()
                }
            }
        }
        queue.addOperations([GroupOperation(steps()), GroupOperation(steps())] + steps(), waitUntilFinished: false)
        await queue.idle()
        #expect(ends.count == 300)
        if limit > 0 { #expect(gauge.most <= limit) }
    }
}
