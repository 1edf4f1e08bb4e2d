import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// The pieces of the transport that need no socket.
@Suite struct TransportPartsTests {
    private func send(_ to: UInt64, after: UInt64) -> Outputs.Send {
        var outputs = Outputs()
        var scheduler = Scheduler(Scheduler.Configuration())
        scheduler.start(at: Instant(boot: 0, wall: 0), incarnation: Incarnation(1), into: &outputs)
        outputs.removeAll()
        scheduler.step(
            [.request(RequestID(peer: PeerID(to), number: after), .workers)], at: Instant(boot: 0, wall: 0), into: &outputs)
        var send = outputs.sends[0]
        send.after = JournalSequence(after)
        return send
    }

    /// `#expect` cannot call what mutates; this takes its result.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    /// All that were sent while the coordinator stood still come at once, most of them late.
    @Test func heartbeatsThatComeTogether_sayNothingOfAClock() {
        var offset = ClockOffset()
        var (now, told) = (Int64(1_000_000_000_000), [ClockOffset.Change]())
        func beat(sentAt clock: Int64) {
            if let change = offset.heard(clock, now: now, boot: now - 999_000_000_000) { told.append(change) }
        }
        for _ in 0..<3 {
            beat(sentAt: now)
            now += 1_000
        }
        let paused = now
        now += 12_000
        for second in 0..<8 { beat(sentAt: paused + Int64(second) * 1_000) }
        for _ in 0..<3 {
            now += 1_000
            beat(sentAt: now)
        }
        #expect(told.isEmpty && offset.milliseconds == 0)
        for _ in 0..<3 {
            now += 1_000
            beat(sentAt: now + 60_000)
        }
        #expect(told == [.differs(60_000)])
        now += 1_000
        beat(sentAt: now)
        #expect(told.last == .agrees)
    }

    @Test func heldSends_goWhenTheirFactsAreDurable_inOrder() {
        var held = HeldSends()
        held.append((1...100).map { send(UInt64($0), after: UInt64($0 / 10)) })
        #expect(held.release(upTo: .none).map(\.to.rawValue) == Array(1...9))
        #expect(held.release(upTo: .none).isEmpty)
        #expect(held.release(upTo: JournalSequence(7)).map(\.to.rawValue) == Array(10...79))
        held.append([send(101, after: 10)])
        #expect(held.release(upTo: JournalSequence(10)).map(\.to.rawValue) == Array(80...101))
        #expect(held.isEmpty)
    }

    @Test func outbox_countsBytesAndKeepsOrder() {
        var outbox = PeerOutbox()
        for size in 1...1000 { outbox.append([Buffer([UInt8](repeating: 1, count: size))]) }
        #expect(outbox.bytes == 500_500)
        for size in 1...1000 {
            guard case .message(let frames, _) = outbox.first else {
                Issue.record("empty at \(size)")
                return
            }
            #expect(frames[0].count == size)
            outbox.removeFirst()
        }
        #expect(outbox.isEmpty && outbox.bytes == 0)
    }

    @Test func dispatchBeingStored_holdsBackWhatStandsBehindIt() {
        var outbox = PeerOutbox()
        let place = DispatchBeingStored.Place(assignment: 0, input: 0)
        let dispatch = DispatchBeingStored([], storing: [place])
        outbox.append(dispatch)
        outbox.append([Buffer([1])])
        guard case .storing(let first) = outbox.first else {
            Issue.record("the dispatch is not first")
            return
        }
        #expect(!first.isComplete)
        first.set(BlobKey(digest: BlobDigest(hashing: Data()), size: 0), at: place)
        #expect(first.isComplete)
        outbox.replaceFirst(with: [[Buffer([2, 2])], [Buffer([3, 3, 3])]])
        #expect(outbox.bytes == 6)
        var sizes: [Int] = []
        while case .message(_, let bytes) = outbox.first {
            sizes.append(bytes)
            outbox.removeFirst()
        }
        #expect(sizes == [2, 3, 1])
    }

    private func pull(_ id: UInt64, _ content: UInt8, size: UInt64) -> Pull {
        let key = BlobKey(digest: BlobDigest(hashing: Data([content])), size: size)
        return Pull(
            id: PullID(rawValue: id), key: key,
            purpose: .value(UnitID(rawValue: id), Attempt(rawValue: 1), .bytes, nil, startedAt: 0, endedAt: 0),
            fetch: BlobFetch(reference: key.wire))
    }

    @Test func smallValues_areSeveralAtATime() {
        var queue = PullQueue()
        for id in 1...40 as ClosedRange<UInt64> { queue.add(pull(id, UInt8(id), size: 100 << 10)) }
        var started: [UInt64] = []
        while let next = queue.startNext() { started.append(next.id.rawValue) }
        #expect(started == Array(1...16))
        #expect(queue.remove(PullID(rawValue: 3)) != nil)
        #expect(queue.startNext()?.id.rawValue == 17 && queue.startNext() == nil)
    }

    @Test func pullsThatWaitAndAreNotWanted_areTakenOut_andThoseBehindThemFollow() {
        func pull(_ id: UInt64, _ content: UInt8) -> Pull { self.pull(id, content, size: 2 << 20) }
        var queue = PullQueue()
        // Two begin; 3 and 6 want one value, and so do 1 and 5.
        for (id, content) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 1), (6, 3), (7, 1)] as [(UInt64, UInt8)] { queue.add(pull(id, content)) }
        var started: [UInt64] = []
        while let next = queue.startNext() { started.append(next.id.rawValue) }
        let removed = queue.removeWaiting { [1, 3, 5].contains($0.id.rawValue) }.map(\.id.rawValue)
        #expect(Set(removed) == Set([3, 5]).subtracting(started))
        #expect(queue.count == 7 - removed.count)
        for id in started { #expect(queue.remove(PullID(rawValue: id)) != nil) }
        var rest: [UInt64] = []
        while let next = queue.startNext() {
            rest.append(next.id.rawValue)
            #expect(queue.remove(next.id) != nil)
        }
        #expect(Set(started + removed + rest) == Set(1...7) && queue.isEmpty)
    }

    @Test func pulls_areFewAtATime_andOneOfEachDigest() {
        // Large ones: more bytes than are asked for at a time.
        func pull(_ id: UInt64, _ content: UInt8) -> Pull { self.pull(id, content, size: 2 << 20) }
        var queue = PullQueue()
        for (id, content) in [(1, 1), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5)] as [(UInt64, UInt8)] { queue.add(pull(id, content)) }
        var started: [UInt64] = []
        while let next = queue.startNext() { started.append(next.id.rawValue) }
        #expect(started == [1, 3, 4, 5])
        #expect(queue.contains(AttemptName(unit: UnitID(rawValue: 2), attempt: Attempt(rawValue: 1))))
        #expect(queue.count == 6)
        #expect(queue.remove(PullID(rawValue: 3)) != nil)
        #expect(queue.startNext()?.id.rawValue == 6)
        #expect(queue.remove(PullID(rawValue: 1)) != nil)
        #expect(queue.startNext()?.id.rawValue == 2)
        #expect(!queue.contains(AttemptName(unit: UnitID(rawValue: 1), attempt: Attempt(rawValue: 1))))
        for id in [2, 4, 5, 6] as [UInt64] { #expect(queue.remove(PullID(rawValue: id)) != nil) }
        expect(queue.isEmpty && queue.startNext() == nil)
        queue.add(pull(7, 1))
        #expect(queue.startNext()?.id.rawValue == 7)
    }

    @Test func line_keepsItsOrderHoweverLong() {
        var line = Line<Int>()
        var taken: [Int] = []
        for number in 0..<3000 {
            line.append(number)
            if number % 3 == 0, let first = line.popFirst() { taken.append(first) }
        }
        expect(line.count == 2000)
        while let first = line.popFirst() { taken.append(first) }
        #expect(taken == Array(0..<3000) && line.isEmpty)
    }

    @Test func partsOfValues_areReadAsTheOutboxHasRoom() {
        var reads = PartReads()
        for offset in 0..<100 { expect(reads.add(.with { $0.offset = UInt64(offset) })) }
        let room = CoordinatorLimits.partBytesInFlight / Limits.blobChunkBytes
        var offsets: [UInt64] = []
        while let next = reads.startNext(outboxBytes: 0) { offsets.append(next.offset) }
        #expect(offsets == (0..<UInt64(room)).map(\.self))
        // Read, but still in the outbox.
        reads.ended()
        expect(reads.startNext(outboxBytes: Limits.blobChunkBytes) == nil)
        expect(reads.startNext(outboxBytes: 0)?.offset == UInt64(room))
    }

    @Test func ownPause_isWhatTheLoopDidNotListen() {
        var pause = OwnPause()
        // A message came before the planned end.
        pause.waited(since: 1000, from: 1002, until: 2000, now: 1500, isListening: true)
        expect(pause.end() == 2)
        // Stopped while it waited; a long round before it; nothing planned.
        pause.waited(since: 1500, from: 1500, until: 2500, now: 9000, isListening: true)
        expect(pause.end() == 6500)
        pause.waited(since: 9000, from: 9700, until: 9500, now: 9701, isListening: true)
        expect(pause.end() == 701)
        pause.waited(since: 9701, from: 9701, until: nil, now: 20_000, isListening: true)
        expect(pause.end() == 0)
        // While nothing is read, all of the time counts.
        pause.waited(since: 20_000, from: 20_001, until: 20_500, now: 20_400, isListening: false)
        pause.waited(since: 20_400, from: 20_400, until: nil, now: 24_000, isListening: false)
        pause.waited(since: 24_000, from: 24_001, until: 25_000, now: 24_500, isListening: true)
        expect(pause.end() == 4001)
        expect(pause.end() == 0)
    }

    @Test func eventsThatCannotBeSent_leaveTheView() {
        let error = WireError.tooLarge(what: "a message", bytes: 17, limit: "messageBytes", limitBytes: 16)
        let events = WireCoordinatorMessage.with {
            $0.events.submission = "abc"
            $0.events.events = [.with { $0.path = "a" }]
            $0.events.view.state = .failed
        }
        let rest = events.remainder(of: error)
        #expect(rest?.events.events.isEmpty == true && rest?.events.view.state == .failed && rest?.events.submission == "abc")
        #expect(rest?.remainder(of: error) == nil)
        let answer = WireCoordinatorMessage.with {
            $0.response.request = 5
            $0.response.submission = WireSubmissionView()
        }
        #expect(answer.remainder(of: error)?.response.request == 5)
        #expect(answer.remainder(of: error)?.response.failed.message.isEmpty == false)
        #expect(answer.remainder(of: error)?.remainder(of: error) == nil)
    }

    @Test func whatWasKeptQuiet_isToldWhenNothingComesAfterIt() {
        let log = LogRecorder()
        var counters = ProtocolCounters()
        let host = LogSource(address: "10.0.0.7")
        for time in [0, 10, 20] as [Int64] { counters.note(.denied, from: host, "at \(time)", time, log.logger) }
        counters.note(.handshake, from: .unknown, "another kind", 0, log.logger)
        for time in [999, 1500, 1999] as [Int64] { counters.noteRest(time, log.logger) }
        #expect(log.lines == ["warning denied: at 0 total 1", "warning handshake: another kind total 1"])
        #expect(counters.hasRest)
        counters.noteRest(2000, log.logger)
        #expect(!counters.hasRest)
        counters.noteRest(9000, log.logger)
        #expect(log.lines.dropFirst(2) == ["warning denied: 2 more like the last one from 10.0.0.7 were not logged total 3"])
        // What comes in time takes them along.
        for time in [10_000, 10_001, 11_000, 12_500] as [Int64] { counters.note(.denied, from: host, "at \(time)", time, log.logger) }
        counters.noteRest(30_000, log.logger)
        #expect(
            log.lines.dropFirst(3) == [
                "warning denied: at 10000 total 4", "warning denied: at 12500 (2 more like this were not logged) total 7",
            ])
        #expect(!counters.hasRest)
    }

    /// One that is refused for an hour has a line a minute; who comes for the first time is told at once beside it.
    @Test func eachSource_isToldOfByItself_andEverMoreSeldom() {
        let log = LogRecorder()
        var counters = ProtocolCounters()
        let (loud, other) = (LogSource(address: "10.0.0.7"), LogSource(address: "10.0.0.8"))
        for time in stride(from: 0, to: 3_600_000, by: 100) {
            counters.note(.denied, from: loud, "loud", Int64(time), log.logger)
            if time == 1_800_000 { counters.note(.denied, from: other, "other", Int64(time), log.logger) }
        }
        #expect((60...70).contains(log.lines.count), "\(log.lines.count)")
        #expect(log.lines.contains { $0.contains("denied: other") })
        // After a quiet time it is as at first.
        counters.noteRest(3_900_000, log.logger)
        let before = log.lines.count
        for time in [4_000_000, 4_001_000] as [Int64] { counters.note(.denied, from: loud, "again", time, log.logger) }
        #expect(log.lines.count == before + 2)
    }

    /// Keys and addresses cost a stranger nothing: the log takes what a disk can take, and still has them all.
    @Test func floodOfSources_isFewLines_andNoneIsLost() {
        let log = LogRecorder()
        var counters = ProtocolCounters()
        for number in 0..<36_000 {
            let source = LogSource(address: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)")
            counters.note(.denied, from: source, "flood", Int64(number * 100), log.logger)
            if number.isMultiple(of: 10) { counters.noteRest(Int64(number * 100), log.logger) }
        }
        let hour: Int64 = 3_600_000
        // The first of each of 500 addresses, and what one kind may have beside that.
        #expect(log.lines.count <= 500 + 20 + 720 + 1, "an hour of it: \(log.lines.count) lines")
        for time in stride(from: hour, to: hour + 600_000, by: 1000) { counters.noteRest(time, log.logger) }
        #expect(!counters.hasRest)
        let told = log.lines.count { $0.contains("flood") }
        let more = log.lines.flatMap { $0.matches(of: /(\d+) more like/) }.compactMap { Int($0.1) }.reduce(0, +)
        #expect(told + more == 36_000 && counters.counts[.denied] == 36_000, "\(told) + \(more)")
    }

    /// A thousand keys from one address leave no room in the log; another host is told of all the same.
    @Test func firstRefusalOfAnotherHost_isTold_besideAFloodOfKeys() throws {
        let log = LogRecorder()
        var counters = ProtocolCounters()
        func flood(_ numbers: Range<Int>) throws {
            for number in numbers {
                let key = try #require(PublicKey(String(repeating: "0", count: 36) + String(format: "%04d", number)))
                counters.note(.denied, from: LogSource(key: key, address: "10.0.0.66"), "flood", Int64(number), log.logger)
            }
        }
        try flood(0..<1500)
        let before = log.lines.count
        #expect(before < 30)
        counters.note(.denied, from: LogSource(address: "10.0.0.8"), "honest", 1500, log.logger)
        #expect(log.lines.count == before + 1 && log.lines.last?.contains("denied: honest") == true)
        try flood(1501..<1600)
        #expect(log.lines.count == before + 1)
    }

    @Test func addressOfAConnection_isKnown_onlyIfItWasStillThereAfterItWasRead() {
        var ledger = ConnectionLedger()
        func ended(_ descriptor: Int32) -> String? { ledger.ended(descriptor, isExplained: true).address }
        ledger.accepted(7, "10.0.0.7")
        #expect(ended(7) == nil, "its descriptor may have been another connection's")
        ledger.accepted(7, "10.0.0.8")
        ledger.accepted(8, nil)
        ledger.settle()
        #expect(ended(7) == "10.0.0.8")
        #expect(ended(7) == nil && ended(8) == nil)
    }

    @Test func connectionThatEndsWithoutAWord_isUnexplained_unlessItShookHandsOrWasDenied() {
        var ledger = ConnectionLedger()
        for descriptor in 1...5 as ClosedRange<Int32> { ledger.accepted(descriptor, "10.0.0.\(descriptor)") }
        ledger.settle()
        // One says hello, one shakes hands and goes without it, one has a key that is not let in.
        ledger.succeeded()
        ledger.spoke(1)
        ledger.spoke(1)
        ledger.succeeded()
        ledger.refused()
        func isUnexplained(_ descriptor: Int32) -> Bool { ledger.ended(descriptor, isExplained: false).isUnexplained }
        #expect(!isUnexplained(2) && !isUnexplained(3))
        #expect(isUnexplained(4))
        #expect(!isUnexplained(1))
        #expect(isUnexplained(5))
        #expect(!isUnexplained(5), "it is counted once")
        // One was not let in, and its end was told as a handshake that failed: that hides no later one.
        ledger.accepted(6, nil)
        ledger.refused()
        _ = ledger.ended(6, isExplained: true)
        ledger.accepted(7, nil)
        #expect(isUnexplained(7))
    }

    @Test func rateLimit_countsWhatItKeepsQuiet() {
        var limit = RateLimit(intervalMilliseconds: 100)
        #expect(limit.allow(at: 0) == "")
        #expect(limit.allow(at: 1) == nil)
        #expect(limit.allow(at: 99) == nil)
        #expect(limit.allow(at: 100) == " (2 more like this were not logged)")
        #expect(limit.allow(at: 200) == "")
    }
}
