import AOperation
import Executing
import Synchronization
import Wire

/// What running operations say of how far they have come: of each the newest, until it is sent. Put from any thread.
final class ProgressDesk: Sendable {
    private struct Entry {
        var progress: WireProgress
        var isSent = false
    }

    private struct State {
        var entries: [UnitKey: Entry] = [:]
        /// The loop knows that there is something.
        var isAnnounced = false
    }

    /// Between two messages; what comes faster is never sent.
    static let intervalMilliseconds: Int64 = 100

    private let state = Mutex(State())

    /// - Returns: whether the loop is to be told that there is something to send.
    func put(_ progress: OperationProgress, of key: UnitKey, at: Int64) -> Bool {
        state.withLock { state in
            state.entries[key] = Entry(
                progress: .with {
                    $0.fraction = progress.fraction
                    if let message = progress.message { $0.message = message.cut(toBytes: Limits.progressTextBytes) }
                    $0.at = at
                })
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
    }

    /// Whether there is something that has not been sent.
    var hasNews: Bool { state.withLock { $0.isAnnounced } }

    /// What has not been sent, also of units that have just ended; those are forgotten.
    func take(where isRunning: (UnitKey) -> Bool) -> [WireUnitProgress] {
        state.withLock { state in
            state.isAnnounced = false
            var news: [WireUnitProgress] = []
            for (key, entry) in state.entries {
                if isRunning(key) { state.entries[key]?.isSent = true } else { state.entries[key] = nil }
                guard !entry.isSent else { continue }
                news.append(
                    .with {
                        $0.unit = key.unit
                        $0.attempt = key.attempt
                        $0.progress = entry.progress
                    })
            }
            return news
        }
    }

    /// Nobody knows any more what was sent.
    func forgetSent() {
        state.withLock { state in
            for key in state.entries.keys { state.entries[key]?.isSent = false }
        }
    }
}

extension String {
    /// Its beginning, whole characters, in at most so many bytes.
    fileprivate func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var kept = ""
        var bytes = 0
        for character in self {
            bytes += character.utf8.count
            guard bytes <= limit else { break }
            kept.append(character)
        }
        return kept
    }
}
