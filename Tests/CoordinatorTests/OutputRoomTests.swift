import Foundation
import GRDB
import Logging
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

/// The spool of output on a disk without room, and in a file that another program has locked.
@Suite struct OutputRoomTests {
    let temporary: TemporaryDirectory
    let directory: DataDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        directory = try DataDirectory(path: temporary.path + "/data")
    }

    private func records(_ submission: UInt32, _ indices: Range<UInt64>, bytes: Int = 50_000, isKept: Bool = false) -> [OutputRecord] {
        indices.map { index in
            OutputRecord(
                unit: UnitID(SubmissionNumber(submission), 1), attempt: Attempt(epoch: 1, counter: submission), attemptNumber: 1, path: "a",
                stream: .stdout, index: index, at: 5, bytes: [UInt8](repeating: 0x61, count: bytes), isTruncated: false,
                keptFrom: isKept ? indices.lowerBound : nil, sender: isKept ? PeerID(3) : nil)
        }
    }

    private func indices(_ spool: OutputDatabase, _ submission: UInt32) throws -> [UInt64] {
        try spool.read(OutputQuery(submission: SubmissionNumber(submission), units: nil, after: 0, limitBytes: 1 << 30))
            .records.map(\.index)
    }

    /// Of the file, when everything is in it.
    private func fileBytes(_ spool: OutputDatabase) throws -> Int {
        try spool.sync()
        return try #require(try FileManager.default.attributesOfItem(atPath: directory.outputPath)[.size] as? Int)
    }

    // MARK: The disk's reserve

    @Test func diskWithoutRoom_isNotFilled_theOldestGoes() throws {
        var spool = try OutputDatabase(directory)
        for submission in 1...4 as ClosedRange<UInt32> { try spool.append(records(submission, 0..<10)) }
        let before = try fileBytes(spool)
        spool.reserve = SpoolReserve(bytes: 1_000) { 1_000 }
        let (count, standings) = try spool.store(records(5, 0..<25))
        #expect(count == 25)
        #expect(standings.values.map { $0 } == [OutputStanding(next: 25)])
        #expect(try indices(spool, 5) == Array(0..<25))
        #expect(try indices(spool, 1).isEmpty)
        #expect(try indices(spool, 2).isEmpty)
        #expect(try indices(spool, 4) == Array(0..<10), "no more than it takes")
        #expect(try fileBytes(spool) <= before)
        // Again and again.
        for round in 1..<8 as Range<UInt64> { #expect(try spool.store(records(6, round * 20..<(round + 1) * 20)).count == 20) }
        #expect(try fileBytes(spool) <= before)
        #expect(try indices(spool, 6).suffix(20) == Array(140..<160))
    }

    @Test func whatDoesNotFit_isNotStored_andNothingGoesForIt() throws {
        var spool = try OutputDatabase(directory)
        spool.reserve = SpoolReserve(bytes: 1_000) { 999 }
        #expect(try spool.store(records(1, 0..<2)).count == 0)
        spool.reserve = .none
        try spool.append(records(1, 0..<2, bytes: 10_000))
        spool.reserve = SpoolReserve(bytes: 1_000) { 999 }
        #expect(try spool.store(records(2, 0..<1, bytes: 100_000)).count == 0)
        #expect(try indices(spool, 1) == [0, 1])
        spool.reserve = SpoolReserve(bytes: 1_000) { 1 << 30 }
        #expect(try spool.store(records(2, 0..<1, bytes: 100_000)).count == 1)
        #expect(try indices(spool, 1) == [0, 1])
        #expect(try indices(spool, 2) == [0])
    }

    @Test func reserve_isHalfOfTheDisks() {
        #expect(SpoolReserve.half(of: 1 << 30, in: temporary.path).bytes == 1 << 29)
        #expect(SpoolReserve.half(of: .max, in: temporary.path).growthBytes == 0)
        #expect(SpoolReserve.half(of: 0, in: temporary.path).growthBytes == .max)
    }

    /// It waits at its sender and here, as when the file cannot be written.
    @Test(.timeLimit(.minutes(1))) func whatTheDiskHasNoRoomFor_isTriedAgain() throws {
        let free = Mutex<UInt64>(0)
        let receipts = Mutex<[OutputReceipt]>([])
        let takenBytes = Mutex(0)
        var spool = try OutputDatabase(directory)
        spool.reserve = SpoolReserve(bytes: 1) { free.withLock { $0 } }
        let service = try OutputService(spool, logger: Logger(label: "test")) { event in
            switch event {
            case .stored(_, let told): receipts.withLock { $0 += told }
            case .taken(let bytes): takenBytes.withLock { $0 += bytes }
            case .page, .unreadable: break
            }
        }
        let large = records(1, 0..<17, bytes: 1 << 20, isKept: true)
        service.post(.append(large))
        while takenBytes.withLock({ $0 == 0 }) { poll(nil, 0, 10) }
        #expect(receipts.withLock { $0.map(\.standing) } == [OutputStanding(next: 0, isRefused: true)])
        free.withLock { $0 = 1 << 40 }
        while receipts.withLock({ $0.last?.standing.isRefused != false }) { poll(nil, 0, 10) }
        service.close()
        let stored = try indices(try OutputDatabase(directory), 1)
        #expect(!stored.isEmpty && stored == Array(0..<UInt64(stored.count)))
        #expect(receipts.withLock { $0.last?.standing.next } == UInt64(stored.count))
    }

    // MARK: A file that is locked

    @Test func lockedFile_isNotWaitedForForLong_andIsRead() throws {
        var spool = try OutputDatabase(directory)
        try spool.append(records(1, 0..<1))
        spool.setPatience(milliseconds: CoordinatorLimits.spoolLockMilliseconds)
        let intruder = try DatabaseQueue(path: directory.outputPath)
        try intruder.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            let began = BootClock.milliseconds()
            let error = #expect(throws: DatabaseError.self) { try spool.append(records(1, 1..<2)) }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(BootClock.milliseconds() - began < Int64(JournalDatabase.patienceSeconds * 1_000) / 2)
            #expect(try indices(spool, 1) == [0])
            try database.execute(sql: "ROLLBACK")
        }
        try spool.append(records(1, 1..<2))
        #expect(try indices(spool, 1) == [0, 1])
    }

    /// What is off the queue lets the coordinator read from its peers.
    @Test(.timeLimit(.minutes(1))) func lockedFile_holdsUpNobody_andWhatWasToGoGoesLater() throws {
        let takenBytes = Mutex(0)
        var spool = try OutputDatabase(directory)
        try spool.append(records(1, 0..<1))
        let service = try OutputService(spool, logger: Logger(label: "test")) { event in
            if case .taken(let bytes) = event { takenBytes.withLock { $0 += bytes } }
        }
        let intruder = try DatabaseQueue(path: directory.outputPath)
        try intruder.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            let began = BootClock.milliseconds()
            let news = records(2, 0..<3)
            for record in news { service.post(.append([record])) }
            service.post(.forget([SubmissionNumber(1)]))
            let bytes = news.reduce(0) { $0 + $1.spooledBytes }
            while takenBytes.withLock({ $0 < bytes }) { poll(nil, 0, 10) }
            #expect(BootClock.milliseconds() - began < Int64(JournalDatabase.patienceSeconds * 1_000) / 2)
            // The first try of both is over.
            poll(nil, 0, Int32(3 * CoordinatorLimits.spoolLockMilliseconds))
            try database.execute(sql: "ROLLBACK")
        }
        func submissions() throws -> [Int] {
            try intruder.read { try Int.fetchAll($0, sql: "SELECT DISTINCT submission FROM output ORDER BY submission") }
        }
        while try submissions() != [2] { poll(nil, 0, 10) }
        service.close()
        #expect(try indices(try OutputDatabase(directory), 2) == [0, 1, 2])
    }
}
