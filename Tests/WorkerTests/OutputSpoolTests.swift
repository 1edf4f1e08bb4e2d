import Executing
import Foundation
import Testing
import Wire

@testable import Worker

/// What of a command's output is kept.
@Suite struct OutputSpoolTests {
    private let key = UnitKey(unit: 1, attempt: 2)

    private func text(_ batches: [WireOutputBatch], _ stream: WireOutputStream = .stdout) -> String {
        String(decoding: batches.flatMap(\.chunks).filter { $0.stream == stream }.flatMap(\.bytes), as: UTF8.self)
    }

    private func lines(_ numbers: Range<Int>) -> String { numbers.map { "line \($0)\n" }.joined() }

    @Test func begin_isSentAsItComes_andTheEndWhenTheAttemptHasEnded() {
        var spool = OutputSpool(limitBytes: 100, tailBytes: 50)
        for number in 10..<90 { spool.append(Array("line \(number)\n".utf8), stream: .stdout, of: key, at: 1) }
        let begin = text(spool.take())
        #expect(begin == String(lines(10..<90).prefix(100)))
        spool.close(key)
        let batches = spool.take()
        let whole = begin + text(batches)
        let parts = whole.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(whole.hasSuffix("\n" + lines(84..<90)), "\(whole)")
        let gap = parts.filter { $0.hasPrefix("[") }
        let kept = 100 + lines(84..<90).utf8.count + (whole.contains(lines(83..<90)) ? 8 : 0)
        #expect(
            gap == [
                "[\(lines(10..<90).utf8.count - kept) bytes of stdout are missing here: the first 100 bytes and the last 50 bytes of an"
                    + " attempt are kept]"
            ])
        #expect(batches.flatMap(\.chunks).map(\.truncated) == [true, false])
        #expect(batches.flatMap(\.chunks).map(\.index) == [13, 14], "after those of the begin")
    }

    /// Nothing is missing, and nothing is said to be.
    @Test func whatFitsBothParts_isWhole() {
        var spool = OutputSpool(limitBytes: 100, tailBytes: 50)
        spool.append(Array(lines(10..<28).utf8), stream: .stderr, of: key, at: 1)
        spool.append([UInt8](repeating: 0x61, count: 20), stream: .stdout, of: key, at: 1)
        spool.close(key)
        let batches = spool.take()
        #expect(text(batches, .stderr) == lines(10..<28))
        #expect(text(batches) == String(repeating: "a", count: 20))
        #expect(batches.flatMap(\.chunks).allSatisfy { !$0.truncated })
    }

    /// One piece that is longer than both, without line breaks.
    @Test func hugePiece_keepsItsEnds() {
        var spool = OutputSpool(limitBytes: 10, tailBytes: 5)
        spool.append(
            Array("begin-----".utf8) + [UInt8](repeating: 0x2E, count: 1_000) + Array("-end!".utf8), stream: .stdout, of: key, at: 1)
        spool.close(key)
        #expect(
            text(spool.take())
                == "begin-----\n[1000 bytes of stdout are missing here: the first 10 bytes and the last 5 bytes of an attempt are kept]\n-end!"
        )
    }

    @Test func whatNobodyWants_isGone() {
        var spool = OutputSpool(limitBytes: 10, tailBytes: 5)
        spool.append([UInt8](repeating: 0x61, count: 100), stream: .stdout, of: key, at: 1)
        spool.discard(key)
        spool.close(key)
        #expect(spool.take().isEmpty)
    }

    // MARK: Receipts

    private func receipt(next: UInt64, refused: Bool = false) -> WireOutputReceipt {
        .with {
            $0.unit = key.unit
            $0.attempt = key.attempt
            $0.next = next
            $0.refused = refused
        }
    }

    private func spool(_ numbers: Range<Int>, keptBytesMax: Int = 1 << 20) -> OutputSpool {
        var spool = OutputSpool(limitBytes: 1 << 20, tailBytes: 50, keptBytesMax: keptBytesMax)
        spool.attached(acknowledges: true)
        for number in numbers { spool.append(Array("line \(number)\n".utf8), stream: .stdout, of: key, at: 1) }
        return spool
    }

    @Test func whatIsNotAcknowledged_isSentAgain_alsoWhenItsAttemptHasEnded() {
        var spool = spool(10..<14)
        #expect(text(spool.take()) == lines(10..<14))
        spool.append(Array(lines(14..<15).utf8), stream: .stdout, of: key, at: 1)
        spool.receive([receipt(next: 2)], now: 0)
        #expect(text(spool.take()) == lines(14..<15), "once in each session")
        spool.close(key)
        spool.discard(key)
        spool.attached(acknowledges: true)
        let chunks = spool.take().flatMap(\.chunks)
        #expect(chunks.map(\.index) == [2, 3, 4] && chunks.map(\.keepsFrom) == [2, 2, 2])
        spool.receive([receipt(next: 5)], now: 0)
        spool.attached(acknowledges: true)
        #expect(spool.take().isEmpty)
    }

    @Test func severalAttempts_areSentAgainInTheOrderInWhichTheyWrote() {
        var spool = OutputSpool()
        spool.attached(acknowledges: true)
        for number in 0..<6 {
            let key = UnitKey(unit: UInt64(number % 2), attempt: 1)
            spool.append(Array("line \(number)\n".utf8), stream: .stdout, of: key, at: 1)
        }
        let first = text(spool.take())
        spool.attached(acknowledges: true)
        #expect(first == lines(0..<6) && text(spool.take()) == first)
    }

    /// An older one says nothing of what it has.
    @Test func coordinatorWithoutReceipts_getsEverythingOnce() {
        var spool = OutputSpool()
        spool.attached(acknowledges: false)
        spool.append(Array(lines(10..<12).utf8), stream: .stdout, of: key, at: 1)
        let chunks = spool.take().flatMap(\.chunks)
        #expect(chunks.count == 1 && !chunks[0].hasKeepsFrom)
        spool.attached(acknowledges: false)
        #expect(spool.take().isEmpty)
    }

    @Test func whatWasNotTaken_isSentAgainAfterAWhile_andNothingOvertakesIt() {
        var spool = spool(10..<14)
        _ = spool.take(now: 0)
        spool.receive([receipt(next: 1, refused: true)], now: 100)
        spool.append(Array(lines(14..<15).utf8), stream: .stdout, of: key, at: 1)
        #expect(spool.take(now: 200).isEmpty)
        #expect(spool.deadline == 100 + OutputSpool.retryMilliseconds)
        #expect(text(spool.take(now: 100 + OutputSpool.retryMilliseconds)) == lines(11..<12))
        #expect(spool.deadline == nil)
        spool.append(Array(lines(15..<16).utf8), stream: .stdout, of: key, at: 1)
        #expect(spool.take(now: 5_000).isEmpty, "the others are behind it")
        spool.receive([receipt(next: 2)], now: 5_000)
        #expect(text(spool.take(now: 5_000)) == lines(12..<16))
    }

    /// What nobody can store is not sent twice a second.
    @Test func pauseIsDoubled_upToItsLimit_untilSomethingIsTaken() {
        var spool = spool(10..<14)
        _ = spool.take(now: 0)
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 0..<7 {
            spool.receive([receipt(next: 0, refused: true)], now: now)
            // Of another message that was sent before.
            spool.receive([receipt(next: 0, refused: true)], now: now + 1)
            let deadline = spool.deadline ?? -1
            pauses.append(deadline - now)
            #expect(spool.take(now: deadline - 1).isEmpty)
            now = deadline
            let chunks = spool.take(now: now).flatMap(\.chunks)
            #expect(chunks.map(\.index) == [0] && chunks.map(\.keepsFrom) == [0])
        }
        #expect(pauses == [500, 1_000, 2_000, 4_000, 8_000, OutputSpool.retryMillisecondsMax, OutputSpool.retryMillisecondsMax])
        spool.receive([receipt(next: 1)], now: now)
        let rest = spool.take(now: now).flatMap(\.chunks)
        #expect(rest.map(\.index) == [1, 2, 3] && rest.map(\.keepsFrom) == [1, 1, 1])
        spool.receive([receipt(next: 2, refused: true)], now: now)
        #expect(spool.deadline == now + OutputSpool.retryMilliseconds)
    }

    @Test func triesOfAllAttempts_takeOneMessage_theOldestFirst() {
        var spool = OutputSpool()
        spool.attached(acknowledges: true)
        let size = Limits.pageBytes / 4
        for unit in 1...6 as ClosedRange<UInt64> {
            for _ in 0..<3 {
                spool.append([UInt8](repeating: 0x61, count: size), stream: .stdout, of: UnitKey(unit: unit, attempt: 1), at: 1)
            }
        }
        _ = spool.take(now: 0)
        func receipt(_ unit: UInt64, next: UInt64, refused: Bool = false) -> WireOutputReceipt {
            .with {
                $0.unit = unit
                $0.attempt = 1
                $0.next = next
                $0.refused = refused
            }
        }
        spool.receive((1...6).map { receipt($0, next: 0, refused: true) }, now: 0)
        let first = spool.take(now: OutputSpool.retryMilliseconds).flatMap(\.chunks)
        #expect(first.map(\.unit) == [1, 2, 3] && first.allSatisfy { $0.index == 0 })
        // One is taken: all of it follows, and the next ones are tried.
        spool.receive([receipt(2, next: 1)], now: 600)
        let second = spool.take(now: 600).flatMap(\.chunks)
        #expect(second.map(\.unit) == [2, 2, 4, 5, 6] && second.map(\.index) == [1, 2, 0, 0, 0])
        // A connection knows nothing of the last one.
        spool.attached(acknowledges: true)
        #expect(spool.take(now: 600).flatMap(\.chunks).count == 17 && spool.deadline == nil)
    }

    /// The receipt for the piece that was tried says that it goes on, also where that piece was given up meanwhile.
    @Test func whatIsGivenUpWhileItIsTried_isSaid() {
        var spool = spool(10..<20, keptBytesMax: 2_500)
        _ = spool.take(now: 0)
        spool.receive([receipt(next: 0, refused: true)], now: 0)
        #expect(spool.take(now: 500).flatMap(\.chunks).map(\.index) == [0])
        let other = UnitKey(unit: 2, attempt: 2)
        for number in 10..<20 { spool.append(Array("line \(number)\n".utf8), stream: .stdout, of: other, at: 1) }
        #expect(spool.take(now: 500).flatMap(\.chunks).allSatisfy { $0.unit == other.unit })
        spool.receive([receipt(next: 1)], now: 600)
        let chunks = spool.take(now: 600).flatMap(\.chunks)
        #expect(chunks.map(\.index) == [9] && chunks.map(\.keepsFrom) == [9] && chunks.allSatisfy(\.truncated))
    }

    /// The oldest goes, and that is said in its place.
    @Test func moreThanIsKeptOfAllAttempts_isGivenUp_andALineSaysSo() {
        var spool = spool(10..<20, keptBytesMax: 2_500)
        let other = UnitKey(unit: 2, attempt: 2)
        for number in 10..<20 { spool.append(Array("line \(number)\n".utf8), stream: .stdout, of: other, at: 1) }
        let chunks = spool.take().flatMap(\.chunks)
        let (given, kept) = (chunks.filter { $0.unit == key.unit }, chunks.filter { $0.unit == other.unit })
        #expect(given.map(\.index) == [9] && given.map(\.keepsFrom) == [9] && given.allSatisfy(\.truncated))
        #expect(String(decoding: given.flatMap(\.bytes), as: UTF8.self).contains("[output is missing here: "))
        #expect(kept.map(\.index) == Array(0..<10) && kept.allSatisfy { !$0.truncated })
    }
}
