import DequeModule
import Executing
import Foundation
import Wire

/// What running units write, until the coordinator has it: of each attempt and stream the begin as it comes, and of what goes beyond
/// that the end, when the attempt has ended. Pure.
///
/// It is kept until a receipt names an index behind it, also when its attempt has ended, and sent again after a reconnect. Where the
/// coordinator gives no receipts it is kept until it is sent. The limits bound it: where all attempts together have more, the oldest of it
/// is given up, and a line in its place says so.
struct OutputSpool {
    private enum Sending {
        /// What comes is sent at once.
        case open
        /// The coordinator did not take it: nothing is sent before the next try.
        case refused
        /// The first piece is sent again, and the others when the coordinator has taken that.
        case tried
    }

    private struct Attempt {
        var nextIndex: UInt64 = 0
        var streams: [WireOutputStream: Stream] = [:]
        /// In order, without a hole, up to `nextIndex`.
        var kept: Deque<Piece> = []
        var sending = Sending.open
        /// Nothing follows.
        var isOver = false

        /// Everything before this index is acknowledged, or given up.
        var firstIndex: UInt64 { nextIndex - UInt64(kept.count) }

        subscript(index: UInt64) -> Piece? { index >= firstIndex && index < nextIndex ? kept[Int(index - firstIndex)] : nil }
    }

    private struct Stream {
        var sentBytes = 0
        var endsLine = true
        /// What has not been sent, but for its begin if it is too long.
        var tail: [UInt8] = []
        /// What of it is in nobody's hands any more.
        var lostBytes = 0
        var at: Int64 = 0
    }

    private struct Piece {
        let chunk: WireOutputChunk
        /// Its place among those of all attempts.
        let order: UInt64

        /// What it takes in memory, roughly.
        var spooledBytes: Int { chunk.bytes.count + 128 }
    }

    private struct Place {
        let key: UnitKey
        let index: UInt64
    }

    /// Between two tries while the coordinator cannot store anything: at first, and after many that were refused.
    static let retryMilliseconds: Int64 = 500
    static let retryMillisecondsMax: Int64 = 10_000

    private var attempts: [UnitKey: Attempt] = [:]
    /// What is to be sent, in the order in which it came; some of it may be kept no more.
    private var unsent: [Place] = []
    private var refused: Set<UnitKey> = []
    /// Boot time of the next try for what is refused.
    private var tryAt: Int64 = 0
    /// Until the try behind that one; doubled with each try, until something is taken.
    private var pauseMilliseconds = OutputSpool.retryMilliseconds
    private var nextOrder: UInt64 = 0
    private var keptBytes = 0
    private var isAcknowledged = false
    private let limitBytes: Int
    private let tailBytes: Int
    private let keptBytesMax: Int

    init(
        limitBytes: Int = Limits.outputSpoolBytes, tailBytes: Int = Limits.outputTailBytes, keptBytesMax: Int = Limits.outputKeptBytes
    ) {
        (self.limitBytes, self.tailBytes, self.keptBytesMax) = (limitBytes, tailBytes, keptBytesMax)
    }

    mutating func append(_ bytes: [UInt8], stream kind: WireOutputStream, of key: UnitKey, at: Int64) {
        guard !bytes.isEmpty else { return }
        // Taken out, not looked at: the tail would be copied with each piece.
        var attempt = attempts.removeValue(forKey: key) ?? Attempt()
        var stream = attempt.streams.removeValue(forKey: kind) ?? Stream()
        stream.at = at
        let begin = bytes.prefix(limitBytes - stream.sentBytes)
        if let last = begin.last {
            keep(Data(begin), kind, &attempt, key, at: at)
            stream.sentBytes += begin.count
            stream.endsLine = last == Self.lineFeed
        }
        if begin.count < bytes.count {
            stream.tail += bytes[begin.count...]
            // Not at each piece: what stays has to be moved.
            if stream.tail.count > 2 * tailBytes { Self.cut(&stream, to: tailBytes) }
        }
        attempt.streams[kind] = stream
        attempts[key] = attempt
        makeRoom()
    }

    private static let lineFeed = UInt8(ascii: "\n")
    /// How much of the end is given up so that it begins with a line.
    private static let lineBytesMax = 4096

    private static func cut(_ stream: inout Stream, to count: Int) {
        let surplus = stream.tail.count - count
        guard surplus > 0 else { return }
        stream.tail.removeFirst(surplus)
        stream.lostBytes += surplus
    }

    private mutating func keep(
        _ bytes: Data, _ stream: WireOutputStream, _ attempt: inout Attempt, _ key: UnitKey, at: Int64, isGap: Bool = false
    ) {
        let index = attempt.nextIndex
        let chunk = WireOutputChunk.with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.stream = stream
            $0.index = index
            $0.at = at
            $0.bytes = bytes
            $0.truncated = isGap
        }
        let piece = Piece(chunk: chunk, order: nextOrder)
        nextOrder += 1
        keptBytes += piece.spooledBytes
        attempt.kept.append(piece)
        attempt.nextIndex += 1
        if attempt.sending == .open { unsent.append(Place(key: key, index: index)) }
    }

    /// The attempt has ended: what was kept of the end goes out, after a line that says how much is missing before it.
    mutating func close(_ key: UnitKey) {
        guard attempts[key]?.isOver == false, var attempt = attempts.removeValue(forKey: key) else { return }
        for (kind, var stream) in attempt.streams.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !stream.tail.isEmpty {
            Self.cut(&stream, to: tailBytes)
            if stream.lostBytes > 0 {
                if let end = stream.tail.prefix(min(Self.lineBytesMax, tailBytes / 2)).firstIndex(of: Self.lineFeed) {
                    Self.cut(&stream, to: stream.tail.count - end - 1)
                }
                let text =
                    "[\(stream.lostBytes) bytes of \(kind.word) are missing here: the first \(ByteSize.describe(limitBytes)) "
                    + "and the last \(ByteSize.describe(tailBytes)) of an attempt are kept]\n"
                keep(Data(((stream.endsLine ? "" : "\n") + text).utf8), kind, &attempt, key, at: stream.at, isGap: true)
            }
            keep(Data(stream.tail), kind, &attempt, key, at: stream.at)
        }
        attempt.streams = [:]
        attempt.isOver = true
        put(attempt, key)
        makeRoom()
    }

    /// Puts it back, if anything of it is needed.
    private mutating func put(_ attempt: Attempt, _ key: UnitKey) {
        if attempt.isOver, attempt.kept.isEmpty {
            attempts[key] = nil
            refused.remove(key)
        } else {
            attempts[key] = attempt
        }
    }

    /// Nothing of the unit is needed any more, but for what it wrote before it ended.
    mutating func discard(_ key: UnitKey) {
        guard let attempt = attempts[key], !(attempt.isOver && isAcknowledged) else { return }
        keptBytes -= attempt.kept.reduce(0) { $0 + $1.spooledBytes }
        attempts[key] = nil
        refused.remove(key)
    }

    // MARK: The limit of all attempts

    /// Each round makes some room beyond what is needed: it looks at all attempts.
    private mutating func makeRoom() {
        guard keptBytes > keptBytesMax else { return }
        let oldest = attempts.compactMap { key, attempt in attempt.kept.first.map { (key: key, order: $0.order) } }
        for (key, _) in oldest.sorted(by: { $0.order < $1.order }) where keptBytes > keptBytesMax / 8 * 7 { giveUp(key) }
    }

    /// Gives up what is kept of an attempt; a line stays in its place, the next time nothing.
    private mutating func giveUp(_ key: UnitKey) {
        guard var attempt = attempts.removeValue(forKey: key), let last = attempt.kept.last else { return }
        keptBytes -= attempt.kept.reduce(0) { $0 + $1.spooledBytes }
        let isMark = attempt.kept.count == 1 && last.chunk.truncated
        attempt.kept = []
        unsent.removeAll { $0.key == key }
        if !isMark {
            var mark = last.chunk
            mark.bytes = Data(
                "\n[output is missing here: \(ByteSize.describe(keptBytesMax)) are kept of what the coordinator has not taken]\n".utf8)
            mark.truncated = true
            let piece = Piece(chunk: mark, order: last.order)
            keptBytes += piece.spooledBytes
            attempt.kept = [piece]
            if attempt.sending == .open { unsent.append(Place(key: key, index: mark.index)) }
        }
        put(attempt, key)
    }

    // MARK: The coordinator

    /// The connection is another one: nobody knows what of the last messages has arrived.
    ///
    /// - Parameter acknowledges: whether this coordinator gives receipts.
    mutating func attached(acknowledges: Bool) {
        isAcknowledged = acknowledges
        let keys = Array(attempts.keys)
        for key in keys { attempts[key]?.sending = .open }
        refused = []
        pauseMilliseconds = Self.retryMilliseconds
        unsent = places(of: keys)
    }

    private func places(of keys: [UnitKey]) -> [Place] {
        let pieces = keys.flatMap { key -> [(key: UnitKey, piece: Piece)] in (attempts[key]?.kept ?? []).map { (key: key, piece: $0) } }
        return pieces.sorted { $0.piece.order < $1.piece.order }.map { Place(key: $0.key, index: $0.piece.chunk.index) }
    }

    mutating func receive(_ receipts: [WireOutputReceipt], now: Int64) {
        var (isTaken, isRefused) = (false, false)
        var opened: [UnitKey] = []
        for receipt in receipts {
            let key = UnitKey(unit: receipt.unit, attempt: receipt.attempt)
            guard var attempt = attempts.removeValue(forKey: key) else { continue }
            if receipt.next > attempt.firstIndex {
                let count = Int(min(receipt.next, attempt.nextIndex) - attempt.firstIndex)
                keptBytes -= attempt.kept.prefix(count).reduce(0) { $0 + $1.spooledBytes }
                attempt.kept.removeFirst(count)
                isTaken = true
            }
            if receipt.refused, !attempt.kept.isEmpty {
                isRefused = true
                if refused.isEmpty { tryAt = now + pauseMilliseconds }
                attempt.sending = .refused
                refused.insert(key)
                opened.removeAll { $0 == key }
                unsent.removeAll { $0.key == key }
            } else if attempt.sending != .open {
                isTaken = true
                attempt.sending = .open
                refused.remove(key)
                opened.append(key)
            }
            put(attempt, key)
        }
        unsent += places(of: opened)
        guard isTaken else { return }
        pauseMilliseconds = Self.retryMilliseconds
        tryAt = min(tryAt, isRefused ? now + pauseMilliseconds : now)
    }

    /// Boot time at which something that was not taken is to be sent again; nil: nothing is.
    var deadline: Int64? { refused.isEmpty ? nil : tryAt }

    /// Sends the first piece of what was refused, of the oldest first, and of all together no more than one message takes: a coordinator that
    /// cannot store anything is not filled with what it cannot take.
    private mutating func tryAgain(now: Int64) {
        let first = refused.compactMap { key in attempts[key]?.kept.first.map { (key: key, piece: $0) } }
            .sorted { $0.piece.order < $1.piece.order }
        var bytes = 0
        for (key, piece) in first {
            bytes += Self.messageBytes(piece.chunk)
            guard bytes <= Limits.pageBytes || key == first[0].key else { break }
            attempts[key]?.sending = .tried
            refused.remove(key)
            unsent.append(Place(key: key, index: piece.chunk.index))
        }
        pauseMilliseconds = min(2 * pauseMilliseconds, Self.retryMillisecondsMax)
        tryAt = now + pauseMilliseconds
    }

    private static func messageBytes(_ chunk: WireOutputChunk) -> Int { chunk.bytes.count + 64 }

    /// What is to be sent, in messages of bounded size.
    mutating func take(now: Int64 = .min) -> [WireOutputBatch] {
        if let deadline, deadline <= now { tryAgain(now: now) }
        guard !unsent.isEmpty else { return [] }
        var chunks: [WireOutputChunk] = []
        for place in unsent {
            guard let attempt = attempts[place.key], var chunk = attempt[place.index]?.chunk else { continue }
            if isAcknowledged { chunk.keepsFrom = attempt.firstIndex }
            chunks.append(chunk)
        }
        if !isAcknowledged { forgetSent() }
        unsent.removeAll(keepingCapacity: true)
        let batches = Batching.split(chunks, limitBytes: Limits.pageBytes, size: Self.messageBytes)
        return batches.map { part in .with { $0.chunks = part } }
    }

    private mutating func forgetSent() {
        for place in unsent {
            guard var attempt = attempts.removeValue(forKey: place.key) else { continue }
            keptBytes -= attempt.kept.reduce(0) { $0 + $1.spooledBytes }
            attempt.kept = []
            put(attempt, place.key)
        }
    }
}

extension WireOutputStream {
    fileprivate var word: String {
        switch self {
        case .stdout: "stdout"
        case .stderr: "stderr"
        case .log, .UNRECOGNIZED: "the log"
        }
    }
}
