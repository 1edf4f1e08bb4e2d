import Executing
import Foundation
import Wire

/// What running units write, until it is sent: of each attempt and stream the begin as it comes, and of what goes beyond that
/// the end, when the attempt has ended.
///
/// While the coordinator is away it is kept: the limits bound it.
struct OutputSpool {
    private struct Attempt {
        var nextIndex: UInt64 = 0
        var streams: [WireOutputStream: Stream] = [:]
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

    private var attempts: [UnitKey: Attempt] = [:]
    private var chunks: [WireOutputChunk] = []
    private let limitBytes: Int
    private let tailBytes: Int

    init(limitBytes: Int = Limits.outputSpoolBytes, tailBytes: Int = Limits.outputTailBytes) {
        self.limitBytes = limitBytes
        self.tailBytes = tailBytes
    }

    mutating func append(_ bytes: [UInt8], stream kind: WireOutputStream, of key: UnitKey, at: Int64) {
        guard !bytes.isEmpty else { return }
        // Taken out, not looked at: the tail would be copied with each piece.
        var attempt = attempts.removeValue(forKey: key) ?? Attempt()
        var stream = attempt.streams.removeValue(forKey: kind) ?? Stream()
        stream.at = at
        let begin = bytes.prefix(limitBytes - stream.sentBytes)
        if let last = begin.last {
            send(Data(begin), kind, &attempt, key, at: at)
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

    private mutating func send(
        _ bytes: Data, _ stream: WireOutputStream, _ attempt: inout Attempt, _ key: UnitKey, at: Int64, isGap: Bool = false
    ) {
        chunks.append(
            .with {
                $0.unit = key.unit
                $0.attempt = key.attempt
                $0.stream = stream
                $0.index = attempt.nextIndex
                $0.at = at
                $0.bytes = bytes
                $0.truncated = isGap
            })
        attempt.nextIndex += 1
    }

    /// The attempt has ended: what was kept of the end goes out, after a line that says how much is missing before it.
    mutating func close(_ key: UnitKey) {
        guard var attempt = attempts.removeValue(forKey: key) else { return }
        for (kind, var stream) in attempt.streams.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !stream.tail.isEmpty {
            Self.cut(&stream, to: tailBytes)
            if stream.lostBytes > 0 {
                if let end = stream.tail.prefix(min(Self.lineBytesMax, tailBytes / 2)).firstIndex(of: Self.lineFeed) {
                    Self.cut(&stream, to: stream.tail.count - end - 1)
                }
                let text =
                    "[\(stream.lostBytes) bytes of \(kind.word) are missing here: the first \(ByteSize.describe(limitBytes)) "
                    + "and the last \(ByteSize.describe(tailBytes)) of an attempt are kept]\n"
                send(Data(((stream.endsLine ? "" : "\n") + text).utf8), kind, &attempt, key, at: stream.at, isGap: true)
            }
            send(Data(stream.tail), kind, &attempt, key, at: stream.at)
        }
    }

    /// Drops what has not been sent of a unit nobody wants.
    mutating func discard(_ key: UnitKey) {
        attempts[key] = nil
        if !chunks.isEmpty { chunks.removeAll { $0.unit == key.unit && $0.attempt == key.attempt } }
    }

    /// What is to be sent, in messages of bounded size.
    mutating func take() -> [WireOutputBatch] {
        guard !chunks.isEmpty else { return [] }
        let batches = Batching.split(chunks, limitBytes: Limits.pageBytes) { $0.bytes.count + 64 }
        chunks.removeAll(keepingCapacity: true)
        return batches.map { part in .with { $0.chunks = part } }
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
