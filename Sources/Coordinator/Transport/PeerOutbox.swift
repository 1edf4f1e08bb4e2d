import Scheduling
import Wire

/// Dispatches some of whose inputs are being stored, because they are too large for a message.
final class DispatchBeingStored {
    let assignments: [Assignment]
    /// Inputs that travel as blobs: by assignment and input; nil: not stored yet.
    private(set) var stored: [Place: BlobKey?]
    /// Those of `assignments` that are not sent.
    private(set) var failed: Set<Int> = []

    struct Place: Hashable {
        let assignment: Int
        let input: Int
    }

    init(_ assignments: [Assignment], storing places: [Place]) {
        self.assignments = assignments
        stored = [:]
        for place in places { stored[place] = .some(nil) }
    }

    func set(_ key: BlobKey, at place: Place) { stored[place] = .some(key) }

    /// The input cannot be stored: its assignment is not sent.
    ///
    /// - Returns: that assignment, at the first time.
    func fail(at place: Place) -> Assignment? {
        stored[place] = nil
        return failed.insert(place.assignment).inserted ? assignments[place.assignment] : nil
    }

    var isComplete: Bool { stored.values.allSatisfy { $0 != nil } }

    func key(at place: Place) -> BlobKey? { stored[place] ?? nil }
}

/// What waits for one peer, in order.
struct PeerOutbox {
    enum Entry {
        case message([Buffer], bytes: Int)
        /// Everything behind it waits with it.
        case storing(DispatchBeingStored)
    }

    private var entries: [Entry] = []
    private var head = 0
    /// Of the messages that wait.
    private(set) var bytes = 0
    /// The newest heartbeat that was not answered yet for want of room; it goes before everything else.
    var heartbeat: UInt64?

    var isEmpty: Bool { head == entries.count && heartbeat == nil }
    var first: Entry? { head < entries.count ? entries[head] : nil }

    mutating func append(_ frames: [Buffer]) {
        let size = frames.reduce(0) { $0 + $1.count }
        entries.append(.message(frames, bytes: size))
        bytes += size
    }

    mutating func append(_ dispatch: DispatchBeingStored) { entries.append(.storing(dispatch)) }

    mutating func removeFirst() {
        guard head < entries.count else { preconditionFailure("removeFirst of an empty outbox") }
        if case .message(_, let size) = entries[head] { bytes -= size }
        entries[head] = .message([], bytes: 0)
        head += 1
        if head == entries.count {
            entries.removeAll(keepingCapacity: entries.count <= 64)
            head = 0
        } else if head >= 256 && head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Puts messages in the place of the first entry.
    mutating func replaceFirst(with messages: [[Buffer]]) {
        removeFirst()
        let entries = messages.map { frames in
            Entry.message(frames, bytes: frames.reduce(0) { $0 + $1.count })
        }
        for case .message(_, let size) in entries { bytes += size }
        self.entries.insert(contentsOf: entries, at: head)
    }
}
