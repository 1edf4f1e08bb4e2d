import Testing

@testable import Wire

@Suite struct OutboxTests {
    static func message(_ number: Int, bytes: Int = 10) -> [Buffer] {
        [Buffer([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes))]
    }

    @Test func keepsItsOrder_andCountsItsBytes() throws {
        var outbox = Outbox()
        var next = 0
        var added = 0
        var random = SeededGenerator(seed: 1)
        while next < 2000 {
            if added < 2000, Bool.random(using: &random) {
                let isKept = outbox.append(Self.message(added), limitBytes: .max)
                #expect(isKept)
                added += 1
            } else if let first = outbox.first {
                #expect(first[0].withUnsafeBytes { $0[0] } == UInt8(truncatingIfNeeded: next))
                outbox.removeFirst()
                next += 1
            }
            #expect(outbox.count == added - next)
            #expect(outbox.bytes == (added - next) * (10 + Outbox.overheadBytes))
        }
        #expect(outbox.isEmpty && outbox.first == nil)
    }

    @Test func refusesWhatIsOverItsLimit() {
        var outbox = Outbox()
        let limit = 2 * (100 + Outbox.overheadBytes)
        var results = (1...2).map { outbox.append(Self.message($0, bytes: 100), limitBytes: limit) }
        results.append(outbox.append(Self.message(3, bytes: 0), limitBytes: limit))
        outbox.removeFirst()
        results.append(outbox.append(Self.message(3, bytes: 0), limitBytes: limit))
        #expect(results == [true, true, false, true])
    }
}
