import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct AOperationTimerTests {
    /// Is captured by handlers, to see when they are released.
    private final class Held: Sendable {
        let released: Signal
        init(_ released: Signal) { self.released = released }
        deinit { released.fire() }
    }

    @Test(arguments: [0.005, 0, -1, .nan])
    func timer_firesOnce(_ interval: Double) async {
        let fired = Log<Int>()
        let signal = Signal()
        let timer = AOperationTimer(interval: interval) {
            fired.append(1)
            signal.fire()
        }
        await signal.wait()
        await pass(0.02)
        #expect(fired.count == 1)
        timer.cancel()
    }

    @Test func cancelledTimer_doesNotFire() async {
        let fired = Log<Int>()
        let timer = AOperationTimer(interval: 0.01) { fired.append(1) }
        timer.cancel()
        timer.cancel()
        await pass(0.05)
        #expect(fired.count == 0)
    }

    @Test func timerThatIsLetGo_doesNotFire() async {
        let released = Signal()
        let fired = Log<Int>()
        do {
            let held = Held(released)
            _ = AOperationTimer(interval: 0.01) { withExtendedLifetime(held) { fired.append(1) } }
        }
        await released.wait()
        await pass(0.05)
        #expect(fired.count == 0)
    }

    @Test func handler_isReleased_whenTheTimerHasFired_orIsCancelled() async {
        for cancels in [false, true] {
            let released = Signal()
            let held = Guarded<Held?>(Held(released))
            let timer = held.withLock { held in
                defer { held = nil }
                return AOperationTimer(interval: cancels ? 50 : 0.001) { [held] in _ = held }
            }
            if cancels { timer.cancel() }
            await released.wait()
            withExtendedLifetime(timer) {}
        }
    }

    /// Waits until a timer of this length has fired.
    private func pass(_ interval: Double) async {
        let passed = Signal()
        let timer = AOperationTimer(interval: interval) { passed.fire() }
        await passed.wait()
        timer.cancel()
    }
}
