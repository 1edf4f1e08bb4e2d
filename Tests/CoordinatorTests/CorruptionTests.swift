import Foundation
import GRDB
import Scheduling
import Testing

@testable import Coordinator

/// A journal that was damaged is read whole, or refused: it is never read with something missing that was acknowledged.
@Suite struct CorruptionTests {
    let temporary: TemporaryDirectory
    init() throws { temporary = try TemporaryDirectory() }

    /// `AOP_CORRUPTION_OFFSETS` says how many places, `AOP_CORRUPTION_SEED` with which seed the first one is drawn.
    private static func number(_ variable: String, or standard: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? standard
    }

    @Test func damageAnywhere_losesNothingThatWasAcknowledged() throws {
        let directory = try DamagedDirectory(in: temporary.path)
        let first = Self.number("AOP_CORRUPTION_SEED", or: 1)
        var outcomes: [String: Int] = [:]
        for seed in first..<first + Self.number("AOP_CORRUPTION_OFFSETS", or: 40) {
            let damage = try directory.damage(UInt64(seed))
            do {
                switch try directory.start(with: damage) {
                case .recovered(cut: false): outcomes["whole", default: 0] += 1
                case .recovered(cut: true): outcomes["without a transaction that nobody was told of", default: 0] += 1
                case .refused: outcomes["refused", default: 0] += 1
                case .damagedValue: outcomes["a large value is damaged, and found", default: 0] += 1
                }
            } catch { Issue.record("\(error)") }
        }
        print("damaged journals: \(outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))")
        #expect(outcomes["whole", default: 0] > 0 && outcomes["refused", default: 0] > 0)
    }

    private func makeDatabase() throws -> (JournalDatabase, DataDirectory) {
        let directory = try DataDirectory(path: temporary.path + "/data")
        return (try JournalDatabase(directory), directory)
    }

    private func configuration() -> CoordinatorConfiguration { CoordinatorConfiguration(dataDirectory: temporary.path + "/data") }

    /// What SQLite would drop without a word: its log's last transaction, of which others were told.
    @Test func lastTransactionThatWasAcknowledged_isMissed() throws {
        do {
            let (database, _) = try makeDatabase()
            var end = JournalEnd.empty
            for index in 0..<5 { end = try database.commit([batch(Facts.types(index..<index + 1), after: end)], after: end) }
            try FileManager.default.copyItem(atPath: temporary.path + "/data", toPath: temporary.path + "/copy")
        }
        let log = temporary.path + "/copy/journal.sqlite-wal"
        var content = try Data(contentsOf: URL(fileURLWithPath: log))
        content[content.count - 10] ^= 1
        try content.write(to: URL(fileURLWithPath: log))
        try? FileManager.default.removeItem(atPath: temporary.path + "/copy/journal.sqlite-shm")
        let error = try #require(throws: JournalError.self) {
            try Recovery(CoordinatorConfiguration(dataDirectory: temporary.path + "/copy"), logger: TestCoordinator.quiet)
        }
        #expect(error == .lostRecords(path: temporary.path + "/copy/journal.sqlite", acknowledged: 5, found: 4))
        #expect("\(error)".contains("it ends at fact 4, and 5 were acknowledged") && "\(error)".contains("put a backup of it in its place"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == content, "it may be looked at again")
    }

    /// It is written to when a snapshot is made, and the coordinator would end in the middle of its work.
    @Test(arguments: ["snapshot_parts", "sqlite_autoindex_snapshot_parts_1"])
    func pageThatIsNotReadAtAStart_isLookedAt(_ name: String) throws {
        do {
            let (database, _) = try makeDatabase()
            _ = try database.commit([batch(Facts.types(0..<3), after: .empty)], after: .empty)
            try database.close()
        }
        let path = temporary.path + "/data/journal.sqlite"
        let queue = try DatabaseQueue(path: path)
        let (page, size) = try queue.read {
            (
                try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name]) ?? 0,
                try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 0
            )
        }
        try queue.close()
        var content = try Data(contentsOf: URL(fileURLWithPath: path))
        content.replaceSubrange((page - 1) * size..<page * size, with: Data(count: size))
        try content.write(to: URL(fileURLWithPath: path))
        let error = try #require(throws: JournalError.self) { try Recovery(configuration(), logger: TestCoordinator.quiet) }
        #expect("\(error)".contains("cannot check the file") && "\(error)".contains("the file is damaged"), "\(error)")
    }

    /// It can be read only when it has been brought to the newest schema.
    @Test func journalOfAnEarlierSchema_thatLostItsEnd_isRefused() throws {
        do {
            let (database, _) = try makeDatabase()
            var end = JournalEnd.empty
            for index in 0..<3 { end = try database.commit([batch(Facts.types(index..<index + 1), after: end)], after: end) }
            try database.close()
        }
        let path = temporary.path + "/data/journal.sqlite"
        let queue = try DatabaseQueue(path: path)
        try queue.write {
            try $0.execute(
                sql: """
                    DROP TABLE snapshots; DROP TABLE snapshot_parts; DELETE FROM schema_versions WHERE number > 1;
                    DELETE FROM journal WHERE first = 3
                    """)
        }
        try queue.close()
        #expect(throws: JournalError.lostRecords(path: path, acknowledged: 3, found: 2)) {
            try Recovery(configuration(), logger: TestCoordinator.quiet)
        }
    }

    @Test func emptyFileInPlaceOfAJournal_isRefused() throws {
        do {
            let (database, _) = try makeDatabase()
            _ = try database.commit([batch(Facts.types(0..<3), after: .empty)], after: .empty)
            try database.close()
        }
        try Data().write(to: URL(fileURLWithPath: temporary.path + "/data/journal.sqlite"))
        #expect(throws: JournalError.lostRecords(path: temporary.path + "/data/journal.sqlite", acknowledged: 3, found: 0)) {
            try Recovery(configuration(), logger: TestCoordinator.quiet)
        }
    }

    /// Also its witness: what is left there would be taken for what belongs to nothing, and removed.
    @Test(arguments: [("blobs/incoming/1", false), ("blobs/ab/cdef", true), ("history.sqlite", true)])
    func directoryWhoseJournalIsGone_isNotTakenForANewOne(_ rest: String, isRefused: Bool) throws {
        let data = temporary.path + "/data"
        let file = URL(fileURLWithPath: "\(data)/\(rest)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("x".utf8).write(to: file)
        guard isRefused else {
            _ = try Recovery(configuration(), logger: TestCoordinator.quiet)
            return
        }
        let remains = rest.hasPrefix("blobs") ? "\(data)/blobs" : "\(data)/history.sqlite"
        #expect(throws: JournalError.journalIsGone(path: "\(data)/journal.sqlite", remains: remains)) {
            try Recovery(configuration(), logger: TestCoordinator.quiet)
        }
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    /// The log had all of its facts, and went with the witness: the schema alone says nothing of a first start.
    @Test(arguments: [false, true]) func directoryWhoseJournalHoldsNothing_isNotTakenForANewOne(hasWitness: Bool) throws {
        let data = temporary.path + "/data"
        do {
            let used = CoordinatorConfiguration(dataDirectory: temporary.path + "/used")
            let recovery = try Recovery(used, logger: TestCoordinator.quiet)
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for name in ["journal.sqlite", "history.sqlite"] {
                try FileManager.default.copyItem(atPath: "\(used.dataDirectory)/\(name)", toPath: "\(data)/\(name)")
            }
            withExtendedLifetime(recovery) {}
        }
        if hasWitness { try Data().write(to: URL(fileURLWithPath: "\(data)/journal.acknowledged")) }
        let gone = JournalError.journalIsGone(path: "\(data)/journal.sqlite", remains: "\(data)/history.sqlite")
        #expect(throws: gone) { try Recovery(configuration(), logger: TestCoordinator.quiet) }
        #expect(throws: gone) { try JournalVerification(dataDirectory: data) }
        try FileManager.default.removeItem(atPath: "\(data)/history.sqlite")
        #expect(throws: Never.self) { try Recovery(configuration(), logger: TestCoordinator.quiet) }
    }

    /// Whoever opens a pipe waits for another one who does.
    @Test(arguments: ["journal.acknowledged", "elements.sqlite-wal", "elements.acknowledged"])
    func pipeInPlaceOfAFile_isRefused(_ name: String) throws {
        let data = temporary.path + "/data"
        try FileManager.default.createDirectory(
            atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #expect(mkfifo("\(data)/\(name)", 0o600) == 0)
        #expect(throws: DataDirectoryError.notAFile(path: "\(data)/\(name)")) {
            try Recovery(configuration(), logger: TestCoordinator.quiet)
        }
    }

    @Test func anotherJournalOfTheSameLength_isRefused() throws {
        let (database, directory) = try makeDatabase()
        let end = try database.commit([batch(Facts.types(0..<1), after: .empty)], after: .empty)
        try JournalWitness(directory).note(JournalEnd(sequence: end.sequence, chain: [UInt8](repeating: 7, count: 32)))
        #expect(throws: JournalError.otherJournal(path: directory.journalPath, sequence: 1)) {
            try JournalWitness.check(in: directory, database, reaches: end)
        }
        // One that says less than the journal, and one that is no witness, say nothing.
        try JournalWitness(directory).note(.empty)
        try JournalWitness.check(in: directory, database, reaches: end)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: JournalWitness.path(in: directory)))
        try JournalWitness.check(in: directory, database, reaches: end)
    }

    /// It has facts of the same numbers, which are others, or in other batches.
    @Test func anotherJournalThatIsLonger_isRefused_andTheSameOneIsNot() throws {
        let (database, directory) = try makeDatabase()
        var ends = [JournalEnd.empty]
        for facts in [0..<2, 2..<3, 3..<6] {
            ends.append(try database.commit([batch(Facts.types(facts), after: ends[ends.count - 1])], after: ends[ends.count - 1]))
        }
        for told in ends {
            try JournalWitness(directory).note(told)
            try JournalWitness.check(in: directory, database, reaches: ends[3])
        }
        let others = [
            JournalEnd(sequence: ends[2].sequence, chain: ends[1].chain), JournalEnd(sequence: JournalSequence(1), chain: ends[1].chain),
            JournalEnd(sequence: JournalSequence(5), chain: ends[3].chain),
        ]
        for told in others {
            try JournalWitness(directory).note(told)
            #expect(throws: JournalError.otherJournal(path: directory.journalPath, sequence: told.sequence.rawValue)) {
                try JournalWitness.check(in: directory, database, reaches: ends[3])
            }
        }
    }
}
