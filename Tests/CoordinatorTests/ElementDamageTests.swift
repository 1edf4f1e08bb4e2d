import Foundation
import GRDB
import Scheduling
import Testing

@testable import Coordinator

/// A spool of partial results that was damaged, or lost, or cannot be written: nobody is given another element than was sent, nobody misses one
/// without being told, and nothing waits for ever.
@Suite struct ElementDamageTests {
    let temporary: TemporaryDirectory
    /// Where the spool is that is damaged.
    let path: String
    private let unit = UnitID(SubmissionNumber(1), 1)

    init() throws {
        temporary = try TemporaryDirectory()
        path = temporary.path + "/data"
    }

    private func open(isForgotten: (SubmissionNumber) -> Bool = { _ in false }) throws -> ElementDatabase {
        try ElementDatabase(try DataDirectory(path: path), totalBytesMax: 1 << 20, isForgotten: isForgotten)
    }

    private func run(
        of submission: UInt32 = 1, number: Int = 1, first: UInt64? = nil, _ indices: [UInt64], closed: Bool = false
    ) -> ElementRun {
        ElementRun(
            peer: PeerID(7), unit: UnitID(SubmissionNumber(submission), 1), attempt: Attempt(epoch: 1, counter: UInt32(number)),
            number: number, first: first ?? indices.first ?? 0,
            elements: indices.map { .init(index: $0, encoding: 1, bytes: [UInt8](repeating: UInt8($0), count: 36)) }, isClosed: closed)
    }

    private func read(_ spool: ElementDatabase, number: Int = 1, from: UInt64 = 0) throws -> ElementPage {
        try spool.read(ElementQuery(unit: unit, number: number, from: from, limitBytes: 1 << 20))
    }

    /// Leaves the files as a process does that was killed when it had stored a hundred elements, ten at a time.
    private func crashWithAHundred() throws {
        let work = temporary.path + "/work"
        var spool = try ElementDatabase(try DataDirectory(path: work), totalBytesMax: 1 << 20)
        for ten in 0..<10 { _ = try spool.append([run((0..<10).map { UInt64(10 * ten + $0) })]) }
        try FileManager.default.copyItem(atPath: work, toPath: path)
        try? FileManager.default.removeItem(atPath: file + "-shm")
    }

    private var file: String { path + "/elements.sqlite" }

    private func content(_ suffix: String = "") throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file + suffix)) }

    private func contents() throws -> [Data] { [try content(), try content("-wal")] }

    private func change(_ suffix: String = "", _ body: (inout Data) -> Void) throws {
        var data = try content(suffix)
        body(&data)
        try data.write(to: URL(fileURLWithPath: file + suffix))
    }

    private func tamper(_ sql: String) throws {
        let queue = try DatabaseQueue(path: file)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func removeFiles() throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
            try FileManager.default.removeItem(atPath: file + suffix)
        }
    }

    // MARK: The log

    @Test func crashedSpool_isReadWhole() throws {
        try crashWithAHundred()
        let spool = try open()
        #expect(spool.losses.isEmpty)
        #expect(try read(spool).elements.map(\.index) == Array(0..<100))
    }

    @Test func flippedBitInTheLog_isRefused_andWithoutTheFileAllGoOn_andAreTold() throws {
        try crashWithAHundred()
        try change("-wal") { $0[$0.count / 2] ^= 1 }
        let given = try contents()
        let error = try #require(throws: JournalError.self) { try open() }
        guard case .damagedSpool(file, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(error)".contains("of the write-ahead log is damaged") && "\(error)".contains("begin without it: rm -f \(file)*"))
        #expect(try contents() == given, "nothing was changed")
        // As the message says.
        try removeFiles()
        var spool = try open()
        #expect(spool.losses == [ElementLoss(unit: unit, number: 1, from: 0, next: 100)])
        #expect(
            ElementLoss.text(spool.losses, path: spool.path)
                == "\(file): 100 partial results of 1 operation were acknowledged and are lost; operations that run go on behind them, and "
                + "readers are told how many they miss")
        let page = try read(spool)
        #expect(page.elements.isEmpty && page.next == 100)
        // The worker has kept what was not acknowledged.
        let receipts = try spool.append([run([100, 101], closed: true)])
        #expect(receipts.map(\.next) == [102] && receipts.map(\.full) == [nil] && receipts.map(\.isClosed) == [true])
        #expect(try read(spool).elements.map(\.index) == [100, 101])
        try spool.close()
        #expect(try open().losses.isEmpty, "it was said once")
    }

    @Test func headerOfTheLogThatIsNone_isRefused() throws {
        try crashWithAHundred()
        try change("-wal") { $0[0] ^= 0xff }
        let error = try #require(throws: JournalError.self) { try open() }
        #expect("\(error)".contains("begin without it"))
    }

    /// It looks as if it had not been finished; but its sender was told.
    /// A page of zeros has no rows.
    @Test func fileWithTables_andWithoutTheirLayout_isNoneOfAnEarlierRelease() throws {
        try crashWithAHundred()
        try tamper("DELETE FROM schema_versions")
        let given = try content()
        #expect(throws: JournalError.self) { try ElementScan.look(at: try DataDirectory(path: path)) }
        let error = try #require(throws: JournalError.self) { try open() }
        guard case .damagedSpool(file, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(try content() == given, "nothing was changed")
    }

    @Test func endOfTheLogThatIsDamaged_isMissed() throws {
        try crashWithAHundred()
        try change("-wal") { $0[$0.count - 10] ^= 1 }
        let spool = try open()
        #expect(spool.losses == [ElementLoss(unit: unit, number: 1, from: 90, next: 100)])
        let page = try read(spool)
        #expect(page.elements.map(\.index) == Array(0..<90) && page.next == 100)
    }

    @Test func fileThatIsNone_isRefused() throws {
        var spool = try open()
        _ = try spool.append([run([0, 1])])
        try spool.close()
        try change { $0[0] ^= 1 }
        let error = try #require(throws: JournalError.self) { try open() }
        #expect("\(error)".contains("begin without it"))
    }

    // MARK: What is lost

    /// Also the file is gone that says how far it went.
    @Test func elementsBehindAGap_areTaken_whenNothingWasRefused() throws {
        var spool = try open()
        let receipts = try spool.append([run([100]), run([101], closed: true)])
        #expect(receipts.map(\.next) == [101, 102] && receipts.map(\.full) == [nil, nil])
        #expect(receipts.map(\.loss) == [ElementLoss(unit: unit, number: 1, from: 0, next: 100), nil])
        try spool.close()
        spool = try open()
        #expect(try read(spool).elements.map(\.index) == [100, 101])
    }

    @Test func gapWithoutElementsBehindIt_isTold() throws {
        var spool = try open()
        #expect(try spool.append([run(first: 100, [], closed: true)]).map(\.next) == [100])
        let page = try read(spool)
        #expect(page.elements.isEmpty && page.next == 100)
    }

    /// As after a backup was put in place, from which the operation begins anew.
    @Test func whatItsSenderOffersAgain_isNotLost() throws {
        _ = try ElementWitness(
            try DataDirectory(path: path), [unit.submission: [unit: ElementWitness.End(number: 1, next: 50)]])
        var spool = try open()
        #expect(spool.losses.map(\.count) == [50])
        // Who reads before it sends again does not leap over what is still to come.
        let running = ElementQuery(unit: unit, number: 1, from: 0, limitBytes: 1000, isEnded: false)
        #expect(try spool.read(running).next == 0)
        #expect(try spool.append([run([0, 1])]).map(\.next) == [2])
        let page = try read(spool)
        #expect(page.elements.map(\.index) == [0, 1] && page.next == 2)
    }

    @Test func elementsOfAnEarlierAttempt_andOfWhatIsForgotten_areNotMissed() throws {
        var spool = try open()
        _ = try spool.append([run([0, 1, 2])])
        // The next attempt has sent nothing, and that was not acknowledged.
        _ = try spool.append([run(number: 2, [], closed: true), run(of: 2, [0])])
        try spool.close()
        _ = try ElementWitness(
            try DataDirectory(path: path),
            [
                unit.submission: [unit: ElementWitness.End(number: 1, next: 3)],
                SubmissionNumber(9): [UnitID(SubmissionNumber(9), 1): ElementWitness.End(number: 1, next: 3)],
            ])
        #expect(try open(isForgotten: { $0.rawValue == 9 }).losses.isEmpty)
    }

    @Test func witness_isReadAsItWasWritten_withoutWhatIsDamagedOrForgotten() throws {
        let directory = try DataDirectory(path: path)
        let other = UnitID(SubmissionNumber(2), 3)
        var witness = try ElementWitness(directory, [:])
        for next in 1...5 { try witness.note([(unit: unit, end: ElementWitness.End(number: 1, next: UInt64(next)))]) }
        try witness.note([(unit: other, end: ElementWitness.End(number: 2, next: 7))])
        let both: ElementWitness.Ends = [
            unit.submission: [unit: ElementWitness.End(number: 1, next: 5)],
            other.submission: [other: ElementWitness.End(number: 2, next: 7)],
        ]
        #expect(try ElementWitness.read(in: path) == both)
        let place = URL(fileURLWithPath: ElementWitness.path(in: path))
        let written = try Data(contentsOf: place)
        var damaged = written
        damaged[4 * 32 + 16] ^= 1
        try damaged.write(to: place)
        #expect(try ElementWitness.read(in: path)[unit.submission]?[unit]?.next == 4)
        try written.write(to: place)
        witness = try ElementWitness(directory, both)
        try witness.forget([unit.submission])
        #expect(try ElementWitness.read(in: path) == [other.submission: [other: ElementWitness.End(number: 2, next: 7)]])
    }

    // MARK: Rows

    @Test func damagedElement_isAnErrorForItsReader_behindThoseBeforeIt() throws {
        var spool = try open()
        _ = try spool.append([run(Array(0..<6))])
        try spool.close()
        try tamper("UPDATE element SET bytes = zeroblob(length(bytes)) WHERE position = 3")
        spool = try open()
        let page = try read(spool)
        #expect(page.elements.map(\.index) == [0, 1, 2] && page.more)
        let error = try #require(throws: DamagedElement.self) { try read(spool, from: page.next) }
        #expect(error == DamagedElement(number: 1, index: 3))
        #expect("\(error)".contains("the stored partial result 3 of attempt 1 is damaged"))
        #expect(try read(spool, from: 4).elements.map(\.index) == [4, 5])
    }

    /// What stands at the end of an attempt says from where on its sender is believed.
    @Test func damagedEnd_isNoReasonToDropWhatIsSent() throws {
        var spool = try open()
        _ = try spool.append([run([0, 1, 2])])
        try spool.close()
        try tamper("UPDATE element SET position = 70 WHERE position = 2")
        spool = try open()
        let receipts = try spool.append([run([3, 4])])
        #expect(receipts.map(\.next) == [5] && receipts.map(\.loss) == [ElementLoss(unit: unit, number: 1, from: 2, next: 3)])
        #expect(try read(spool).elements.map(\.index) == [0, 1, 3, 4])
    }

    @Test func elementsOfAnEarlierRelease_areRead_andNewOnesHaveToHaveAHash() throws {
        _ = try DataDirectory(path: path)
        try tamper(
            """
            CREATE TABLE schema_versions (number INTEGER PRIMARY KEY, name TEXT NOT NULL, product TEXT NOT NULL) STRICT;
            INSERT INTO schema_versions VALUES (1, 'elements', '0.0.1');
            CREATE TABLE element (
                submission INTEGER NOT NULL, unit INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL,
                encoding INTEGER NOT NULL, bytes BLOB NOT NULL,
                PRIMARY KEY (submission, unit, number, position)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE removed (
                submission INTEGER NOT NULL, unit INTEGER NOT NULL, number INTEGER NOT NULL, next INTEGER NOT NULL,
                PRIMARY KEY (submission, unit)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO element VALUES (1, 1, 1, 0, 1, x'00'), (1, 1, 1, 1, 1, x'01');
            """)
        var spool = try open()
        #expect(try spool.append([run([2]), run(of: 2, [0])]).map(\.next) == [3, 1])
        #expect(try read(spool).elements.map(\.index) == [0, 1, 2])
        try spool.close()
        try tamper("UPDATE element SET digest = NULL WHERE submission = 2")
        spool = try open()
        #expect(throws: DamagedElement(number: 1, index: 0)) {
            try spool.read(ElementQuery(unit: UnitID(SubmissionNumber(2), 1), number: 1, from: 0, limitBytes: 1000))
        }
    }

    // MARK: Writes that fail

    /// After a failed write nobody knows what of it is on the disk: the connection writes no more, and the file is opened anew.
    @Test func afterAWriteThatFailed_theFileIsOpenedAnew_beforeAnythingIsAcknowledged() throws {
        var spool = try open()
        _ = try spool.append([run([0, 1])])
        try tamper("CREATE TRIGGER fuse BEFORE INSERT ON element WHEN NEW.position = 2 BEGIN SELECT RAISE(ABORT, 'no'); END")
        #expect(throws: DatabaseError.self) { try spool.append([run([2])]) }
        try FileManager.default.moveItem(atPath: file, toPath: file + ".aside")
        #expect(throws: JournalError.self) { try spool.append([run(of: 2, [0])]) }
        #expect(!FileManager.default.fileExists(atPath: file), "no other file takes its place")
        try FileManager.default.moveItem(atPath: file + ".aside", toPath: file)
        #expect(try spool.append([run(of: 2, [0])]).map(\.next) == [1])
        #expect(try read(spool).elements.map(\.index) == [0, 1])
        // Its sender has it still: what comes behind it is not taken for all that is left.
        #expect(try spool.append([run([3])]).map(\.full) == [ElementDatabase.unstorableText])
        try tamper("DROP TRIGGER fuse")
        #expect(try spool.append([run([2, 3])]).map(\.next) == [4])
    }
}
