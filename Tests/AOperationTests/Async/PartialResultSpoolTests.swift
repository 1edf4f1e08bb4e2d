import Testing

@testable import AOperation

/// The rules of keeping and reading, without tasks.
struct PartialResultSpoolTests {
    private func filled(_ elements: Range<Int>, capacity: Int) -> PartialResultSpool<Int> {
        var spool = PartialResultSpool<Int>(capacity: capacity)
        for element in elements { #expect(spool.send(element, attempt: 1, isForced: false) == .sent) }
        return spool
    }

    /// Everything there is for a reader, as text.
    private func read(_ spool: inout PartialResultSpool<Int>, _ reader: Int) -> [String] {
        var lines: [String] = []
        while true {
            switch spool.read(reader) {
            case .event(.element(let element, let attempt, let index)): lines.append("\(attempt)/\(index)=\(element)")
            case .event(.restarted(let attempt)): lines.append("restarted \(attempt)")
            case .event(.missed(let count)): lines.append("missed \(count)")
            case .nothing: return lines
            case .end(let error): return lines + ["end \(error?.localizedDescription ?? "")"]
            }
        }
    }

    @Test func lateReader_readsFromTheFirstElement() {
        var spool = filled(0..<3, capacity: 3)
        let early = spool.join()
        #expect(read(&spool, early) == ["1/0=0", "1/1=1", "1/2=2"])
        let late = spool.join()
        #expect(read(&spool, late) == ["1/0=0", "1/1=1", "1/2=2"])
    }

    @Test func fullSpool_holdsTheSenderBack_whileAReaderIsBehind() {
        var spool = filled(0..<2, capacity: 2)
        let reader = spool.join()
        #expect(spool.send(2, attempt: 1, isForced: false) == .full)
        _ = spool.read(reader)
        #expect(spool.send(2, attempt: 1, isForced: false) == .sent)
        #expect(spool.send(3, attempt: 1, isForced: false) == .full)
        #expect(read(&spool, reader) == ["1/1=1", "1/2=2"])
    }

    @Test func fullSpool_withoutReaders_dropsTheOldest_andTellsTheLateReader() {
        var spool = filled(0..<5, capacity: 2)
        let late = spool.join()
        #expect(read(&spool, late) == ["missed 3", "1/3=3", "1/4=4"])
    }

    @Test func readerThatLeaves_holdsNobodyBack() {
        var spool = filled(0..<2, capacity: 2)
        let reader = spool.join()
        #expect(spool.send(2, attempt: 1, isForced: false) == .full)
        spool.leave(reader)
        #expect(spool.send(2, attempt: 1, isForced: false) == .sent)
    }

    @Test func forcedElement_takesThePlaceOfAnUnreadOne_whichIsTold() {
        var spool = filled(0..<2, capacity: 2)
        let reader = spool.join()
        #expect(spool.send(2, attempt: 1, isForced: true) == .sent)
        #expect(read(&spool, reader) == ["missed 1", "1/1=1", "1/2=2"])
    }

    @Test func nextAttempt_beginsAtItsFirstElement_andOldSendersAreIgnored() {
        var spool = filled(0..<2, capacity: 4)
        let reader = spool.join()
        _ = spool.read(reader)
        #expect(spool.beginAttempt() == 2)
        #expect(spool.send(9, attempt: 1, isForced: true) == .ignored)
        #expect(spool.send(5, attempt: 2, isForced: false) == .sent)
        #expect(read(&spool, reader) == ["restarted 2", "2/0=5"])
        let late = spool.join()
        #expect(read(&spool, late) == ["2/0=5"])
    }

    @Test func end_comesAfterTheLastElement_andWhatIsSentLaterIsIgnored() {
        var spool = filled(0..<1, capacity: 2)
        let reader = spool.join()
        spool.close(AOperationError(Failed(text: "broken")))
        spool.close(nil)
        #expect(spool.send(1, attempt: 1, isForced: true) == .ignored)
        #expect(read(&spool, reader) == ["1/0=0", "end broken"])
    }
}
