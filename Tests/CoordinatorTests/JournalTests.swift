import Foundation
import GRDB
import Logging
import Scheduling
import Testing

@testable import Coordinator

@Suite struct JournalTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }

    init() throws { temporary = try TemporaryDirectory() }

    /// Writes three batches of ten facts and closes.
    @discardableResult
    func writeThreeBatches() throws -> [Fact] {
        let database = try JournalDatabase(try DataDirectory(path: path))
        var end = JournalEnd.empty
        for index in 0..<3 {
            end = try database.commit([batch(Facts.types(index * 10..<index * 10 + 10), after: end)], after: end)
        }
        try database.close()
        return Facts.types(0..<30)
    }

    /// Changes the file behind the journal's back.
    func tamper(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path + "/journal.sqlite")
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test func facts_areReadBackInOrder() throws {
        let written = try writeThreeBatches()
        let directory = try DataDirectory(path: path)
        let database = try JournalDatabase(directory)
        let (facts, end) = try folded(database)
        #expect(facts == written)
        #expect(end.sequence == JournalSequence(30))
        let next = try database.commit([batch(Facts.types(30..<31), after: end)], after: end)
        #expect(next.sequence == JournalSequence(31))
        #expect(try folded(database).end == next)
    }

    @Test func synchronous_isFull() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        #expect(try database.setting("synchronous") == 2)
        #expect(try database.setting("wal_autocheckpoint") == JournalDatabase.checkpointPages)
        #expect(try database.setting("journal_size_limit") == JournalDatabase.logBytesMax)
    }

    @Test func journalFile_isPrivate() throws {
        try writeThreeBatches()
        for (name, mode) in [("", 0o700), ("/journal.sqlite", 0o600), ("/coordinator.lock", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    @Test func changedBody_isRefusedNamingTheBatch() throws {
        try writeThreeBatches()
        try tamper("UPDATE journal SET body = (SELECT body FROM journal WHERE first = 1) WHERE first = 11")
        let database = try JournalDatabase(try DataDirectory(path: path))
        let error = try #require(throws: JournalError.self) { try folded(database) }
        #expect(
            error
                == .damagedBatch(
                    path: path + "/journal.sqlite", first: 11, reason: "its chain hash does not fit"))
        #expect(
            "\(error)" == """
                \(path)/journal.sqlite: the batch of facts that begins at 11 is damaged (its chain hash does not fit). \
                Nothing was changed. Keep a copy of the data directory, then put a backup of it in its place, or start \
                afresh with another --data
                """)
    }

    @Test func missingBatch_isRefused() throws {
        try writeThreeBatches()
        try tamper("DELETE FROM journal WHERE first = 11")
        let database = try JournalDatabase(try DataDirectory(path: path))
        let error = try #require(throws: JournalError.self) { try folded(database) }
        #expect(
            error
                == .damagedBatch(
                    path: path + "/journal.sqlite", first: 21, reason: "fact 11 should follow: a batch is missing"))
    }

    @Test func exchangedSequences_areRefused() throws {
        try writeThreeBatches()
        try tamper("UPDATE journal SET last = 29 WHERE first = 21")
        let database = try JournalDatabase(try DataDirectory(path: path))
        #expect(throws: JournalError.self) { try folded(database) }
    }

    @Test func factThatDoesNotFit_isRefusedNamingIt() throws {
        try writeThreeBatches()
        let database = try JournalDatabase(try DataDirectory(path: path))
        struct Odd: Error {}
        var count = 0
        let error = try #require(throws: JournalError.self) {
            try database.fold { _ in
                count += 1
                if count == 17 { throw Odd() }
            }
        }
        guard case .misfit(_, 17, _) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func newerRules_areRefusedByName() throws {
        try writeThreeBatches()
        let database = try JournalDatabase(try DataDirectory(path: path))
        var scheduler = Scheduler(.init())
        let start = Fact.epochStarted(epoch: 9, incarnation: Incarnation(9), at: 1, rules: Rules.newest + 1)
        let error = try #require(throws: JournalError.self) { try database.fold { _ in try scheduler.restore(start) } }
        #expect(error == .newerRules(path: database.path, rules: Rules.newest + 1))
        #expect(
            "\(error)".contains("which a newer release of aop has written; this release knows rules up to \(Rules.newest): start the newer")
        )
    }

    @Test func newerSchema_isRefusedByName() throws {
        try writeThreeBatches()
        try tamper("INSERT INTO schema_versions VALUES (7, 'archives', '3.1.0')")
        let error = try #require(throws: JournalError.self) { try JournalDatabase(try DataDirectory(path: path)) }
        #expect(
            "\(error)" == """
                \(path)/journal.sqlite has schema 7 (“archives”), written by aop 3.1.0; this release knows schemas up to 2: \
                start the newer release, or name another directory with --data
                """)
    }

    @Test func fileThatIsNoDatabase_isRefused() throws {
        _ = try DataDirectory(path: path)
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: path + "/journal.sqlite"))
        let error = try #require(throws: JournalError.self) { try JournalDatabase(try DataDirectory(path: path)) }
        #expect("\(error)".hasPrefix("\(path)/journal.sqlite: cannot open the journal: "))
    }

    @Test func writer_mergesWhatWaitsIntoOneTransaction() async throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        try await onThread {
            let durable = Collector<JournalSequence>()
            let gate = WorkQueue<Void>()
            let writer = try JournalWriter(database, after: .empty, snapshots: nil, logger: Logger(label: "test")) { event in
                guard case .durable(let sequence) = event else { return }
                durable.add(sequence)
                // The first commit is held here until everything else waits.
                if sequence == JournalSequence(1) { _ = gate.take() }
            }
            writer.append(Facts.types(0..<1))
            _ = try durable.wait { !$0.isEmpty }
            for index in 1..<101 { writer.append(Facts.types(index..<index + 1)) }
            gate.post(())
            writer.close()
            let sequences = try durable.wait { $0.last == JournalSequence(101) }
            #expect(sequences == [JournalSequence(101)])
        }
        #expect(try database.batchCount() == 2)
        #expect(try folded(database).facts == Facts.types(0..<101))
    }

    @Test func hugeBatches_areSplitIntoRowsOfBoundedSize() async throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        let facts = (0..<20).map { Fact.typesRegistered([String(repeating: "x", count: 1 << 20) + "\($0)"]) }
        try await onThread {
            let writer = try JournalWriter(database, after: .empty, snapshots: nil, logger: Logger(label: "test")) { _ in }
            writer.append(facts)
            writer.close()
        }
        #expect(try database.batchCount() == 5)
        #expect(try folded(database).facts == facts)
    }

    @Test func failedCommit_isFinal() async throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        try database.close()
        let reported = try await onThread {
            let events = Collector<JournalError?>()
            let writer = try JournalWriter(database, after: .empty, snapshots: nil, logger: Logger(label: "test")) { event in
                switch event {
                case .durable, .snapshotMade, .logCut: events.add(nil)
                case .failed(let error): events.add(error)
                }
            }
            writer.append(Facts.types(0..<1))
            let first = try events.wait { !$0.isEmpty }
            writer.append(Facts.types(1..<2))
            writer.close()
            return first + events.rest()
        }
        #expect(reported.count == 1)
        let error = try #require(reported[0])
        #expect("\(error)".contains("cannot commit to the journal"))
    }
}
