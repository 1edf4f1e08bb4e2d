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
}
