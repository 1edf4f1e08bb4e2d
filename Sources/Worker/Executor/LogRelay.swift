import Synchronization
import Wire

/// Lines that an operation writes, until the executor's loop takes them: many at once.
final class LogRelay: Sendable {
    fileprivate struct State {
        var bytes: [UInt8] = []
        var lostLines = 0
        var isAnnounced = false
    }

    private let state = Mutex(State())
    private let redaction: Redaction
    private let bytesMax: Int

    /// - Parameter bytesMax: what waits for the loop; more than that is lost, and said to be.
    init(_ redaction: Redaction, bytesMax: Int = Limits.outputSpoolBytes) {
        self.redaction = redaction
        self.bytesMax = bytesMax
    }

    /// On any thread.
    ///
    /// - Returns: whether the loop has to be told that there is something.
    func append(_ line: String) -> Bool {
        let bytes = Array((redaction.apply(to: line) + "\n").utf8)
        return state.withLock { state in
            if state.bytes.count + bytes.count > bytesMax {
                state.lostLines += 1
            } else {
                if state.lostLines > 0 { state.noteLoss() }
                state.bytes += bytes
            }
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
    }

    /// What has been written since it was taken last.
    func take() -> [UInt8] {
        state.withLock { state in
            state.isAnnounced = false
            if state.lostLines > 0 { state.noteLoss() }
            defer { state.bytes = [] }
            return state.bytes
        }
    }
}

extension LogRelay.State {
    fileprivate mutating func noteLoss() {
        bytes += Array("[\(lostLines) line\(lostLines == 1 ? "" : "s") of the log are missing here: they came too fast]\n".utf8)
        lostLines = 0
    }
}
