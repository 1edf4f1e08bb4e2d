import Testing

@testable import Worker

@Suite struct ServiceReadinessTests {
    private func ticks(_ readiness: inout ServiceReadiness, _ now: Int64) -> Bool { readiness.tick(at: now) }

    @Test func workerThatWasTaken_isReady_once() {
        var readiness = ServiceReadiness()
        readiness.attached()
        // Its executors may still be refused, for a label.
        #expect(!ticks(&readiness, 100_000))
        let (first, second) = (readiness.accepted(), readiness.accepted())
        #expect(first && !second)
        readiness.detached(at: 200_000)
        #expect(!ticks(&readiness, 300_000))
    }

    @Test func absentCoordinator_isNotWaitedFor() {
        var readiness = ServiceReadiness()
        readiness.detached(at: 1000)
        readiness.detached(at: 2000)
        #expect(!ticks(&readiness, 3999))
        let isReady = readiness.tick(at: 4000)
        #expect(isReady && !ticks(&readiness, 5000))
    }

    @Test func workerThatIsKeptOut_isNotReady_untilItIsLetIn_alsoIfItsCoordinatorGoesAway() {
        var readiness = ServiceReadiness()
        // Without a key the first attempts are cut off, and so look like nobody.
        readiness.detached(at: 0)
        readiness.denied()
        readiness.detached(at: 300)
        #expect(!ticks(&readiness, 100_000))
        readiness.attached()
        readiness.denied()
        #expect(!ticks(&readiness, 200_000))
        let isReady = readiness.accepted()
        #expect(isReady)
    }

    @Test func coordinatorThatComesInTime_decides() {
        var readiness = ServiceReadiness()
        readiness.detached(at: 0)
        readiness.attached()
        #expect(!ticks(&readiness, 10_000))
        readiness.detached(at: 10_000)
        #expect(!ticks(&readiness, 12_999))
        #expect(ticks(&readiness, 13_000))
    }
}
