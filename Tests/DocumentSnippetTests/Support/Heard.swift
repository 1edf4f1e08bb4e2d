import Foundation

/// What the snippets' closures have heard, in order. It can be awaited.
final class Heard: @unchecked Sendable {
    private let lock = NSLock()
    private var spoken: [String] = []
    private var waiting: [(word: String, continuation: CheckedContinuation<Void, Never>)] = []

    var words: [String] { lock.withLock { spoken } }

    func callAsFunction(_ word: String) {
        let woken = lock.withLock { () -> [CheckedContinuation<Void, Never>] in
            spoken.append(word)
            let woken = waiting.filter { $0.word == word }
            waiting.removeAll { $0.word == word }
            return woken.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns once `word` has been heard.
    func wait(for word: String) async {
        await withCheckedContinuation { continuation in
            let isPast = lock.withLock { () -> Bool in
                if spoken.contains(word) { return true }
                waiting.append((word, continuation))
                return false
            }
            if isPast { continuation.resume() }
        }
    }
}
