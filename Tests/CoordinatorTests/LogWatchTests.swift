import Foundation
import GRDB
import Logging
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// SQLite's log of the journal while another program reads there.
@Suite struct LogWatchTests {
    let temporary: TemporaryDirectory
    private var path: String { temporary.path + "/data" }
    private var journal: String { path + "/journal.sqlite" }

    init() throws { temporary = try TemporaryDirectory() }

    private func logBytes() throws -> Int64 {
        let size = try FileManager.default.attributesOfItem(atPath: journal + "-wal")[.size] as? Int
        return Int64(try #require(size))
    }

    /// The connection of another program.
    private func connect() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: journal, configuration: configuration)
    }

    private static func beginToRead(_ database: Database) throws {
        try database.execute(sql: "BEGIN")
        _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM journal")
    }

    private static func submit(_ key: String, _ coordinator: TestCoordinator) throws {
        let client = try coordinator.peer()
        defer { client.close() }
        _ = try client.attach(.client, incarnation: UInt64.random(in: 10 ... .max))
        _ = try client.submit(.group([.noop("a")]), key: key)
    }

    @Test func longLog_isCut_afterAPauseEachTime() {
        let (most, pause) = (Int64(JournalDatabase.logBytesMax), CoordinatorLimits.logCutMilliseconds)
        var watch = LogWatch()
        #expect(watch.look(most, at: 0) == nil)
        #expect(!watch.isLong)
        #expect(watch.look(most + 1, at: 1) == .cut)
        #expect(watch.isLong)
        #expect(watch.look(most + 1, at: 1 + 2 * pause) == nil, "the journal's thread has not answered")
        #expect(watch.answer(.held, most + 1, at: 10) == nil, "whoever reads for a moment is not told of")
        #expect(watch.look(most + 1, at: 10 + pause - 1) == nil)
        #expect(watch.look(most + 1, at: 10 + pause) == .cut)
        #expect(watch.answer(.cut, 0, at: 20 + pause) == nil)
        #expect(watch.look(0, at: 21 + pause) == nil)
        #expect(!watch.isLong)
    }

    @Test func logThatIsHeld_isToldOf_againWhenItHasDoubled_andWhenItIsShort() {
        let bytes = LogWatch.toldBytes
        var watch = LogWatch()
        #expect(watch.answer(.noRoom, bytes, at: 0) == nil)
        #expect(watch.answer(.held, bytes - 1, at: 1) == nil)
        #expect(watch.answer(.held, bytes, at: 2) == .tellHeld(bytes: bytes))
        #expect(watch.answer(.held, 2 * bytes - 1, at: 3) == nil)
        #expect(watch.answer(.held, 2 * bytes, at: 4) == .tellHeld(bytes: 2 * bytes))
        #expect(watch.look(5, at: 5) == .tellShort(bytes: 5))
        #expect(watch.look(5, at: 6) == nil)
        #expect(watch.answer(.held, bytes, at: 7) == .tellHeld(bytes: bytes), "it is as new")
    }

    @Test func messages_sayWhoAndWhatToDo() {
        #expect(
            LogWatch.heldText("/d/journal.sqlite", bytes: 740 << 20) == """
                /d/journal.sqlite-wal has 740 MiB and grows with each commit, since another program reads the journal in one long transaction, or \
                has it locked. Nothing is lost, but the disk fills, and a start takes longer: close that program (`fuser /d/journal.sqlite` names \
                it, beside this coordinator), and look at copies: aop journal backup makes one
                """)
        #expect(
            LogWatch.shortText("/d/journal.sqlite", bytes: 0)
                == "/d/journal.sqlite-wal has 0 MiB again: no other program holds it any more")
    }

    @Test func logThatIsRead_staysAsItIs_andIsCutBehindTheReader() async throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        let reader = try connect()
        try await onThread {
            let (durable, cuts) = (Collector<JournalSequence>(), Collector<JournalDatabase.LogCut>())
            let writer = try JournalWriter(database, after: .empty, snapshots: nil, logger: Logger(label: "test")) { event in
                switch event {
                case .durable(let sequence): durable.add(sequence)
                case .logCut(let cut): cuts.add(cut)
                case .snapshotMade, .failed: break
                }
            }
            writer.append(Facts.types(0..<10))
            _ = try durable.wait { $0.last == JournalSequence(10) }
            try reader.inDatabase { other in
                try Self.beginToRead(other)
                writer.append(Facts.types(10..<20))
                _ = try durable.wait { $0.last == JournalSequence(20) }
                let bytes = try logBytes()
                let began = BootClock.milliseconds()
                writer.cutLog()
                #expect(try cuts.wait { !$0.isEmpty } == [.held])
                #expect(BootClock.milliseconds() - began < Int64(JournalDatabase.patienceSeconds * 1_000) / 2)
                #expect(try logBytes() == bytes)
                #expect(try Int.fetchOne(other, sql: "SELECT max(last) FROM journal") == 10)
                try other.execute(sql: "ROLLBACK")
            }
            writer.cutLog()
            #expect(try cuts.wait { !$0.isEmpty } == [.cut])
            #expect(try logBytes() == 0)
            #expect(try database.setting("busy_timeout") == Int(JournalDatabase.patienceSeconds * 1_000))
            writer.append(Facts.types(20..<30))
            writer.close()
        }
        #expect(try folded(database).facts == Facts.types(0..<30))
        #expect(try database.integrityProblems().isEmpty)
    }

    @Test func coordinator_tellsOfAReader_cutsTheLogBehindIt_andItsJournalIsWhole() async throws {
        let log = LogRecorder()
        let held = "MiB and grows with each commit"
        try await TestCoordinator.run(in: path, logger: log.logger) { coordinator in
            try Self.submit("before", coordinator)
            let (reader, other) = (try connect(), try connect())
            try reader.inDatabase { database in
                try Self.beginToRead(database)
                // As much as large submissions come to.
                try other.writeWithoutTransaction { other in
                    try other.execute(sql: "PRAGMA synchronous = OFF; CREATE TABLE filler (bytes BLOB)")
                    try other.execute(sql: "INSERT INTO filler VALUES (zeroblob(?))", arguments: [LogWatch.toldBytes])
                }
                let line = try log.waits(for: held)
                #expect(line.hasPrefix("warning \(journal)-wal has "), "\(line)")
                try Self.submit("meanwhile", coordinator)
                #expect(try logBytes() >= LogWatch.toldBytes)
                try database.execute(sql: "ROLLBACK")
            }
            // Nothing is committed meanwhile.
            _ = try log.waits(for: "MiB again")
            #expect(try logBytes() <= Int64(JournalDatabase.logBytesMax))
            try Self.submit("after", coordinator)
        }
        #expect(log.lines.count { $0.contains(held) } == 1, "\(log.lines)")
        let verification = try JournalVerification(dataDirectory: path)
        #expect(verification.problems.isEmpty, "\(verification.problems)")
        #expect(verification.submissions == 3)
    }
}
