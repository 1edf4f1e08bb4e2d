import Executing
import Foundation
import Testing
import Wire

@testable import Worker

@Suite struct SupervisorStateTests {
    @Test func crashedExecutor_isSwept_reportedUntilAcknowledged_andReplaced() {
        var state = SupervisorState(processes: 1)
        #expect(state.tick(now: 0) == [.spawn(index: 0)])
        _ = state.spawned(100, index: 0, incarnation: 7, now: 0)
        let exited = state.exited(100, code: 9, bySignal: true, now: 50)
        #expect(exited.last == .sweep)
        let ended = EndedExecutor(incarnation: 7, cause: .crashed, text: "signal 9 (SIGKILL)")
        #expect(state.swept(now: 60) == [.report(ended), .spawn(index: 0)])
        #expect(state.attached() == [.report(ended)])
        _ = state.acknowledged([7], now: 70)
        #expect(state.attached() == [])
    }

    @Test func repeatedCrashes_areRestartedMoreAndMoreSlowly() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        for round in 0..<3 {
            _ = state.spawned(pid_t(100 + round), index: 0, incarnation: UInt64(round), now: 1000)
            _ = state.exited(pid_t(100 + round), code: 1, bySignal: false, now: 1001)
            if round < 1 { _ = state.swept(now: 1001) } else { _ = state.swept(now: 1001) }
            if round == 0 { continue }
            #expect(state.nextStart == 1001 + SupervisorState.backoffMilliseconds[round])
            _ = state.tick(now: 1001 + SupervisorState.backoffMilliseconds[round])
        }
    }

    /// The coordinator gives up what ends executors: what has not, waits for the next one.
    @Test func crashesOfExecutorsThatHadAttached_areRestartedSoon_howeverManyThereAre() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        for round in 0..<20 {
            _ = state.spawned(pid_t(100 + round), index: 0, incarnation: UInt64(round), now: 1000)
            state.attached(pid_t(100 + round))
            _ = state.exited(pid_t(100 + round), code: 6, bySignal: true, now: 1001)
            _ = state.swept(now: 1001)
            if round == 0 { continue }
            #expect(state.nextStart.map { $0 - 1001 } == min(SupervisorState.backoffMilliseconds[min(round, 7)], 1000))
            _ = state.tick(now: 2001)
        }
        // Another one that does not come so far.
        _ = state.spawned(200, index: 0, incarnation: 200, now: 2001)
        _ = state.exited(200, code: 1, bySignal: false, now: 2002)
        #expect(state.nextStart == 32_002)
    }

    @Test func executorThatIsReplaced_andThenSilent_isNotReplacedOnceMore() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        _ = state.spawned(100, index: 0, incarnation: 7, now: 0)
        state.alive(100, now: 0)
        #expect(state.replacementAsked(by: 100, now: 10).last == .spawn(index: 0))
        _ = state.spawned(101, index: 0, incarnation: 8, now: 10)
        var killed: [SupervisorAction] = []
        for now in stride(from: Int64(1_000), through: SupervisorState.silentMilliseconds, by: 1_000) {
            state.alive(101, now: now)
            killed = state.tick(now: now)
        }
        #expect(killed == [.look(100)])
        #expect(state.looked(at: 100, isCrashing: false).last == .kill(100))
        let ended = state.exited(100, code: 9, bySignal: true, now: 20_000) + state.swept(now: 20_000)
        #expect(!ended.contains(.spawn(index: 0)) && state.nextStart == nil)
    }

    @Test func silentExecutor_isKilled_butNotAfterAPauseOfItsOwn() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        _ = state.spawned(100, index: 0, incarnation: 7, now: 0)
        state.alive(100, now: 1000)
        _ = state.tick(now: 1000)
        #expect(state.tick(now: 60_000) == [])
        for now in stride(from: Int64(61_000), to: 70_000, by: 1000) { #expect(state.tick(now: now) == []) }
        #expect(state.tick(now: 70_000) == [.look(100)])
        #expect(state.looked(at: 100, isCrashing: false).last == .kill(100))
        #expect(state.looked(at: 100, isCrashing: true) == [] && state.tick(now: 70_000) == [])
        _ = state.exited(100, code: 9, bySignal: true, now: 70_001)
        #expect(state.swept(now: 70_002).first == .report(EndedExecutor(incarnation: 7, cause: .silent, text: "signal 9 (SIGKILL)")))
    }

    @Test func terminate_drains_andASecondTimeKills() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        _ = state.spawned(100, index: 0, incarnation: 7, now: 0)
        #expect(state.terminate(graceMilliseconds: 500, now: 10) == [.drain(100, graceMilliseconds: 500)])
        #expect(state.terminate(graceMilliseconds: 500, now: 20) == [.kill(100)])
        _ = state.exited(100, code: 9, bySignal: true, now: 21)
        #expect(state.swept(now: 22) == [.report(EndedExecutor(incarnation: 7, cause: .stopped, text: "signal 9 (SIGKILL)"))])
        #expect(state.acknowledged([7], now: 23) == [.exit(0)])
    }

    @Test func stuckExecutor_getsASuccessorAtOnce() {
        var state = SupervisorState(processes: 1)
        _ = state.tick(now: 0)
        _ = state.spawned(100, index: 0, incarnation: 7, now: 0)
        #expect(state.replacementAsked(by: 100, now: 10).last == .spawn(index: 0))
        _ = state.spawned(101, index: 0, incarnation: 8, now: 10)
        _ = state.exited(100, code: ExecutorExit.stuck, bySignal: false, now: 20)
        #expect(state.swept(now: 21) == [.report(EndedExecutor(incarnation: 7, cause: .stopped, text: "exit code 75"))])
    }
}
