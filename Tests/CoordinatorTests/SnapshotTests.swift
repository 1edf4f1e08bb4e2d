import Foundation
import GRDB
import Logging
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

@Suite struct SnapshotTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws { temporary = try TemporaryDirectory() }

    /// Facts of a cluster that was given some graphs.
    private func makeFacts(submissions: Int) -> [Fact] {
        var scheduler = Scheduler(.init())
        var outputs = Outputs()
        let now = Instant(boot: 1, wall: 1_700_000_000_000)
        scheduler.start(at: now, incarnation: Incarnation(1), into: &outputs)
        for number in 0..<submissions {
            let nodes =
                [Node(id: "", parent: 0, kind: .group(GroupNode(isOrdered: false)))]
                + (0..<20).map { Node(id: "n\($0)", parent: 0, kind: .operation(OperationNode(type: "t", parameters: 0))) }
            scheduler.step(
                [
                    .request(
                        RequestID(peer: PeerID(1), number: UInt64(number)),
                        .submit(
                            key: "k\(number)", name: "",
                            graph: ExaminedGraph(Graph(name: "g\(number)", nodes: nodes, parameters: [Array("{}".utf8)])),
                            waitForWorkers: true))
                ], at: now, into: &outputs)
        }
        return outputs.facts
    }

    /// The journal with each of the facts in a batch of its own.
    private func write(_ facts: [Fact]) throws -> (JournalDatabase, JournalEnd) {
        let database = try JournalDatabase(try DataDirectory(path: path))
        var end = JournalEnd.empty
        for fact in facts { end = try database.commit([batch([fact], after: end)], after: end) }
        return (database, end)
    }

    private func maker(_ database: JournalDatabase, failingAt stop: Int = .max) -> SnapshotMaker {
        let steps = Steps()
        return SnapshotMaker(
            scheduling: .init(), path: database.path, logger: logger,
            perform: { body in
                guard steps.count.add(1, ordering: .relaxed).newValue <= stop else { throw JournalErrand.Abandoned() }
                try body(database)
            })
    }

    private final class Steps: Sendable {
        let count = Atomic(0)
    }

    private func sections(_ scheduler: Scheduler) -> [[UInt8]] {
        var all: [[UInt8]] = []
        scheduler.writeSnapshot { all.append($0) }
        return all
    }

    private func recovered(_ database: JournalDatabase) throws -> (Scheduler, JournalEnd) {
        var scheduler = Scheduler(.init())
        let snapshot = try database.newestSnapshot()
        if let snapshot { try database.read(snapshot) { try scheduler.restore(section: $0[...]) } }
        let end = try database.fold(after: snapshot?.end ?? .empty) { try scheduler.restore($0) }
        return (scheduler, end)
    }

    private func folded(_ facts: [Fact]) throws -> Scheduler {
        var scheduler = Scheduler(.init())
        for fact in facts { try scheduler.restore(fact) }
        return scheduler
    }

    private func tamper(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path + "/journal.sqlite")
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test func snapshot_takesThePlaceOfItsFacts() throws {
        let facts = makeFacts(submissions: 5)
        let (database, end) = try write(facts)
        let snapshot = try maker(database).make(upTo: JournalSequence(4))
        #expect(snapshot.end.sequence == end.sequence, "what was read in one piece is in it")
        #expect(snapshot.sections == 6)
        #expect(try database.batchCount() == 0)
        let (scheduler, recoveredEnd) = try recovered(database)
        #expect(recoveredEnd == end)
        #expect(sections(scheduler) == sections(try folded(facts)))
    }

    @Test func factsBehindASnapshot_areFoldedOnIt_andTheNextOneStandsOnIt() throws {
        let facts = makeFacts(submissions: 9)
        let (database, end) = try write(Array(facts.prefix(6)))
        _ = try maker(database).make(upTo: end.sequence)
        var next = end
        for fact in facts.dropFirst(6) { next = try database.commit([batch([fact], after: next)], after: next) }
        #expect(sections(try recovered(database).0) == sections(try folded(facts)))
        let second = try maker(database).make(upTo: next.sequence)
        #expect(second.end == next)
        #expect(try database.newestSnapshot() == second)
        let (scheduler, recoveredEnd) = try recovered(database)
        #expect(recoveredEnd == next)
        #expect(sections(scheduler) == sections(try folded(facts)))
    }

    /// The process may end between any two steps.
    @Test func interruption_anywhere_losesNothing() throws {
        let facts = makeFacts(submissions: 4)
        let (database, end) = try write(facts)
        let expected = sections(try folded(facts))
        var stop = 0
        while true {
            let isDone: Bool
            do {
                _ = try maker(database, failingAt: stop).make(upTo: end.sequence)
                isDone = true
            } catch is JournalErrand.Abandoned { isDone = false }
            let (scheduler, recoveredEnd) = try recovered(database)
            #expect(recoveredEnd == end, "interrupted after \(stop) steps")
            #expect(sections(scheduler) == expected, "interrupted after \(stop) steps")
            if isDone { break }
            stop += 1
        }
        #expect(stop > 10)
    }

    @Test func sectionThatIsLargerThanAPart_isPutTogetherAgain() throws {
        let large = Fact.typesRegistered((0..<60_000).map { "a type with a long name that is number \($0)" })
        let (database, end) = try write([large])
        let snapshot = try maker(database).make(upTo: end.sequence)
        #expect(snapshot.bytes > 2 * Int64(Snapshot.partBytes))
        #expect(sections(try recovered(database).0) == sections(try folded([large])))
    }

    @Test(arguments: [
        (
            "UPDATE snapshot_parts SET body = (SELECT body FROM snapshot_parts WHERE section = 2) WHERE section = 1",
            "its digest does not fit"
        ),
        ("UPDATE snapshot_parts SET body = x'0102' WHERE section = 0", "its digest does not fit"),
        ("DELETE FROM snapshot_parts WHERE section = 3", "section 3 is missing"),
        ("\(SnapshotTests.lenient); UPDATE snapshot_parts SET body = NULL WHERE section = 1 AND part = 0", "section 1 cannot be read"),
        ("\(SnapshotTests.lenient); UPDATE snapshot_parts SET body = 'text' WHERE section = 1 AND part = 0", "section 1 cannot be read"),
        ("UPDATE snapshots SET digest = x'00'", "its digest does not fit"),
        ("UPDATE snapshots SET chain = x'00'", "its digest does not fit"),
    ])
    func damagedSnapshot_isRefusedByName(_ sql: String, _ reason: String) throws {
        let (database, end) = try write(makeFacts(submissions: 4))
        _ = try maker(database).make(upTo: end.sequence)
        try database.close()
        try tamper(sql)
        let again = try JournalDatabase(try DataDirectory(path: path))
        let error = try #require(throws: JournalError.self) { try recovered(again) }
        #expect("\(error)".contains("the snapshot of the first \(end.sequence.rawValue) facts is damaged"))
        #expect("\(error)".contains(reason), "\(error)")
    }

    /// Takes what a damaged page may have.
    private static let lenient = """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TABLE snapshot_parts (sequence, section, part, body, PRIMARY KEY (sequence, section, part))'
            WHERE name = 'snapshot_parts';
        PRAGMA writable_schema = RESET
        """

    /// Also where what the damage made of it could be decoded, and be a graph that there cannot be.
    @Test func byteThatIsNotWhatItWas_anywhereInASnapshot_isFound() throws {
        let (database, end) = try write(makeFacts(submissions: 2))
        _ = try maker(database).make(upTo: end.sequence)
        let section = try database.section(1, of: end.sequence)
        for offset in section.indices {
            var damaged = section
            damaged[offset] &+= 1
            try database.replace(section: 1, of: end.sequence, by: damaged)
            let error = try #require(throws: JournalError.self) { try recovered(database) }
            #expect("\(error)".contains("its digest does not fit"), "\(error)")
        }
        try database.replace(section: 1, of: end.sequence, by: section)
        #expect(try recovered(database).1 == end)
    }

    /// A damaged fact must not become part of a snapshot, which would hide it.
    @Test func damagedFact_isFound_andNothingIsPruned() throws {
        let (database, end) = try write(makeFacts(submissions: 4))
        try database.close()
        try tamper("UPDATE journal SET body = (SELECT body FROM journal WHERE first = 2) WHERE first = 3")
        let again = try JournalDatabase(try DataDirectory(path: path))
        #expect(throws: JournalError.damagedBatch(path: again.path, first: 3, reason: "its chain hash does not fit")) {
            try maker(again).make(upTo: end.sequence)
        }
        #expect(try again.batchCount() == Int(end.sequence.rawValue))
        #expect(try again.newestSnapshot() == nil)
    }

    @Test func writer_makesThemByItself_betweenCommits() async throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        let written = try await onThread { [logger] in
            let policy = JournalWriter.SnapshotPolicy(scheduling: .init(), bytes: 1)
            let durable = Collector<JournalSequence>()
            let writer = try JournalWriter(database, after: .empty, snapshots: policy, logger: logger) { event in
                if case .durable(let sequence) = event { durable.add(sequence) }
            }
            var count = 0
            let deadline = BootClock.milliseconds() + 60_000
            while try database.newestSnapshot() == nil || database.batchCount() == count {
                guard BootClock.milliseconds() < deadline else { throw Timeout(what: "waiting for a snapshot") }
                writer.append(Facts.types(count..<count + 1))
                count += 1
                let target = JournalSequence(UInt64(count))
                _ = try durable.wait { $0.last == target }
            }
            writer.close()
            return Facts.types(0..<count)
        }
        #expect(sections(try recovered(database).0) == sections(try folded(written)))
    }

    /// Something was forgotten by an earlier process: it does not stay for as long as nothing happens.
    @Test func writer_makesOneWhenTheTimeHasCome_thoughNothingIsAppended() async throws {
        let (database, end) = try write(Facts.types(0..<3))
        try await onThread { [logger] in
            let policy = JournalWriter.SnapshotPolicy(scheduling: .init(), bytes: 1 << 40, pauseMilliseconds: 100)
            let began = BootClock.milliseconds()
            let writer = try JournalWriter(database, after: end, snapshots: policy, hasForgotten: true, logger: logger) { _ in }
            while try database.newestSnapshot() == nil {
                guard BootClock.milliseconds() < began + 60_000 else { throw Timeout(what: "waiting for a snapshot") }
                #expect(writer.makeSnapshotIfDue() != false)
            }
            #expect(BootClock.milliseconds() >= began + 100)
            writer.close()
        }
        #expect(try database.newestSnapshot()?.end == end)
    }

    /// The facts of what was forgotten are many, and nothing is left of it.
    @Test(arguments: [0, 1, 3]) func snapshotForWhichThereIsNoRoom_saysHowMuchItNeeds_andLeavesNothing(sections: Int) throws {
        let (database, end) = try write(makeFacts(submissions: 2))
        let asked = Mutex<[Int64]>([])
        var maker = maker(database)
        maker.fits = { bytes in
            asked.withLock { asked in
                asked.append(bytes)
                return asked.count <= sections
            }
        }
        let refused = #expect(throws: SnapshotMaker.NoRoom.self) { try maker.make(upTo: end.sequence) }
        #expect(try database.newestSnapshot() == nil && database.partCount() == 0)
        maker.fits = { bytes in bytes <= refused?.bytes ?? 0 }
        #expect(try maker.make(upTo: end.sequence).bytes == refused?.bytes)
        #expect(asked.withLock { $0.first } == refused?.bytes)
    }

    @Test func whatASnapshotMakesSuperfluous_staysWhereTheLogHasNoRoomForItsRemoval() throws {
        let (database, end) = try write(makeFacts(submissions: 2))
        var maker = maker(database)
        maker.mayPrune = { false }
        let rows = try database.batchCount()
        #expect(try maker.make(upTo: end.sequence).end == end)
        #expect(try database.batchCount() == rows)
        maker.mayPrune = { true }
        _ = try maker.make(upTo: end.sequence)
        #expect(try database.batchCount() == 0)
    }

    @Test func whoHasThePen_isNotTakenForOneThatHasRoom() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        let pen = JournalPen(database, after: .empty, nil, logger: logger)
        #expect(pen.snapshotNeed(at: 0) != nil)
        try pen.take { _ throws(JournalError) in #expect(pen.snapshotNeed(at: 0) == nil) }
    }

    @Test func backlog_isDueAfterAsManyBytesAsTheLastSnapshotHad() {
        let snapshot = Snapshot(end: .empty, sections: 1, bytes: 500, digest: [])
        var backlog = SnapshotBacklog(100, since: nil, bytes: 40)
        #expect(!backlog.isDue(at: 0))
        backlog.add(60)
        #expect(backlog.isDue(at: 0))
        backlog.begin(at: 0)
        backlog.add(300)
        #expect(!backlog.isDue(at: 0), "one is being made")
        backlog.end(snapshot)
        #expect(!backlog.isDue(at: 0))
        backlog.add(199)
        #expect(!backlog.isDue(at: 0))
        backlog.add(1)
        #expect(backlog.isDue(at: 0))
    }
}

extension JournalDatabase {
    fileprivate func partCount() throws -> Int { try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM snapshot_parts") ?? 0 } }

    fileprivate func replace(section: Int, of snapshot: JournalSequence, by body: [UInt8]) throws {
        try queue.write { database in
            try database.execute(
                sql: "UPDATE snapshot_parts SET body = ? WHERE sequence = ? AND section = ?",
                arguments: [Data(body), Int64(bitPattern: snapshot.rawValue), section])
        }
    }
}
