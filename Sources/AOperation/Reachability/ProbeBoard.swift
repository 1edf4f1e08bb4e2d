import Foundation

/// The probes of the process that are under way.
///
/// Each runs on a thread of its own, since the system's resolver blocks for as long as it likes. Whoever asks for what
/// is being probed already waits for that probe. Who asked is answered at the timeout; a thread that still resolves
/// then ends when the resolver lets it, and until that nobody else is sent after the same name.
final class ProbeBoard: Sendable {
    typealias Target = ConnectProbe.Target
    typealias Outcome = ConnectProbe.Outcome

    static let shared = ProbeBoard()

    private enum Probe {
        /// Waits until there are fewer probes.
        case queued
        /// On its thread; when `deadline` fires, those who wait are answered. `number` tells it from others of the
        /// same target, whose deadlines may fire too late to be cancelled.
        case running(number: Int, deadline: AOperationTimer)
        /// On its thread, and nobody waits any more.
        case overdue
    }

    private struct State {
        var probes: [Target: Probe] = [:]
        var waiting: [Target: [@Sendable (Outcome) -> Void]] = [:]
        var line = Backlog<Target>()
        var running = 0
        var begun = 0
    }

    private let state = Guarded(State())
    private let limit: Int
    private let run: @Sendable (Target) -> Outcome

    /// - Parameters:
    ///   - limit: how many probes run at once; overdue ones do not count.
    ///   - run: the probe itself; may block.
    init(limit: Int = 64, run: @escaping @Sendable (Target) -> Outcome = ConnectProbe.run) {
        self.limit = limit
        self.run = run
    }

    /// Probes `target`, or joins the probe that is under way. `completion` is called once, on any thread, at the
    /// latest when the timeout of the probe is over, which counts from when it has one of the `limit` places.
    func probe(_ target: Target, completion: @escaping @Sendable (Outcome) -> Void) {
        let isOverdue = state.withLock { state in
            switch state.probes[target] {
            case .overdue: return true
            case .queued, .running: break
            case nil:
                state.probes[target] = .queued
                state.line.append(target)
            }
            state.waiting[target, default: []].append(completion)
            return false
        }
        if isOverdue { return completion(.timedOut(target)) }
        startNext()
    }

    private func startNext() {
        let next = state.withLock { state -> Target? in
            guard state.running < limit, let target = state.line.popFirst() else { return nil }
            state.running += 1
            state.begun += 1
            let number = state.begun
            let deadline = AOperationTimer(interval: target.timeout.interval) { [self] in timeOut(target, number) }
            state.probes[target] = .running(number: number, deadline: deadline)
            return target
        }
        guard let next else { return }
        Thread.detachNewThread { [self] in finish(next, run(next)) }
    }

    private func timeOut(_ target: Target, _ number: Int) {
        let waiting = state.withLock { state -> [@Sendable (Outcome) -> Void]? in
            guard case .running(number, _) = state.probes[target] else { return nil }
            state.probes[target] = .overdue
            state.running -= 1
            return state.waiting.removeValue(forKey: target)
        }
        answer(waiting, .timedOut(target))
    }

    private func finish(_ target: Target, _ outcome: Outcome) {
        let waiting = state.withLock { state -> [@Sendable (Outcome) -> Void]? in
            guard case .running(_, let deadline) = state.probes.removeValue(forKey: target) else { return nil }
            deadline.cancel()
            state.running -= 1
            return state.waiting.removeValue(forKey: target)
        }
        answer(waiting, outcome)
    }

    private func answer(_ waiting: [@Sendable (Outcome) -> Void]?, _ outcome: Outcome) {
        for completion in waiting ?? [] { completion(outcome) }
        startNext()
    }
}
