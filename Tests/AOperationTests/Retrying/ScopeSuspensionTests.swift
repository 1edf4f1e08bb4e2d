import Foundation
import Testing

@testable import AOperation

/// Nets that are tried again, under several keys, in a queue that is suspended time and again.
@Suite(.timeLimit(Load.patience))
struct ScopeSuspensionTests {
    @Test(arguments: 0..<Load.rounds(40))
    func locksOfAScope_areTakenAndGivenBack_withoutEnd(round: Int) async {
        let queue = AOperationQueue()
        let isOver = Signal()
        let toggling = Signal()
        let thread = Thread {
            while !isOver.hasFired {
                queue.isSuspended = true
                queue.isSuspended = false
            }
            toggling.fire()
        }
        thread.start()
        let tails = (0..<8).map { number -> PassOn<Int> in
            let producer = Value(number).exclusive(freshKey("producer"))
            return producer.deliver(to: PassOn<Int>()).retry(RetryPolicy(attempts: 2, backoff: .none)).exclusive(freshKey("tail"))
        }
        for tail in tails { queue.addOperation(tail) }
        for tail in tails { await tail.ended() }
        isOver.fire()
        await toggling.wait()
        #expect(tails.allSatisfy { $0.outcome?.isSuccess == true })
    }
}
