import Wire

/// The partial results of running units, until the coordinator has them on its disk. Pure.
///
/// An element is kept until a receipt names an index behind it, and sent again after a reconnect. Of each attempt no more is
/// kept than its gate lets in.
struct ElementSpool {
    private struct Stream {
        /// In order; those before `sent` are under way.
        var kept: [WireElement] = []
        var sent = 0
        /// Everything before this index is on the coordinator's disk, or was left out.
        var acknowledged: UInt64 = 0
        /// The index behind the last one that is kept or was.
        var next: UInt64 = 0
        var end = End.open
        /// Boot time before which nothing is sent: the coordinator had no room.
        var pausedUntil: Int64?
    }

    private enum End {
        /// The operation may send more.
        case open
        /// It has sent everything.
        case closed
        /// That was told.
        case told
    }

    /// What a receipt means.
    struct Progress: Equatable {
        /// Elements that are kept no more.
        var freed: [Int] = []
        /// Everything is on the coordinator's disk, and nothing follows.
        var isOver = false
    }

    /// Between two tries while the coordinator has no room.
    static let retryMilliseconds: Int64 = 500

    private var streams: [UnitKey: Stream] = [:]
    /// Those that may have something to send.
    private var ready: Set<UnitKey> = []

    /// Whether the unit's end has to wait for its elements.
    func isOpen(_ key: UnitKey) -> Bool { streams[key] != nil }

    mutating func open(_ key: UnitKey) { streams[key] = Stream() }

    /// - Returns: false when nobody wants it any more.
    mutating func append(_ element: WireElement, of key: UnitKey) -> Bool {
        guard streams[key] != nil else { return false }
        streams[key]?.kept.append(element)
        streams[key]?.next = element.index + 1
        ready.insert(key)
        return true
    }

    /// Whether the operation may send more, and what comes then.
    func expected(_ key: UnitKey) -> UInt64? {
        guard let stream = streams[key], case .open = stream.end else { return nil }
        return stream.next
    }

    /// Nothing follows.
    mutating func close(_ key: UnitKey) {
        guard streams[key] != nil else { return }
        streams[key]?.end = .closed
        ready.insert(key)
    }

    mutating func received(_ receipt: WireElementReceipt, now: Int64) -> Progress {
        let key = UnitKey(unit: receipt.unit, attempt: receipt.attempt)
        guard var stream = streams[key] else { return Progress() }
        var progress = Progress()
        if receipt.next > stream.acknowledged {
            stream.acknowledged = receipt.next
            let count = stream.kept.prefix { $0.index < receipt.next }.count
            progress.freed = stream.kept.prefix(count).map(\.spooledBytes)
            stream.kept.removeFirst(count)
            stream.sent = max(0, stream.sent - count)
        }
        if !receipt.full.isEmpty {
            stream.pausedUntil = now + Self.retryMilliseconds
            Self.sendAgain(&stream)
            ready.insert(key)
        }
        streams[key] = stream
        if receipt.closed, stream.kept.isEmpty, case .told = stream.end {
            progress.isOver = true
            discard(key)
        }
        return progress
    }

    private static func sendAgain(_ stream: inout Stream) {
        stream.sent = 0
        if case .told = stream.end { stream.end = .closed }
    }

    /// The connection is another one: nobody knows what of the last messages has arrived.
    mutating func forgetSent() {
        for key in streams.keys {
            guard var stream = streams[key] else { continue }
            Self.sendAgain(&stream)
            stream.pausedUntil = nil
            streams[key] = stream
            ready.insert(key)
        }
    }

    /// Nobody wants it any more.
    mutating func discard(_ key: UnitKey) {
        streams[key] = nil
        ready.remove(key)
    }

    /// Boot time at which something paused is to be sent again; nil: nothing is.
    var deadline: Int64? { ready.isEmpty ? nil : ready.compactMap { streams[$0]?.pausedUntil }.min() }

    /// What is to be sent, in messages of bounded size.
    mutating func take(now: Int64) -> [WireElementBatch] {
        guard !ready.isEmpty else { return [] }
        var runs: [WireElementRun] = []
        for key in ready.sorted(by: { ($0.unit, $0.attempt) < ($1.unit, $1.attempt) }) {
            guard var stream = streams[key] else { continue }
            if let until = stream.pausedUntil, until > now { continue }
            ready.remove(key)
            stream.pausedUntil = nil
            runs += Self.runs(of: &stream, key)
            streams[key] = stream
        }
        let size: (WireElementRun) -> Int = { $0.elements.reduce(64) { $0 + $1.spooledBytes } }
        return Batching.split(runs, limitBytes: Limits.pageBytes, size: size).map { part in .with { $0.runs = part } }
    }

    private static func runs(of stream: inout Stream, _ key: UnitKey) -> [WireElementRun] {
        // Behind what was sent last: what the coordinator has to have before these.
        var first = stream.sent > 0 ? stream.kept[stream.sent - 1].index + 1 : stream.acknowledged
        let news = Array(stream.kept[stream.sent...])
        stream.sent = stream.kept.count
        var runs: [WireElementRun] = Batching.split(news, limitBytes: Limits.pageBytes / 2, size: \.spooledBytes).map { part in
            defer { first = (part.last?.index ?? first) + 1 }
            return .with {
                $0.unit = key.unit
                $0.attempt = key.attempt
                $0.first = first
                $0.elements = part
            }
        }
        guard case .closed = stream.end else { return runs }
        stream.end = .told
        if runs.isEmpty {
            runs.append(
                .with {
                    $0.unit = key.unit
                    $0.attempt = key.attempt
                    $0.first = first
                })
        }
        runs[runs.count - 1].closed = true
        return runs
    }
}

extension WireElement {
    /// What it takes in memory and in a message, roughly.
    package var spooledBytes: Int { bytes.count + 64 }
}
