import AOperation
import Executing
import Foundation
import Wire

/// What `retryOnFailure` and `willFinish` say in this process to ends of operations, wherever these have run.
extension HostedSession {
    func conclude(_ key: UnitKey, _ assignment: WireAssignment, _ mirrors: Mirrors) {
        let question = assignment.conclusion
        if let made = mirrors.conclusion(question.number, at: assignment.path) { return ended(key, FinishedUnit(.concluded(made))) }
        let giveUp: @Sendable () -> Void = { [weak self] in
            guard let self else { return }
            desk.async { self.ended(key, FinishedUnit(.cancelled)) }
        }
        let place = "\(assignment.submission)#\(question.number)"
        let isAsked = state.withLock { state in
            state.bodies[key] = .decision(giveUp: giveUp)
            return state.asking.updateValue(key, forKey: place) != nil
        }
        // It is asked once; whoever asked last has the answer.
        guard !isAsked else { return }
        let answer: @Sendable (ConclusionAnswer) -> Void = { [weak self] answer in
            let made = WireConclusion(answer)
            mirrors.keep(made, question.number, at: assignment.path)
            guard let self else { return }
            desk.async {
                guard let latest = self.state.withLock({ $0.asking.removeValue(forKey: place) }) else { return }
                self.ended(latest, FinishedUnit(.concluded(made)))
            }
        }
        Task { [connection] in
            do {
                let bytes = try await connection.bytes(of: question.success)
                Self.background.async { mirrors.conclude(at: assignment.path, question, bytes: bytes, answer: answer) }
            } catch {
                AOperation.Debugger.error(
                    "the value of the operation \(assignment.path) cannot be had, so its `willFinish` is passed over: \(error)")
                answer(.final)
            }
        }
    }
}

extension WireConclusion {
    fileprivate init(_ answer: ConclusionAnswer) {
        self.init()
        guard case .again(let wait) = answer else { return }
        retryAfterMilliseconds = UInt64(min(max(0, wait / .milliseconds(1)), Double(UInt32.max)))
    }
}
