import Foundation
import Testing

@testable import AOperation

/// A probe that blocks its thread until it is let go.
private final class Blockade: Sendable {
    let running = Gauge()
    let begun = Log<String>()
    let first = Signal()
    private let gate = NSCondition()
    private let isOpen = Guarded(false)

    func run(_ target: ConnectProbe.Target) -> ConnectProbe.Outcome {
        running.enter()
        begun.append(target.host)
        first.fire()
        gate.withLock { while !isOpen.withLock({ $0 }) { gate.wait() } }
        running.leave()
        return .accepted(localAddress: target.host)
    }

    func open() {
        gate.withLock {
            isOpen.withLock { $0 = true }
            gate.broadcast()
        }
    }
}

@Suite(.timeLimit(Load.patience))
struct ProbeBoardTests {
    private let blockade = Blockade()

    private func target(_ host: String, timeout: Duration = .seconds(50)) -> ConnectProbe.Target {
        ConnectProbe.Target(host: host, port: 1, timeout: timeout)
    }

    /// Asks for each of the targets at once, and opens the blockade when all have asked.
    private func answers(_ board: ProbeBoard, _ targets: [ConnectProbe.Target]) async -> [ConnectProbe.Outcome] {
        let answers = Log<ConnectProbe.Outcome>()
        let done = Signal()
        for target in targets {
            board.probe(target) { outcome in
                answers.append(outcome)
                if answers.count == targets.count { done.fire() }
            }
        }
        blockade.open()
        await done.wait()
        return answers.entries
    }

    @Test func looksAtTheSameTarget_shareOneProbe() async {
        let board = ProbeBoard(run: blockade.run)
        let all = await answers(board, Array(repeating: target("a"), count: 1_000))
        #expect(all == Array(repeating: .accepted(localAddress: "a"), count: 1_000))
        #expect(blockade.begun.count == 1)
    }

    @Test func moreProbesThanTheLimit_waitForEachOther() async {
        let board = ProbeBoard(limit: 3, run: blockade.run)
        let hosts = (0..<30).map { "host\($0)" }
        let all = await answers(board, hosts.map { target($0) })
        #expect(all.count == 30)
        #expect(blockade.running.most <= 3)
        #expect(Set(blockade.begun.entries) == Set(hosts))
    }

    @Test func probeThatIsStuck_isAnsweredAtItsTimeout_andNotSentAgain() async {
        let board = ProbeBoard(limit: 1, run: blockade.run)
        let stuck = target("stuck", timeout: .milliseconds(20))
        for _ in 0..<3 {
            let outcome = await withCheckedContinuation { continuation in
                board.probe(stuck) { continuation.resume(returning: $0) }
            }
            #expect(outcome == .failed(reason: "no answer within 0.02 seconds"))
        }
        await until { !blockade.begun.entries.isEmpty }  // on a busy machine all three may be answered before
        #expect(blockade.begun.entries == ["stuck"])
        blockade.open()
    }

    @Test func probeThatIsStuck_doesNotStandInTheWayOfOthers() async {
        let other = Signal()
        let board = ProbeBoard(limit: 1) { [blockade] target in
            target.host == "stuck" ? blockade.run(target) : .accepted(localAddress: nil)
        }
        board.probe(target("stuck", timeout: .milliseconds(20))) { _ in }
        board.probe(target("other")) { _ in other.fire() }
        await other.wait()
        blockade.open()
    }
}
