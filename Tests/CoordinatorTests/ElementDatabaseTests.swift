import Foundation
import GRDB
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// The spool of partial results on the disk.
@Suite struct ElementDatabaseTests {
    let temporary: TemporaryDirectory
    let directory: DataDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        directory = try DataDirectory(path: temporary.path + "/data")
    }

    private func open(_ limit: Int64 = 1 << 20) throws -> ElementDatabase { try ElementDatabase(directory, totalBytesMax: limit) }

    private func run(
        of submission: UInt32 = 1, number: Int = 1, first: UInt64? = nil, _ indices: [UInt64], bytes: Int = 36, closed: Bool = false
    ) -> ElementRun {
        ElementRun(
            peer: PeerID(7), unit: UnitID(SubmissionNumber(submission), 1), attempt: Attempt(epoch: 1, counter: UInt32(number)),
            number: number, first: first ?? indices.first ?? 0,
            elements: indices.map { .init(index: $0, encoding: 1, bytes: [UInt8](repeating: UInt8($0), count: bytes)) }, isClosed: closed)
    }

    private func read(_ spool: ElementDatabase, _ submission: UInt32 = 1, number: Int = 1, from: UInt64 = 0) throws -> ElementPage {
        try spool.read(ElementQuery(unit: UnitID(SubmissionNumber(submission), 1), number: number, from: from, limitBytes: 1 << 20))
    }

    @Test func elements_areReadInTheirOrder_inPages() throws {
        var spool = try open()
        #expect(try spool.append([run([0, 1, 2]), run(first: 3, [3, 4], closed: true)]).map(\.next) == [3, 5])
        #expect(try read(spool).elements.map(\.index) == [0, 1, 2, 3, 4])
        let page = try spool.read(ElementQuery(unit: UnitID(SubmissionNumber(1), 1), number: 1, from: 1, limitBytes: 220))
        #expect(page.elements.map(\.index) == [1, 2])
        #expect(page.more && page.next == 3)
    }

    @Test(arguments: [true, false])
    func elementSentAgain_isStoredOnce(afterARestart: Bool) throws {
        var spool = try open()
        _ = try spool.append([run([0, 1, 2])])
        if afterARestart {
            try spool.close()
            spool = try open()
        }
        let receipts = try spool.append([run([1, 2, 3], closed: true)])
        #expect(receipts.map(\.next) == [4])
        #expect(receipts.map(\.isClosed) == [true])
        #expect(try read(spool).elements.map(\.index) == [0, 1, 2, 3])
    }

    @Test func anotherAttempt_voidsTheElementsOfTheOneBefore() throws {
        var spool = try open(1000)
        _ = try spool.append([run([0, 1, 2])])
        _ = try spool.append([run(number: 2, [0])])
        #expect(try read(spool).elements.isEmpty)
        #expect(try read(spool, number: 2).elements.map(\.index) == [0])
        // What they took is free again: nine fit.
        #expect(try spool.append([run(number: 2, first: 1, Array(1..<9))]).map(\.full) == [nil])
    }

    @Test func fullSpool_takesWhatFits_andNothingBehindAGap() throws {
        var spool = try open(250)
        let receipts = try spool.append([run([0, 1, 2]), run(first: 3, [3], closed: true)])
        #expect(receipts.map(\.next) == [2, 2])
        #expect(receipts.allSatisfy { $0.full != nil && !$0.isClosed })
        try spool.remove([])
        // Room has come: what is sent next out of its order would leave a hole.
        _ = try spool.append([run(of: 2, [0], bytes: 0)])
        #expect(try spool.append([run(first: 5, [5])]).map(\.next) == [2])
        #expect(try read(spool).elements.map(\.index) == [0, 1])
    }

    @Test func whatWasLeftOutByItsSender_isAGap_andNoReasonToWait() throws {
        var spool = try open()
        #expect(try spool.append([run([0, 1]), run(first: 2, [7, 8])]).map(\.next) == [2, 9])
        #expect(try read(spool, from: 2).elements.map(\.index) == [7, 8])
    }

    @Test func removed_givesRoom_andLateReadersAreToldHowManyTheyMiss() throws {
        var spool = try open(400)
        _ = try spool.append([run(of: 1, [0, 1, 2])])
        #expect(try spool.append([run(of: 2, [0, 1])]).map(\.next) == [1])
        #expect(spool.submissions.map(\.rawValue) == [1, 2])
        try spool.remove([SubmissionNumber(1)])
        #expect(try spool.append([run(of: 2, first: 1, [1, 2])]).map(\.next) == [3])
        try spool.close()
        spool = try open(400)
        let page = try read(spool, 1)
        #expect(page.elements.isEmpty && page.next == 3)
        #expect(try read(spool, 2).elements.map(\.index) == [0, 1, 2])
    }

    @Test func diskWithoutRoom_holdsBack_untilWhatHasEndedGoes_orThereIsRoom() throws {
        var spool = try open()
        _ = try spool.append([run(of: 1, Array(0..<20), bytes: 10_000)])
        spool.reserve = SpoolReserve(bytes: 1_000) { 999 }
        let held = try spool.append([run(of: 2, [0, 1], bytes: 10_000, closed: true)])
        #expect(held.map(\.next) == [0] && held.map(\.isClosed) == [false] && held.map(\.full) == [ElementDatabase.shortText])
        // An end without elements needs no room.
        #expect(try spool.append([run(of: 3, first: 0, [], closed: true)]).map(\.isClosed) == [true])
        _ = try spool.append([run(of: 2, [0, 1], bytes: 10_000)])
        try spool.remove([SubmissionNumber(1)])
        #expect(try spool.append([run(of: 2, [0, 1], bytes: 10_000)]).map(\.full) == [nil])
        #expect(try read(spool, 2).elements.map(\.index) == [0, 1])
        #expect(try spool.append([run(of: 4, Array(0..<40), bytes: 10_000)]).map(\.full) == [ElementDatabase.shortText])
        spool.reserve = SpoolReserve(bytes: 1_000) { 1 << 30 }
        #expect(try spool.append([run(of: 4, Array(0..<40), bytes: 10_000, closed: true)]).map(\.next) == [40])
    }

    /// The file has room: what is not taken at once comes again, and nobody's results go for it.
    @Test func diskWithoutRoom_takesTheLargestElement_andRemovesNothingForWhatTheFileTakes() throws {
        var spool = try open(64 << 20)
        _ = try spool.append([run(of: 1, Array(0..<8), bytes: Limits.partialResultBytes), run(of: 2, [0], bytes: 10_000)])
        try spool.forget([SubmissionNumber(1)])
        spool.reserve = SpoolReserve(bytes: 1_000) { 999 }
        #expect(try spool.append([run(of: 3, [0], bytes: Limits.partialResultBytes)]).map(\.full) == [nil])
        let held = try spool.append([run(of: 3, [1, 2, 3], bytes: Limits.partialResultBytes)])
        #expect(held.map(\.full) == [ElementDatabase.shortText] && held.map(\.next) == [2])
        try spool.remove([SubmissionNumber(2)])
        #expect(try read(spool, 2).elements.map(\.index) == [0])
    }

    /// It comes again; who reads waits for longer, as an operation may need it.
    @Test func lockedFile_isNotWaitedForForLong_andNothingIsLost() throws {
        var spool = try open()
        spool.writePatienceMilliseconds = CoordinatorLimits.spoolLockMilliseconds
        _ = try spool.append([run([0])])
        let intruder = try DatabaseQueue(path: directory.elementsPath)
        try intruder.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            let began = BootClock.milliseconds()
            #expect(throws: DatabaseError.self) { try spool.append([run([1])]) }
            #expect(BootClock.milliseconds() - began < Int64(JournalDatabase.patienceSeconds * 1_000) / 2)
            #expect(try read(spool).elements.map(\.index) == [0])
            try database.execute(sql: "ROLLBACK")
        }
        #expect(try spool.append([run([1, 2])]).map(\.next) == [3])
        #expect(try read(spool).elements.map(\.index) == [0, 1, 2])
    }
}
