import Foundation
import Testing

@testable import AOperation

/// Groups of very many children: as many as ``Stress/children`` says.
@Suite(.timeLimit(.minutes(20)), .serialized)
struct LargeGroupStressTests {
    let queue = AOperationQueue()

    @Test func groupOfVeryManyChildren_endsAfterAll() async {
        queue.maxConcurrentOperationCount = 2
        let count = Stress.children
        let gauge = Gauge()
        let group = GroupOperation((0..<count).map { _ in Step { gauge.enter() } })
        let ears = Ears.on(group)
        queue.addOperation(group)
        await group.ended()
        await callbacksDelivered()
        #expect(group.outcome?.isSuccess == true)
        #expect(gauge.most == count)
        #expect(group.outcomes.count == count)
        #expect(ears.wereToldOnce, "\(ears.summary)")
    }

    @Test func groupOfVeryManyChildren_isCancelled() async {
        queue.maxConcurrentOperationCount = 2
        let gate = Gate()
        let group = GroupOperation([gate] + (0..<Stress.children).map { _ in Step() })
        for child in group.operations.dropFirst() { child.addDependency(gate) }
        queue.addOperation(group)
        await gate.started.wait()
        group.cancel()
        await group.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(group.outcomes.count == Stress.children + 1)
        #expect(group.outcomes.allSatisfy { $0.isCancelled })
    }

    @Test func orderedGroupOfVeryManyChildren_keepsTheOrder() async {
        let count = Stress.children
        let box = Counters()
        let group = OrderedGroupOperation((0..<count).map { number in Step { box.note(number) } })
        queue.addOperation(group)
        await group.ended()
        #expect(group.outcome?.isSuccess == true)
        #expect(box.state == (count - 1, 0))
    }

    /// The number that was last seen, and how many did not follow on the one before.
    private final class Counters: Sendable {
        private let counts = Guarded((last: -1, broken: 0))

        var state: (last: Int, broken: Int) { counts.withLock { $0 } }

        func note(_ number: Int) {
            counts.withLock { counts in
                if counts.last + 1 != number { counts.broken += 1 }
                counts.last = number
            }
        }
    }
}
