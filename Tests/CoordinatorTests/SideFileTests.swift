import Foundation
import GRDB
import Logging
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// Overwrites one page of a SQLite file, from 1, that nobody has open.
func damagePage(_ page: Int, of path: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(page - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
    try file.close()
}

/// Overwrites the first page of a table's rows: the file can be opened.
func damageTable(_ table: String, of path: String) throws {
    let queue = try DatabaseQueue(path: path)
    let page = try queue.read { try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table]) }
    try queue.close()
    try damagePage(try #require(page), of: path)
}

/// Files beside the journal on which no work depends: what becomes of them when they are damaged or cannot be written.
@Suite struct SideFileTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    var history: String { path + "/history.sqlite" }
    init() throws { temporary = try TemporaryDirectory() }

    private func aside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.contains(SideFile.mark) }.sorted()
    }

    /// Of which files a damaged one is kept; its log may be, too.
    private func kinds() throws -> Set<String> { Set(try aside().map { name in String(name.prefix { $0 != "." }) }) }

    private static func ids(_ file: String) throws -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let queue = try DatabaseQueue(path: file, configuration: configuration)
        return try queue.read { try String.fetchAll($0, sql: "SELECT id FROM submissions ORDER BY id") }
    }

    /// Runs one operation to its end.
    private static let work: @Sendable (TestCoordinator) throws -> String = { coordinator in
        let (worker, client) = (try coordinator.peer(), try coordinator.peer())
        defer { for peer in [worker, client] { peer.close() } }
        _ = try worker.attach(.executor, incarnation: UInt64.random(in: 10 ... .max))
        _ = try client.attach(.client, incarnation: 2)
        let id = try client.submit(.group([.noop("a")]), key: UUID().uuidString)
        try worker.succeed(try worker.assignments(1)[0])
        return id
    }

    @Test func damagedFiles_arePutAside_andTheWorkGoesOn() async throws {
        let first = try await TestCoordinator.run(in: path) { try Self.work($0) }
        for name in ["history", "output"] { try damagePage(1, of: "\(path)/\(name).sqlite") }
        let log = LogRecorder()
        let second = try await TestCoordinator.run(in: path, logger: log.logger) { try Self.work($0) }
        let warnings = log.lines.filter { $0.hasPrefix("warning") && $0.contains("is damaged") && $0.contains("is lost") }
        #expect(warnings.count == 2, "\(log.lines)")
        #expect(try kinds() == ["history", "output"])
        // What was known is written anew, by this process or by the next one.
        let history = history
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            defer { client.close() }
            _ = try client.attach(.client, incarnation: 3)
            let deadline = BootClock.milliseconds() + 60_000
            while try Self.ids(history).count < 2 {
                try #require(BootClock.milliseconds() < deadline, "the history was not written anew")
                _ = try client.request(UInt64.random(in: 1 ... .max), .list(.with { $0.limit = 1 }))
            }
        }
        #expect(try Self.ids(history) == [first, second].sorted())
    }

    /// Nobody asks for logs in vain without having been told.
    @Test(arguments: [true, false]) func whatIsGone_isTold(isRemoved: Bool) async throws {
        _ = try await TestCoordinator.run(in: path) { try Self.work($0) }
        let databases = ["output", "history"].flatMap { name in ["", "-wal", "-shm"].map { "\(name).sqlite\($0)" } }
        for name in databases + ["journal.acknowledged"] + (isRemoved ? ["elements.acknowledged"] : []) {
            let file = "\(path)/\(name)"
            if isRemoved { unlink(file) } else { truncate(file, 0) }
        }
        let log = LogRecorder()
        _ = try await TestCoordinator.run(in: path, logger: log.logger) { try Self.work($0) }
        #expect(log.lines.contains { $0.hasPrefix("warning") && $0.contains("output.sqlite is not there, or empty") }, "\(log.lines)")
        #expect(log.lines.contains { $0.contains("journal.acknowledged is not there") }, "\(log.lines)")
        #expect(log.lines.contains { $0.contains("history.sqlite is not there, or empty") }, "\(log.lines)")
        #expect(log.lines.contains { $0.contains("elements.acknowledged is not there") } == isRemoved, "\(log.lines)")
        let quiet = LogRecorder()
        _ = try await TestCoordinator.run(in: path, logger: quiet.logger) { try Self.work($0) }
        #expect(!quiet.lines.contains { $0.contains("is not there") }, "\(quiet.lines)")
    }

    @Test func newerFile_isRefused_andStaysWhereItIs() async throws {
        _ = try await TestCoordinator.run(in: path) { try Self.work($0) }
        for name in ["history", "output"] {
            let queue = try DatabaseQueue(path: "\(path)/\(name).sqlite")
            try await queue.write { try $0.execute(sql: "INSERT INTO schema_versions VALUES (99, 'later', '9.9')") }
            #expect(throws: JournalError.newerSchema(path: "\(path)/\(name).sqlite", number: 99, name: "later", product: "9.9")) {
                try Recovery(CoordinatorConfiguration(dataDirectory: path), logger: TestCoordinator.quiet)
            }
            try await queue.write { try $0.execute(sql: "DELETE FROM schema_versions WHERE number = 99") }
            try queue.close()
        }
        #expect(try aside().isEmpty)
    }

    /// Whose it is nobody knows: it stays where it is, and what to do is said.
    @Test(arguments: ["history", "output"])
    func whatIsNoFile_isNamedWithWhatRemovingItLoses_andLeftOutOfABackup(name: String) async throws {
        _ = try await TestCoordinator.run(in: path) { try Self.work($0) }
        let file = "\(path)/\(name).sqlite"
        let loss = name == "history" ? SideFile.history(file).loss : SideFile.output(file).loss
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let configuration = CoordinatorConfiguration(dataDirectory: path)
        let error = try #require(throws: JournalError.self) { try Recovery(configuration, logger: TestCoordinator.quiet) }
        #expect(error == .unusableSideFile(path: file, reason: "Is a directory", loss: loss))
        #expect("\(error)".contains("No work depends on it: move it away or remove it, and start again; \(loss)"), "\(error)")
        let backup = try JournalBackup(of: path, to: temporary.path + "/backup")
        #expect(backup.leftOut.count == 1 && backup.leftOut[0].hasPrefix("\(file) is no file and not in the backup"), "\(backup.leftOut)")
        try FileManager.default.removeItem(atPath: file)
        try #require(mkfifo(file, 0o600) == 0)
        let other = try #require(throws: JournalError.self) { try Recovery(configuration, logger: TestCoordinator.quiet) }
        #expect("\(other)".contains("\(file) cannot be used: it is no file, and ") && "\(other)".hasSuffix(loss), "\(other)")
        try FileManager.default.removeItem(atPath: file)
        _ = try await TestCoordinator.run(in: path) { try Self.work($0) }
    }

    @Test func onlyTheNewestDamagedOne_isKept() throws {
        let directory = try DataDirectory(path: path)
        let file = SideFile.history(directory.historyPath)
        for second in 1...3 {
            try Data("\(second)".utf8).write(to: URL(fileURLWithPath: file.path))
            try Data("log".utf8).write(to: URL(fileURLWithPath: file.path + "-wal"))
            let text = try file.setAside(
                because: DatabaseError(resultCode: .SQLITE_CORRUPT), at: Date(timeIntervalSince1970: Double(second)))
            #expect(text.contains("history.sqlite.damaged-19700101T00000\(second)Z"))
        }
        #expect(try aside() == ["history.sqlite.damaged-19700101T000003Z", "history.sqlite.damaged-19700101T000003Z-wal"])
    }

    // MARK: The history, while the coordinator runs

    @Test(.timeLimit(.minutes(2))) func pageThatCannotBeWritten_isTriedAgain() async throws {
        let directory = try DataDirectory(path: path)
        let (log, events, history) = (LogRecorder(), Collector<HistoryService.Event>(), history)
        let database = try HistoryDatabase(HistoryDatabase.Place(path: directory.historyPath, patienceSeconds: 0.01))
        let service = try HistoryService(database, age: HistoryAge(keepMilliseconds: nil), retryMilliseconds: 10, logger: log.logger) {
            events.add($0)
        }
        try await onThread {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            let other = try DatabaseQueue(path: history, configuration: configuration)
            try other.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    service.post(.whole("s1", endedAt: 1000))
                    _ = try log.waits(for: "cannot write submission s1")
                    return .commit
                }
            }
            _ = try events.wait { !$0.isEmpty }
            try other.close()
        }
        service.close()
        #expect(try Self.ids(history) == ["s1"])
    }

    @Test(.timeLimit(.minutes(2))) func damageThatShowsLater_isPutAside_andWhatIsKnownIsAskedForAnew() async throws {
        let directory = try DataDirectory(path: path)
        let (log, events, history) = (LogRecorder(), Collector<HistoryService.Event>(), history)
        do {
            var database = try HistoryDatabase(directory)
            try database.append(.whole("s1", endedAt: 1000))
            try database.close()
        }
        try damageTable("operation", of: history)
        let database = try HistoryDatabase(directory)
        let service = try HistoryService(database, age: HistoryAge(keepMilliseconds: nil), logger: log.logger) { events.add($0) }
        try await onThread {
            _ = try events.wait { $0.contains { if case .begunAnew(file: 1) = $0 { true } else { false } } }
            // What was on its way when the damage was found is for a file that is not there any more.
            service.post(.whole("early", endedAt: 1000))
            service.post(.whole("s1", endedAt: 1000, file: 1))
            _ = try events.wait { !$0.isEmpty }
        }
        service.close()
        #expect(try Self.ids(history) == ["s1"])
        #expect(try kinds() == ["history"])
        #expect(log.lines.contains { $0.contains("is damaged") })
    }

    @Test func whatIsNotWritten_holdsBackWhatIsToBeForgotten_butNotForEver() {
        let (lag, hold) = (CoordinatorLimits.historyLagMilliseconds, CoordinatorLimits.historyHoldMilliseconds)
        var feed = HistoryFeed()
        func holdsBack(at time: Int64) -> Bool { feed.holdsBack(at: time) }
        func forget(_ number: UInt32) -> Bool { feed.forget(SubmissionNumber(number)) }
        #expect(!holdsBack(at: 0))
        feed.append(SubmissionNumber(1), after: .none, at: 0)
        feed.append(SubmissionNumber(2), after: .none, at: 0)
        #expect(!holdsBack(at: lag - 1))
        #expect(holdsBack(at: lag) && holdsBack(at: lag + hold - 1))
        #expect(!holdsBack(at: lag + hold))
        #expect(forget(1), "it was not written")
        #expect(!forget(1) && !forget(3))
        #expect(forget(2))
        #expect(!holdsBack(at: lag + hold))
        feed.append(SubmissionNumber(4), after: .none, at: lag + hold)
        #expect(holdsBack(at: 2 * lag + hold), "it had caught up in between")
    }

    // MARK: The spool of output

    @Test func damagedOutput_isPutAside_andWhatIsToBeDoneIsDone() throws {
        let directory = try DataDirectory(path: path)
        var spool = try OutputDatabase(directory)
        let record = OutputRecord(
            unit: UnitID(SubmissionNumber(1), 1), attempt: Attempt(epoch: 1, counter: 1), attemptNumber: 1, path: "a", stream: .stdout,
            index: 0, at: 5, bytes: [1], isTruncated: false)
        try spool.append([record])
        var (tries, warnings) = (0, [String]())
        try spool.perform({ warnings.append($0) }) { spool in
            tries += 1
            if tries == 1 { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            let before = spool.submissions
            #expect(before.isEmpty)
            try spool.append([record])
        }
        #expect(tries == 2 && warnings.count == 1 && warnings[0].contains("what commands had printed is lost"))
        #expect(try kinds() == ["output"])
        try spool.close()
        #expect(try OutputDatabase(directory).submissions == [SubmissionNumber(1)])
    }

    // MARK: Commands

    @Test func backup_saysThatThereIsNoOutput() async throws {
        _ = try await TestCoordinator.run(in: path) { try Self.work($0) }
        unlink("\(path)/output.sqlite")
        let backup = try JournalBackup(of: path, to: temporary.path + "/backup")
        #expect(backup.leftOut.count == 1 && backup.leftOut[0].contains("output.sqlite is not there"), "\(backup.leftOut)")
    }

    @Test func backup_leavesOutWhatIsDamaged_andIsWhole() async throws {
        _ = try await TestCoordinator.run(in: path) { try Self.work($0) }
        try damagePage(1, of: path + "/output.sqlite")
        try damageTable("operation", of: history)
        let backup = try JournalBackup(of: path, to: temporary.path + "/backup")
        #expect(backup.leftOut.count == 2 && backup.verification.problems.isEmpty)
        #expect(backup.leftOut.first?.contains("\(path)/output.sqlite is damaged") == true)
        let names = try FileManager.default.contentsOfDirectory(atPath: backup.path)
        #expect(names.contains("journal.sqlite") && !names.contains { $0.hasPrefix("output") || $0.hasPrefix("history") })
        #expect(try aside().isEmpty, "the data stays as it is")
    }

    @Test func prune_writesTheHistoryFirst_andIsNotStoppedByDamagedOutput() async throws {
        let id = try await TestCoordinator.run(in: path, { $0.historyMilliseconds = 0 }, Self.work)
        try HistoryDatabase(try DataDirectory(path: path)).close()
        try damagePage(1, of: path + "/output.sqlite")
        let pruned = try JournalPrune(dataDirectory: path, .keepingBytes(0))
        #expect(pruned.forgotten.map(\.id) == [id] && pruned.warnings.count == 1)
        #expect(try Self.ids(history) == [id])
        #expect(try kinds() == ["output"])
        #expect(try JournalVerification(dataDirectory: path).problems.isEmpty)
    }

    @Test func prune_beginsADamagedHistoryAnew() async throws {
        let id = try await TestCoordinator.run(in: path, { $0.historyMilliseconds = 0 }, Self.work)
        try HistoryDatabase(try DataDirectory(path: path)).close()
        try damageTable("submission", of: history)
        let pruned = try JournalPrune(dataDirectory: path, .keepingBytes(0))
        #expect(pruned.forgotten.map(\.id) == [id] && pruned.warnings.count == 1)
        #expect(try Self.ids(history) == [id])
    }

    @Test func prune_changesNothing_whereAFileIsOfANewerRelease() async throws {
        let id = try await TestCoordinator.run(in: path) { try Self.work($0) }
        let queue = try DatabaseQueue(path: history)
        try await queue.write { try $0.execute(sql: "INSERT INTO schema_versions VALUES (99, 'later', '9.9')") }
        try queue.close()
        #expect(throws: JournalError.self) { try JournalPrune(dataDirectory: path, .keepingBytes(0)) }
        #expect(try JournalPrune(dataDirectory: path, .keepingBytes(0), isDryRun: true).forgotten.map(\.id) == [id])
    }
}
