/// The elements of one operation, and how far each reader has come: the logic of a ``PartialResultChannel``.
///
/// A value that is stepped; it knows neither tasks nor locks.
struct PartialResultSpool<Element> {
    /// How many elements are kept at most.
    private let capacity: Int
    /// Whether elements that every reader has read are kept for late ones.
    private let keepsRead: Bool
    /// The attempt whose elements these are, counted from 1.
    private(set) var attempt = 1
    /// The kept elements; the oldest has the index `oldest`.
    private var kept = Backlog<Element>()
    private var oldest = 0
    private var cursors: [ReaderID: Cursor] = [:]
    private var lastReader: ReaderID = 0
    private var phase = Phase.open

    typealias ReaderID = Int

    private enum Phase {
        /// The operation may still send.
        case open
        /// It has ended, with this error if it did not succeed.
        case closed(AOperationError?)
    }

    /// What a reader gets next.
    private struct Cursor {
        var attempt: Int
        var next: Int
    }

    init(capacity: Int, keepsRead: Bool = true) {
        precondition(capacity > 0, "partialResultsHeldMax is \(capacity): at least one element must be kept")
        self.capacity = capacity
        self.keepsRead = keepsRead
    }

    /// How many elements of the attempt have come.
    var sentCount: Int { oldest + kept.count }

    var isOpen: Bool { if case .open = phase { true } else { false } }

    // MARK: Readers

    /// A reader that has read nothing yet. From now on the elements it has not read are kept for it.
    mutating func join() -> ReaderID {
        lastReader += 1
        cursors[lastReader] = Cursor(attempt: attempt, next: 0)
        return lastReader
    }

    mutating func leave(_ reader: ReaderID) {
        cursors[reader] = nil
    }

    /// What there is for a reader.
    enum Reading {
        case event(PartialResultEvent<Element>)
        /// Nothing yet.
        case nothing
        case end(AOperationError?)
    }

    mutating func read(_ reader: ReaderID) -> Reading {
        guard var cursor = cursors[reader] else { return .end(nil) }
        defer {
            cursors[reader] = cursor
            if !keepsRead { dropRead() }
        }
        if cursor.attempt < attempt {
            cursor = Cursor(attempt: attempt, next: 0)
            return .event(.restarted(attempt: attempt))
        }
        if cursor.next < oldest {
            defer { cursor.next = oldest }
            return .event(.missed(count: oldest - cursor.next))
        }
        if let element = kept[cursor.next - oldest] {
            defer { cursor.next += 1 }
            return .event(.element(element, attempt: attempt, index: cursor.next))
        }
        switch phase {
        case .open: return .nothing
        case .closed(let error): return .end(error)
        }
    }

    /// Whether there is something to read for a reader.
    func hasMore(for reader: ReaderID) -> Bool {
        guard let cursor = cursors[reader] else { return true }
        return cursor.attempt < attempt || cursor.next < oldest + kept.count || !isOpen
    }

    // MARK: The operation

    /// What became of an element.
    enum Sending {
        case sent
        /// No room: a reader is behind.
        case full
        /// The operation has ended, or another attempt has begun.
        case ignored
    }

    /// Keeps an element.
    ///
    /// - Parameter isForced: makes room at the expense of those who are behind.
    mutating func send(_ element: Element, attempt: Int, isForced: Bool) -> Sending {
        guard isOpen, attempt == self.attempt else { return .ignored }
        if kept.count == capacity {
            guard isForced || !isOldestWanted else { return .full }
            _ = kept.popFirst()
            oldest += 1
        }
        kept.append(element)
        return .sent
    }

    /// Whether a reader has the oldest element still before it.
    private var isOldestWanted: Bool {
        cursors.values.contains { $0.attempt < attempt || $0.next <= oldest }
    }

    private mutating func dropRead() {
        while !kept.isEmpty, !isOldestWanted {
            _ = kept.popFirst()
            oldest += 1
        }
    }

    /// Another attempt begins: the elements so far are void.
    mutating func beginAttempt() -> Int {
        attempt += 1
        kept = Backlog()
        oldest = 0
        return attempt
    }

    mutating func close(_ error: AOperationError?) {
        guard isOpen else { return }
        phase = .closed(error)
    }
}
