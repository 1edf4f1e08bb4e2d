import Foundation
import GRDB
import Scheduling
import Testing
import Wire

@testable import Coordinator

private func submit(_ node: String, _ client: FakePeer) throws -> String {
    try client.submit(.group([.noop(node)]), key: UUID().uuidString)
}

private func attach(to coordinator: TestCoordinator) throws -> (worker: FakePeer, client: FakePeer) {
    let (worker, client) = (try coordinator.peer(), try coordinator.peer())
    _ = try worker.attach(.executor, incarnation: 1)
    _ = try client.attach(.client, incarnation: 2)
    return (worker, client)
}

/// Copies of data directories, and what is done with them.
@Suite struct BackupTests {
    let temporary: TemporaryDirectory
    var data: String { temporary.path + "/data" }
    var backup: String { temporary.path + "/backup" }
    init() throws { temporary = try TemporaryDirectory() }

    private func names(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    /// What a coordinator on `path` knows.
    private func submissions(in path: String) async throws -> [String] {
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 3)
            defer { client.close() }
            let response = try client.request(1, .list(.with { $0.limit = 100 }))
            guard case .submissions(let list)? = response.body else { throw Unexpected(response: "\(response)") }
            return list.submissions.map(\.id).sorted()
        }
    }

    private struct Unexpected: Error { let response: String }

    /// A directory with some submissions and a large value.
    private func makeData(submissions: Int = 2) async throws -> [String] {
        try await TestCoordinator.run(in: data) { coordinator in
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            defer { client.close() }
            return try (0..<submissions).map { _ in try submit("a", client) }.sorted()
        }
    }

    private func tamper(_ directory: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: directory + "/journal.sqlite")
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test func copiesBesideARunningCoordinator_holdOneStateEach() async throws {
        let backup = backup
        let data = data
        let (inTime, late) = try await TestCoordinator.run(in: data) { coordinator in
            let (worker, client) = try attach(to: coordinator)
            defer {
                worker.close()
                client.close()
            }
            var ids: [String] = []
            for number in 0..<5 {
                ids.append(try submit("a", client))
                try worker.succeed(try worker.assignments(1)[0])
                let made = try JournalBackup(of: data, to: "\(backup)-\(number)")
                #expect(made.verification.problems.isEmpty)
                #expect(made.verification.submissions == number + 1)
            }
            return (ids, try submit("late", client))
        }
        for number in 0..<5 {
            let copy = "\(backup)-\(number)"
            #expect(try await submissions(in: copy) == inTime.prefix(number + 1).sorted())
        }
        #expect(try await submissions(in: data) == (inTime + [late]).sorted())
    }

    /// The journal grows all the time, and outcomes name elements: whatever the moment, the copy has both or none.
    @Test func copiesMadeWhileMuchIsCommitted_holdWhatTheyName() async throws {
        let backup = backup
        let data = data
        try await TestCoordinator.run(in: data) { coordinator in
            let isOver = Flag()
            let copies = Thread {
                for number in 0..<8 {
                    do { _ = try JournalBackup(of: data, to: "\(backup)-\(number)") } catch { Issue.record(error) }
                }
                isOver.set()
            }
            let (worker, client) = try attach(to: coordinator)
            defer {
                worker.close()
                client.close()
            }
            _ = try submit("a", client)
            try worker.succeed(try worker.assignments(1)[0])
            copies.start()
            while !isOver.isSet {
                _ = try submit("a", client)
                try worker.succeed(try worker.assignments(1)[0])
            }
        }
        #expect(try names(temporary.path) == (0..<8).map { "backup-\($0)" } + ["data"])
    }

    private final class Flag: Sendable {
        private let state = NSLock()
        nonisolated(unsafe) private var value = false
        var isSet: Bool { state.withLock { value } }
        func set() { state.withLock { value = true } }
    }

    @Test func restore_putsTheBackupInPlace_andKeepsWhatWasThere() async throws {
        let before = try await makeData()
        _ = try JournalBackup(of: data, to: backup)
        let after = try await makeData(submissions: 1)
        let restored = try JournalRestore(from: backup, into: data)
        let replaced = try #require(restored.replaced)
        #expect(replaced.hasPrefix("\(data)/replaced-"))
        #expect(try await submissions(in: data) == before)
        #expect(try await submissions(in: replaced) == (before + after).sorted())
        #expect(try await submissions(in: backup) == before, "it stays as it is")
        let elsewhere = try JournalRestore(from: backup, into: temporary.path + "/new")
        #expect(elsewhere.replaced == nil)
        #expect(try await submissions(in: temporary.path + "/new") == before)
    }

    /// What a killed coordinator leaves is in SQLite's log, for the most part.
    @Test func directoryOfAKilledCoordinator_isPutInPlace_withAllOfIt() async throws {
        let (data, copy) = (data, temporary.path + "/copy")
        let before = try await TestCoordinator.run(in: data) { coordinator in
            let (worker, client) = try attach(to: coordinator)
            defer {
                worker.close()
                client.close()
            }
            let ids = try (0..<2).map { _ in try submit("a", client) }.sorted()
            try FileManager.default.copyItem(atPath: data, toPath: copy)
            return ids
        }
        for name in ["journal.sqlite-wal", "journal.acknowledged"] {
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(copy)/\(name)")).count > 0)
        }
        let restored = try JournalRestore(from: copy, into: temporary.path + "/new")
        #expect(restored.verification.submissions == 2)
        #expect(try await submissions(in: temporary.path + "/new") == before)
        // Without the witness nobody would say that something is missing.
        try FileManager.default.removeItem(atPath: copy + "/journal.acknowledged")
        let again = try JournalRestore(from: copy, into: temporary.path + "/new")
        #expect(try await submissions(in: temporary.path + "/new") == before)
        _ = try JournalRestore(from: try #require(again.replaced), into: temporary.path + "/new")
        #expect(try await submissions(in: temporary.path + "/new") == before)
    }

    /// What is in a directory, and when it was written.
    private func trace(_ directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).sorted().map { name in
            var status = stat()
            let result = lstat("\(directory)/\(name)", &status)
            try #require(result == 0)
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let content = try isFile ? Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)")) : Data()
            return "\(name) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(content.count) \(content.hashValue)"
        }
    }

    /// So that it may be on a medium that cannot be written. What a killed coordinator leaves is in SQLite's log, for the most part, of which
    /// there may be no index.
    @Test(arguments: [false, true]) func whoReadsABackup_leavesNoTrace(ofAKilledOne: Bool) async throws {
        let (data, copy) = (data, temporary.path + "/copy ?#%41 ü")
        if ofAKilledOne {
            try await TestCoordinator.run(in: data) { coordinator in
                let (worker, client) = try attach(to: coordinator)
                defer {
                    worker.close()
                    client.close()
                }
                _ = try submit("a", client)
                try FileManager.default.copyItem(atPath: data, toPath: copy)
            }
            for name in try names(copy) where name.hasSuffix("-shm") || name == "coordinator.lock" {
                try FileManager.default.removeItem(atPath: "\(copy)/\(name)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(copy)/journal.sqlite-wal")).count > 0)
        } else {
            _ = try await makeData(submissions: 1)
            _ = try JournalBackup(of: data, to: copy)
        }
        let before = try trace(copy)
        #expect(before.allSatisfy { !$0.hasPrefix("coordinator.lock") })
        #expect(try JournalVerification(dataDirectory: copy, hashingValues: true).submissions == 1)
        #expect(try JournalRestore(from: copy, into: temporary.path + "/new").verification.submissions == 1)
        #expect(try JournalBackup(of: copy, to: temporary.path + "/second").verification.submissions == 1)
        _ = try JournalExport(dataDirectory: copy) { _ in }
        #expect(try trace(copy) == before)
        #expect(try await submissions(in: temporary.path + "/new").count == 1)
    }

    /// A directory is in its place, from which nothing can be read: nobody knows what is damaged.
    @Test func partialResultsThatCannotBeRead_areNotLookedAt_andNotDamaged() async throws {
        _ = try await makeData()
        try FileManager.default.removeItem(atPath: data + "/elements.sqlite")
        try FileManager.default.createDirectory(atPath: data + "/elements.sqlite/x", withIntermediateDirectories: true)
        let found = try JournalVerification(dataDirectory: data)
        #expect(found.problems.isEmpty && found.partialResultProblems.isEmpty)
        #expect(found.notLookedAt.count == 1 && found.notLookedAt[0].hasPrefix("\(data)/elements.sqlite: cannot "), "\(found.notLookedAt)")
        let error = try #require(throws: BackupError.self) { try JournalRestore(from: data, into: temporary.path + "/new") }
        #expect("\(error)".hasPrefix("\(data): 1 thing could not be looked at: "), "\(error)")
    }

    @Test func backupOfAStoppedDirectory_tellsWhatItsPartialResultsLack_andSoDoesTheStartFromIt() async throws {
        _ = try await makeData()
        let unit = UnitID(SubmissionNumber(1), 0)
        do {
            var spool = try ElementDatabase(try DataDirectory(path: data), totalBytesMax: 1 << 20)
            _ = try spool.append([
                ElementRun(
                    peer: PeerID(7), unit: unit, attempt: Attempt(epoch: 1, counter: 1), number: 1, first: 0,
                    elements: [.init(index: 0, encoding: 1, bytes: [1])], isClosed: true)
            ])
            try spool.close()
        }
        try FileManager.default.removeItem(atPath: data + "/elements.sqlite")
        let made = try JournalBackup(of: data, to: backup)
        #expect(made.verification.problems.isEmpty && made.verification.partialResultProblems.count == 1)
        _ = try JournalRestore(from: backup, into: temporary.path + "/new")
        let spool = try ElementDatabase(try DataDirectory(path: temporary.path + "/new"), totalBytesMax: 1 << 20)
        #expect(spool.losses == [ElementLoss(unit: unit, number: 1, from: 0, next: 1)])
    }

    @Test func damagedSpoolOfPartialResults_isLeftOut_andAnEmptyFileIsNone() async throws {
        let before = try await makeData()
        let spool = data + "/elements.sqlite"
        var content = try Data(contentsOf: URL(fileURLWithPath: spool))
        content.replaceSubrange(0..<100, with: Data(count: 100))
        try content.write(to: URL(fileURLWithPath: spool))
        let made = try JournalBackup(of: data, to: backup)
        #expect(made.leftOut.count == 1 && made.leftOut[0].contains("elements.sqlite is damaged"), "\(made.leftOut)")
        _ = try JournalRestore(from: backup, into: temporary.path + "/new")
        #expect(try await submissions(in: temporary.path + "/new") == before)
        try Data().write(to: URL(fileURLWithPath: spool))
        #expect(try JournalBackup(of: data, to: backup + "-2").leftOut.isEmpty)
    }

    @Test func history_isTakenOverWhereThereIsNone_andKeptWhereItIs() async throws {
        _ = try await makeData()
        _ = try JournalBackup(of: data, to: backup)
        let (new, marker) = (temporary.path + "/new", Array("another one's".utf8))
        _ = try JournalRestore(from: backup, into: new)
        #expect(try names(new).contains("history.sqlite"))
        try Data(marker).write(to: URL(fileURLWithPath: new + "/history.sqlite"))
        _ = try JournalRestore(from: backup, into: new)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: new + "/history.sqlite"))) == marker)
    }

    /// Wherever it was interrupted, nothing starts on the directory until it was repeated, and nothing is lost.
    @Test func interruptedRestore_isRefusedByTheCoordinator_andRepeated() async throws {
        let before = try await makeData()
        _ = try JournalBackup(of: data, to: backup)
        let after = try await makeData(submissions: 1)
        // As it is when the old files are aside, and some of the new ones are in place.
        let aside = data + "/replaced-first"
        for directory in [JournalRestore.marker(in: data), aside] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        }
        for name in try names(data) where name.contains(".sqlite") || name == "blobs" {
            try FileManager.default.moveItem(atPath: "\(data)/\(name)", toPath: "\(aside)/\(name)")
        }
        try FileManager.default.copyItem(atPath: backup + "/output.sqlite", toPath: data + "/output.sqlite")
        await #expect {
            try await submissions(in: data)
        } throws: {
            "\($0)" == "\(DataDirectoryError.restoring(path: data))"
        }
        #expect(throws: DataDirectoryError.restoring(path: data)) { try JournalBackup(of: data, to: backup + "-2") }
        _ = try JournalRestore(from: backup, into: data)
        #expect(try await submissions(in: data) == before)
        #expect(try await submissions(in: aside) == (before + after).sorted())
        #expect(!FileManager.default.fileExists(atPath: data + "/restoring.new"))
    }

    @Test func copyOfARestoreThatWasKilledBeforeItChangedAnything_isRemovedByAStart_andByPrune() async throws {
        let before = try await makeData()
        for removes in [
            { _ = try JournalPrune(dataDirectory: data, .endedBefore(0)) }, { _ = try await submissions(in: data) },
        ] as [() async throws -> Void] {
            try FileManager.default.createDirectory(atPath: data + "/restoring.new", withIntermediateDirectories: false)
            try Data(count: 1_000).write(to: URL(fileURLWithPath: data + "/restoring.new/journal.sqlite"))
            try await removes()
            #expect(!DurableFiles.isThere(data + "/restoring.new"))
        }
        #expect(try await submissions(in: data) == before)
    }

    private struct Interrupted: Error {}

    /// Killed before any one of its changes, and then repeated with another backup.
    @Test func restoreInterruptedAnywhere_keepsAllThatWasThere_inOneDirectory() async throws {
        _ = try await makeData(submissions: 1)
        _ = try JournalBackup(of: data, to: backup)
        _ = try await makeData(submissions: 1)
        _ = try JournalBackup(of: data, to: backup + "-2")
        _ = try await makeData(submissions: 1)
        var (count, isOver) = (0, false)
        while !isOver {
            let copy = "\(data)-\(count)"
            try FileManager.default.copyItem(atPath: data, toPath: copy)
            var (steps, last) = (0, "")
            do {
                _ = try JournalRestore(
                    from: backup, into: copy,
                    step: { step in
                        last = step
                        if steps == count { throw Interrupted() }
                        steps += 1
                    })
                isOver = true
            } catch is Interrupted {
                let isUnderWay = DurableFiles.isThere(JournalRestore.marker(in: copy))
                // A copy would fill the disk for ever.
                if !isUnderWay { #expect(try names(copy).allSatisfy { !$0.hasPrefix("restoring") }, "\(last)") }
                let again = try JournalRestore(from: backup + "-2", into: copy)
                #expect(try JournalVerification(dataDirectory: copy).submissions == 2, "\(last)")
                let replaced = try names(copy).filter { $0.hasPrefix("replaced-") }.map { "\(copy)/\($0)" }
                if isUnderWay { #expect(replaced.count == 1 && replaced.first == again.replaced, "\(last)") }
                let whole = try replaced.filter { try JournalVerification(dataDirectory: $0).submissions == 3 }
                #expect(whole.count == 1, "\(last): \(replaced)")
                if let place = whole.first {
                    #expect(try JournalRestore(from: place, into: copy + "-back").verification.submissions == 3, "\(last)")
                    #expect(DurableFiles.isThere(place + "/blobs") && DurableFiles.isThere(place + "/elements.sqlite"), "\(last)")
                }
                #expect(try names(copy).allSatisfy { !$0.hasPrefix("restoring") }, "\(last)")
            }
            count += 1
        }
        #expect(count > 12, "it has changed more than that")
    }

    @Test func backup_hasNothingThatNothingNames() async throws {
        _ = try await makeData()
        try FileManager.default.createDirectory(atPath: data + "/blobs/ab", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: data + "/blobs/ab/cd"))
        #expect(try JournalBackup(of: data, to: backup).verification.unnamedValues == 0)
        #expect(!DurableFiles.isThere(backup + "/blobs/ab/cd") && DurableFiles.isThere(data + "/blobs/ab/cd"))
    }

    @Test func damagedBackup_isRefused_andNothingIsChanged() async throws {
        let before = try await makeData()
        _ = try JournalBackup(of: data, to: backup)
        try tamper(backup, "UPDATE journal SET body = zeroblob(length(body)) WHERE first = (SELECT max(first) FROM journal)")
        #expect(throws: JournalError.self) { try JournalRestore(from: backup, into: data) }
        #expect(try await submissions(in: data) == before)
        #expect(try names(data).allSatisfy { !$0.hasPrefix("re") })
    }

    @Test func directoryThatIsNotWhole_givesNoBackup() async throws {
        _ = try await makeData()
        try tamper(data, "DELETE FROM journal WHERE first = 2")
        #expect(throws: JournalError.self) { try JournalBackup(of: data, to: backup) }
        #expect(try names(temporary.path) == ["data"])
    }

    @Test func wrongDirectories_areNamed() async throws {
        #expect(throws: BackupError.noJournal(path: data)) { try JournalBackup(of: data, to: backup) }
        #expect(throws: BackupError.noJournal(path: backup)) { try JournalRestore(from: backup, into: data) }
        #expect(!FileManager.default.fileExists(atPath: data))
        _ = try await makeData()
        #expect(throws: BackupError.destinationExists(path: data)) { try JournalBackup(of: data, to: data) }
        #expect(throws: BackupError.overlapping(backup: data, dataDirectory: data)) { try JournalRestore(from: data, into: data) }
        let link = temporary.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: data)
        #expect(throws: BackupError.overlapping(backup: link, dataDirectory: data)) { try JournalRestore(from: link, into: data) }
        // What an interrupted restore leaves looks like a backup, and is one: it would be removed before it is read.
        let left = data + "/restoring.new"
        _ = try JournalBackup(of: data, to: left)
        for (path, target) in [(left, data), (link + "/restoring.new", data), (left, link)] {
            #expect(throws: BackupError.overlapping(backup: path, dataDirectory: target)) { try JournalRestore(from: path, into: target) }
        }
        #expect(try JournalVerification(dataDirectory: left).problems.isEmpty)
        #expect(throws: BackupError.overlapping(backup: data, dataDirectory: data + "/x")) {
            try JournalRestore(from: data, into: data + "/x")
        }
        #expect(throws: BackupError.overlapping(backup: data + "/blobs/x", dataDirectory: data)) {
            try JournalBackup(of: data, to: data + "/blobs/x")
        }
        #expect {
            try JournalBackup(of: data, to: temporary.path + "/none/backup")
        } throws: {
            "\($0)".contains("cannot make the directory")
        }
    }

    @Test func directoryThatIsInUse_isNotReplaced() async throws {
        _ = try await makeData()
        _ = try JournalBackup(of: data, to: backup)
        let (data, backup) = (data, backup)
        try await TestCoordinator.run(in: data) { _ in
            #expect(throws: DataDirectoryError.inUse(path: data, holder: getpid())) { try JournalRestore(from: backup, into: data) }
        }
    }
}
