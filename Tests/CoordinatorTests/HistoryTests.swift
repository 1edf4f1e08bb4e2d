import Foundation
import GRDB
import Testing
import Wire

@testable import Coordinator
@testable import Scheduling

/// What became of submissions, for questions in SQL.
@Suite struct HistoryTests {
    let temporary: TemporaryDirectory
    var path: String { temporary.path + "/data" }
    var file: String { path + "/history.sqlite" }
    init() throws { temporary = try TemporaryDirectory() }

    /// As somebody else's process would ask, also while the coordinator runs.
    private static func rows(_ file: String, _ sql: String) throws -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let queue = try DatabaseQueue(path: file, configuration: configuration)
        return try queue.read { try Row.fetchAll($0, sql: sql) }.map { row in
            row.databaseValues.map { $0.isNull ? "-" : "\($0.storage.value ?? "")" }.joined(separator: " ")
        }
    }

    /// Asks again until so many submissions are there; each time the coordinator is asked something, too, which takes its while.
    private static func waitFor(_ count: Int, in file: String, asking client: FakePeer) throws {
        let deadline = BootClock.milliseconds() + 60_000
        while try rows(file, "SELECT id FROM submissions").count < count {
            try #require(BootClock.milliseconds() < deadline, "\(count) submissions were not written")
            _ = try client.request(UInt64.random(in: 1 ... .max), .list(.with { $0.limit = 1 }))
        }
    }

    private static func fail(_ assignment: WireAssignment, _ worker: FakePeer) throws {
        try worker.report(
            assignment.unit, assignment.attempt,
            .ended(
                .with {
                    $0.startedAt = 1
                    $0.endedAt = 2
                    $0.outcome = .failure(
                        .with {
                            $0.errors = [
                                .with {
                                    $0.code = .exit
                                    $0.message = "exited with 7"
                                }
                            ]
                        })
                }))
        try worker.acknowledgement(of: assignment.unit)
    }

    @Test func submissionThatHasEnded_isThere_withItsOperations() async throws {
        let file = file
        let id = try await TestCoordinator.run(in: path) { coordinator in
            let (worker, client) = (try coordinator.peer(), try coordinator.peer())
            defer { for peer in [worker, client] { peer.close() } }
            _ = try worker.attach(.executor, incarnation: 1)
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a"), .noop("b")]), key: "nightly")
            _ = try client.submit(.group([.noop("c")]), key: "goes on")
            let given = try worker.assignments(2).sorted { $0.path < $1.path }
            try worker.succeed(given[0])
            #expect(try Self.rows(file, "SELECT id FROM submissions").isEmpty)
            try Self.fail(given[1], worker)
            try Self.waitFor(1, in: file, asking: client)
            return id
        }
        #expect(
            try Self.rows(file, "SELECT id, key, state, total, succeeded, failed, cancelled FROM submissions")
                == ["\(id) nightly failed 2 1 1 0"])
        let operations = try Self.rows(
            file, "SELECT submission, path, kind, type, state, attempts, worker <> '', error_code, error FROM operations ORDER BY path")
        #expect(
            operations == [
                "\(id)  group  failed 1 0 - -", "\(id) a operation noop succeeded 1 1 - -",
                "\(id) b operation noop failed 1 1 exit exited with 7",
            ])
        // Times that SQLite's own functions take.
        #expect(
            try Self.rows(
                file,
                "SELECT abs(strftime('%s', finished_at) - strftime('%s', 'now')) < 600, finished_at LIKE '____-__-__T%Z' FROM submissions")
                == ["1 1"])
    }

    @Test func whatIsMissing_isWrittenByTheNextStart_andNothingTwice() async throws {
        let file = file
        let run: @Sendable (TestCoordinator) throws -> Void = { coordinator in
            let (worker, client) = (try coordinator.peer(), try coordinator.peer())
            defer { for peer in [worker, client] { peer.close() } }
            _ = try worker.attach(.executor, incarnation: UInt64.random(in: 10 ... .max))
            _ = try client.attach(.client, incarnation: 2)
            _ = try client.submit(.group([.noop("a")]), key: UUID().uuidString)
            try worker.succeed(try worker.assignments(1)[0])
        }
        try await TestCoordinator.run(in: path, { $0.historyMilliseconds = 0 }, run)
        #expect(!FileManager.default.fileExists(atPath: file))
        for count in [2, 3] {
            try await TestCoordinator.run(in: path) { coordinator in
                try run(coordinator)
                let client = try coordinator.peer()
                defer { client.close() }
                _ = try client.attach(.client, incarnation: 3)
                try Self.waitFor(count, in: file, asking: client)
            }
        }
        #expect(try Self.rows(file, "SELECT count(*), count(DISTINCT id), sum(total) FROM submissions") == ["3 3 3"])
        #expect(try Self.rows(file, "SELECT count(*) FROM operations") == ["6"])
    }

    @Test func largeSubmission_isWrittenPageByPage_andOtherAnswersComeBetween() async throws {
        let file = file
        let count = CoordinatorLimits.historyUnitsPerPage * 2 + 7
        try await TestCoordinator.run(in: path) { coordinator in
            let client = try coordinator.peer()
            defer { client.close() }
            _ = try client.attach(.client, incarnation: 2)
            let response = try client.request(
                1,
                .submit(
                    .with {
                        $0.key = "k"
                        $0.graph = .group((0..<count).map { .noop("n\($0)") })
                        $0.waitForWorkers = true
                    }))
            guard case .submitted(let submitted) = response.body else { throw Timeout(what: "not admitted: \(response)") }
            _ = try client.request(2, .cancel(.with { $0.submission = submitted.id }))
            try Self.waitFor(1, in: file, asking: client)
        }
        #expect(try Self.rows(file, "SELECT total, cancelled FROM submissions") == ["\(count) \(count)"])
        #expect(
            try Self.rows(file, "SELECT count(*), count(DISTINCT path), count(started_at) FROM operations WHERE kind = 'operation'")
                == ["\(count) \(count) 0"])
    }

    private func page(_ number: Int, endedAt: Int64, operations: Int = 1) -> HistoryPage {
        .whole("s\(number)", endedAt: endedAt, operations: operations)
    }

    @Test func whatIsTooOld_goes() throws {
        var database = try HistoryDatabase(try DataDirectory(path: path))
        for number in 1...5 { try database.append(page(number, endedAt: Int64(number) * 1000)) }
        #expect(try database.makeRoom(endedBefore: 3000) == 2)
        #expect(try database.makeRoom(endedBefore: 3000) == 0)
        try database.close()
        #expect(try Self.rows(file, "SELECT id FROM submissions ORDER BY id") == ["s3", "s4", "s5"])
        #expect(try Self.rows(file, "SELECT DISTINCT submission FROM operations ORDER BY 1") == ["s3", "s4", "s5"])
    }

    /// What goes does not come back: a clock that is ahead for a moment takes nothing.
    @Test func clockThatIsDoubted_makesNothingTooOld() {
        let (hour, day, start) = (Int64(3_600_000), Int64(86_400_000), Int64(1_800_000_000_000))
        var doubt = ClockDoubt()
        doubt.start(at: Instant(boot: 5_000, wall: start), since: UInt32(start / 1_000))
        var age = HistoryAge(keepMilliseconds: 30 * day, doubt: doubt, at: Instant(boot: 5_000, wall: start))
        #expect(age.limit(at: Instant(boot: 5_001, wall: start + 1)) == .min, "a start long after the one before")
        let later = 5_000 + hour
        #expect(age.limit(at: Instant(boot: later, wall: start + hour)) == start + hour - 30 * day)
        #expect(age.limit(at: Instant(boot: later + 600_000, wall: start + 40 * day)) == .min, "the clock was set ahead")
        #expect(age.limit(at: Instant(boot: later + 1_200_000, wall: start + hour + 1_200_000)) == .min, "and right again")
        let sure = later + 600_000 + hour
        #expect(age.limit(at: Instant(boot: sure, wall: start + sure)) == start + sure - 30 * day)
    }

    @Test func whatIsKeptForEver_isNeverTooOld() {
        var age = HistoryAge(keepMilliseconds: nil, at: Instant(boot: 0, wall: 0))
        #expect(age.limit(at: Instant(boot: 1, wall: 1)) == .min)
    }

    @Test func whatIsTooMuch_goes_theFirstEndsFirst() throws {
        var database = try HistoryDatabase(try DataDirectory(path: path), bytesMax: 400_000)
        for number in 1...300 { try database.append(page(number, endedAt: Int64(1000 - number), operations: 50)) }
        let removed = try database.makeRoom(endedBefore: .min)
        #expect(removed > 0 && removed < 300)
        try database.close()
        // The last ones that were put in ended first.
        #expect(try Self.rows(file, "SELECT max(place), min(place) FROM submission") == ["\(300 - removed) 1"])
    }

    @Test func unfinishedOne_ofAnEarlierProcess_isWrittenAnew() throws {
        do {
            var database = try HistoryDatabase(try DataDirectory(path: path))
            let whole = page(1, endedAt: 1000, operations: 3)
            try database.append(HistoryPage(id: whole.id, isFirst: true, operations: whole.operations, submission: nil))
            try database.close()
        }
        var database = try HistoryDatabase(try DataDirectory(path: path))
        #expect(!database.holds("s1", endedAt: 1000))
        try database.removeUnfinished()
        #expect(try Self.rows(file, "SELECT count(*) FROM operation") == ["0"])
        try database.append(page(1, endedAt: 1000, operations: 2))
        // Once more, as after a backup was put in the place of the journal: the operations of this end stay, and those of no other one.
        try database.append(page(1, endedAt: 2000, operations: 1))
        try database.close()
        #expect(try Self.rows(file, "SELECT count(*) FROM operations") == ["1"])
        let again = try HistoryDatabase(try DataDirectory(path: path))
        #expect(again.holds("s1", endedAt: 2000) && !again.holds("s1", endedAt: 1000), "another end is another row")
    }

    @Test func oneThatIsForgottenBeforeItsLastPage_leavesNothingBehind() throws {
        var database = try HistoryDatabase(try DataDirectory(path: path))
        let first = page(1, endedAt: 1000, operations: 3)
        try database.append(HistoryPage(id: first.id, isFirst: true, operations: first.operations, submission: nil))
        try database.append(page(2, endedAt: 1000, operations: 2))
        try database.close()
        #expect(try Self.rows(file, "SELECT count(*) FROM operation") == ["2"])
    }

    /// What the file had is not given up for it.
    @Test func viewOfOthersThatNamesWhatIsNotThere_isNamed_whereTheLayoutChanges() throws {
        do {
            let directory = try DataDirectory(path: path)
            try directory.prepareFile(file)
            let queue = try DatabaseQueue(path: file)
            try queue.write { try Schema(migrations: [HistoryDatabase.schema.migrations[0]]).migrate($0, path: file) }
            try queue.write { try $0.execute(sql: "CREATE VIEW of_others AS SELECT id FROM nowhere") }
            try queue.close()
        }
        let error = try #require(throws: JournalError.self) {
            try HistoryDatabase.open(try DataDirectory(path: path)) { Issue.record("\($0)") }
        }
        #expect("\(error)".contains("of_others") && "\(error)".contains("has to go"), "\(error)")
    }

    /// Written by a release whose rows had the submission's number for their key.
    @Test func earlierFile_isTakenOver_andItsRowsStay() throws {
        do {
            let directory = try DataDirectory(path: path)
            try directory.prepareFile(file)
            let queue = try DatabaseQueue(path: file)
            try queue.write { try Schema(migrations: [HistoryDatabase.schema.migrations[0]]).migrate($0, path: file) }
            try queue.write {
                try $0.execute(
                    sql: """
                        INSERT INTO submission VALUES (1, 'before', 'k', '', '', 'failed', 1, 2, 1, 0, 1, 0, '');
                        INSERT INTO operation VALUES (1, 0, '', 'group', '', 'failed', 1, '', NULL, NULL, 2, 'exit', 'exited with 7');
                        CREATE VIEW of_others AS SELECT id FROM submissions WHERE state = 'failed';
                        CREATE VIEW more_of_others AS SELECT submission FROM operations
                        """)
            }
            try queue.close()
        }
        var database = try HistoryDatabase(try DataDirectory(path: path))
        #expect(database.holds("before", endedAt: 2))
        try database.append(page(1, endedAt: 1000))
        try database.close()
        #expect(try Self.rows(file, "SELECT id, state FROM submissions ORDER BY id") == ["before failed", "s1 succeeded"])
        #expect(
            try Self.rows(file, "SELECT id FROM of_others UNION ALL SELECT submission FROM more_of_others LIMIT 2") == ["before", "before"])
        #expect(
            try Self.rows(file, "SELECT submission, state, error FROM operations ORDER BY 1")
                == ["before failed exited with 7", "s1 succeeded -"])
    }

    /// Numbers are given anew then; ids are not.
    @Test func afterARestore_rowsOfOtherSubmissionsStay() async throws {
        let (file, backup) = (file, temporary.path + "/backup")
        let run: @Sendable (TestCoordinator, Int) throws -> String = { coordinator, count in
            let (worker, client) = (try coordinator.peer(), try coordinator.peer())
            defer { for peer in [worker, client] { peer.close() } }
            _ = try worker.attach(.executor, incarnation: UInt64.random(in: 10 ... .max))
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]), key: UUID().uuidString)
            try worker.succeed(try worker.assignments(1)[0])
            try Self.waitFor(count, in: file, asking: client)
            return id
        }
        let first = try await TestCoordinator.run(in: path) { try run($0, 1) }
        _ = try JournalBackup(of: path, to: backup)
        let second = try await TestCoordinator.run(in: path) { try run($0, 2) }
        let kept = try Data(contentsOf: URL(fileURLWithPath: file))
        _ = try JournalRestore(from: backup, into: path)
        // Whatever a restore does with the history: here it is the one of the data.
        try kept.write(to: URL(fileURLWithPath: file))
        let third = try await TestCoordinator.run(in: path) { try run($0, 3) }
        #expect(try Self.rows(file, "SELECT id FROM submissions ORDER BY id") == [first, second, third].sorted())
        #expect(try Self.rows(file, "SELECT count(*) FROM operations") == ["6"])
    }
}

extension HistoryPage {
    /// A whole submission.
    static func whole(_ id: String, endedAt: Int64, operations: Int = 1, file: Int = 0) -> HistoryPage {
        HistoryPage(
            id: id, isFirst: true,
            operations: (0..<operations).map { unit in
                EndedOperation(
                    unit: unit, path: "n\(unit)", kind: .operation, type: "noop", state: .succeeded, attempts: 1, worker: "h/0",
                    queuedAt: 1, startedAt: 2, finishedAt: 3)
            },
            submission: SubmissionView(
                number: SubmissionNumber(1), id: id, key: "", name: "", state: .succeeded, counts: Counts(), submittedAt: 1,
                finishedAt: endedAt, timedOut: false, cancelReason: ""),
            file: file)
    }
}
