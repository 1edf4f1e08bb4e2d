import Executing
import Foundation
import Wire

/// The time of a session: of this machine, or of a cluster in memory.
extension HostedSession {
    var readings: (boot: Int64, wall: Int64) { connection.memory?.readings ?? (BootClock.milliseconds(), WallClock.milliseconds()) }

    func armTimer() {
        guard connection.memory == nil else { return }  // who has the time tells of it
        let due = state.withLock { state -> Int64? in
            let deadlines = [state.executor.deadline, state.elements.deadline].compactMap(\.self)
            guard let due = deadlines.min(), due != state.tick else { return nil }
            state.tick = due
            return due
        }
        guard let due else { return }
        let wait = max(0, due - BootClock.milliseconds())
        desk.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: wait))) { [weak self] in
            guard let self else { return }
            state.withLock { if $0.tick == due { $0.tick = nil } }
            sendElements()
            step { $0.tick(now: $1, at: $2) }
        }
    }
}
