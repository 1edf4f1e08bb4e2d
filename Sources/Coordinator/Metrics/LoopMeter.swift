import Glibc
import Scheduling

/// What the transport thread counts of its own work: plain numbers, which that thread alone touches, and copies when it is asked.
package struct LoopMeter: Sendable {
    /// Of messages, without what ZeroMQ and its encryption add.
    package private(set) var bytesIn: UInt64 = 0
    package private(set) var bytesOut: UInt64 = 0
    package private(set) var messagesIn: UInt64 = 0
    package private(set) var messagesOut: UInt64 = 0
    /// Inputs of a step of the scheduler.
    package private(set) var stepInputs = Histogram.sizes
    /// What a step takes, in microseconds.
    package private(set) var stepTimes = Histogram(bounds: microseconds)
    /// Facts that came to be on the disk together.
    package private(set) var commitFacts = Histogram.sizes
    /// From when facts were decided until they were on the disk, in microseconds.
    package private(set) var commitTimes = Histogram(bounds: microseconds)
    /// Milliseconds since 1970; nil: none was made since the start.
    package var snapshotAt: Int64?
    /// Steps that had facts which are not on the disk: their last fact, and when it was decided.
    private var uncommitted: [(sequence: JournalSequence, decidedAt: Int64)] = []
    private var head = 0

    private static let microseconds: [Int64] = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000, 30_000_000,
    ]

    mutating func received(bytes: Int) {
        bytesIn += UInt64(bytes)
        messagesIn += 1
    }

    mutating func sent(bytes: Int) {
        bytesOut += UInt64(bytes)
        messagesOut += 1
    }

    /// A step is over.
    ///
    /// - Parameters:
    ///   - began: what ``now()`` gave before it.
    ///   - sequence: its last fact; nil: it had none.
    mutating func stepped(inputs: Int, since began: Int64, upTo sequence: JournalSequence?) {
        let now = Self.now()
        stepInputs.add(Int64(inputs))
        stepTimes.add(now - began)
        if let sequence { uncommitted.append((sequence, now)) }
    }

    mutating func committed(from: JournalSequence, to: JournalSequence) {
        commitFacts.add(Int64(clamping: to.rawValue - from.rawValue))
        let now = Self.now()
        while head < uncommitted.count, uncommitted[head].sequence <= to {
            commitTimes.add(now - uncommitted[head].decidedAt)
            head += 1
        }
        guard head * 2 >= uncommitted.count else { return }
        uncommitted.removeFirst(head)
        head = 0
    }

    /// Microseconds of a clock that only rises.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
