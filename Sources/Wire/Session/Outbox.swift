/// Messages that wait because a socket takes no more, oldest first, bounded in bytes.
struct Outbox {
    /// Counted for each message beside its bytes, so that many tiny ones are bounded too.
    static let overheadBytes = 128

    private var messages: [[Buffer]] = []
    /// Messages before this place have been sent.
    private var head = 0
    private(set) var bytes = 0

    var isEmpty: Bool { head == messages.count }
    var count: Int { messages.count - head }
    var first: [Buffer]? { isEmpty ? nil : messages[head] }

    /// False: it would be over `limitBytes`, and nothing was added.
    mutating func append(_ frames: [Buffer], limitBytes: Int) -> Bool {
        let size = Self.size(of: frames)
        guard bytes + size <= limitBytes else { return false }
        messages.append(frames)
        bytes += size
        return true
    }

    mutating func removeFirst() {
        precondition(!isEmpty, "removeFirst of an empty outbox")
        bytes -= Self.size(of: messages[head])
        messages[head] = []
        head += 1
        // Moves what is left only when that is the smaller part: constant time per message on average.
        guard head > 32, head * 2 > messages.count else { return }
        messages.removeFirst(head)
        head = 0
    }

    private static func size(of frames: [Buffer]) -> Int {
        frames.reduce(overheadBytes) { $0 + $1.count }
    }
}
