import Foundation
import GRDB
import Logging
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

@Suite struct OutputSpoolTests {
    let temporary: TemporaryDirectory
    let directory: DataDirectory

    init() throws {
        temporary = try TemporaryDirectory()
        directory = try DataDirectory(path: temporary.path + "/data")
    }

    private func record(
        _ submission: UInt32, unit: Int = 1, attempt: UInt32 = 1, index: UInt64, bytes: Int = 10
    ) -> OutputRecord {
        OutputRecord(
            unit: UnitID(SubmissionNumber(submission), unit), attempt: Attempt(epoch: 1, counter: attempt),
            attemptNumber: 1, path: "a", stream: .stdout, index: index, at: 5,
            bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: bytes), isTruncated: false)
    }

    private func read(
        _ spool: OutputDatabase, _ submission: UInt32, units: [Int]? = nil, after: Int64 = 0, limit: Int = 1 << 20
    ) throws -> OutputPage {
        try spool.read(
            OutputQuery(
                submission: SubmissionNumber(submission), units: units, after: after, limitBytes: limit))
    }

    @Test func records_areReadInPagesInOrder() throws {
        var spool = try OutputDatabase(directory)
        let written = (0..<10).map { record(1, index: $0) }
        try spool.append(written)
        var records: [OutputRecord] = []
        var position: Int64 = 0
        while true {
            let page = try read(spool, 1, after: position, limit: 35)
            #expect(page.records.count <= 3 && !page.records.isEmpty)
            records += page.records
            position = page.position
            if !page.more { break }
        }
        #expect(records == written)
        #expect(try read(spool, 1, after: position).records.isEmpty)
    }

    /// Who follows would never see what a new file, or an earlier state of this one, gets below the last position that was read.
    @Test func positions_areAboveThoseOfTheFileThatWasThereBefore() throws {
        var spool = try OutputDatabase(directory)
        try spool.append([record(1, index: 0)])
        try spool.close()
        let earlier = temporary.path + "/earlier"
        try FileManager.default.copyItem(atPath: directory.outputPath, toPath: earlier)
        spool = try OutputDatabase(directory)
        try spool.append((1..<100).map { record(1, index: $0) })
        let read = try read(spool, 1)
        #expect(read.records.count == 100)
        try spool.close()

        // A second later a position of the second is above all of those before it.
        let second = WallClock.milliseconds() / 1_000
        while WallClock.milliseconds() / 1_000 == second { poll(nil, 0, 10) }
        for isNew in [false, true] {
            try FileManager.default.removeItem(atPath: directory.outputPath)
            if !isNew { try FileManager.default.copyItem(atPath: earlier, toPath: directory.outputPath) }
            spool = try OutputDatabase(directory)
            try spool.append([record(1, attempt: 2, index: 0)])
            #expect(try self.read(spool, 1, after: read.position).records.map(\.attempt) == [Attempt(epoch: 1, counter: 2)])
            try spool.close()
        }
    }

    @Test func units_areFiltered() throws {
        var spool = try OutputDatabase(directory)
        try spool.append((0..<9).map { record(1, unit: Int($0 % 3), attempt: UInt32($0 % 3 + 1), index: $0 / 3) } + [record(2, index: 0)])
        #expect(try read(spool, 1, units: [2]).records.map(\.unit.index) == [2, 2, 2])
        #expect(try read(spool, 1, units: [0, 2]).records.map(\.unit.index) == [0, 2, 0, 2, 0, 2])
        #expect(try read(spool, 1).records.count == 9)
    }

    @Test func chunkSentAgain_isStoredOnce_alsoAfterARestart() throws {
        var spool = try OutputDatabase(directory)
        try spool.append([record(1, index: 0), record(1, index: 1)])
        try spool.append([record(1, index: 1), record(1, index: 2)])
        try spool.close()
        spool = try OutputDatabase(directory)
        try spool.append([record(1, index: 2), record(1, index: 3)])
        #expect(try read(spool, 1).records.map(\.index) == [0, 1, 2, 3])
    }

    /// What stands in the main file was synced before, and nobody has closed it or read from it.
    @Test(.timeLimit(.minutes(1))) func whatIsStored_isOnTheDiskSoon() async throws {
        let service = try OutputService(try OutputDatabase(directory), logger: Logger(label: "test")) { _ in }
        service.post(.append([record(1, index: 0)]))
        let copy = try DataDirectory(path: temporary.path + "/copy")
        var records: [OutputRecord] = []
        while records.isEmpty {
            try await Task.sleep(for: .milliseconds(20))
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.outputPath + suffix) }
            try FileManager.default.copyItem(atPath: directory.outputPath, toPath: copy.outputPath)
            // The copy may have been made in the middle of a write.
            records = (try? read(OutputDatabase(copy), 1).records) ?? []
        }
        #expect(records == [record(1, index: 0)])
        #expect(CoordinatorLimits.outputSyncMilliseconds <= 1_000)
        service.close()
    }

    @Test func overTheTotal_theOldestSubmissionsOutputGoes() throws {
        var spool = try OutputDatabase(directory, totalBytesMax: 1000)
        for submission in 1...4 as ClosedRange<UInt32> {
            try spool.append((0..<4).map { record(submission, index: $0, bytes: 100) })
        }
        #expect(try read(spool, 1).records.isEmpty)
        #expect(try read(spool, 2).records.map(\.index) == [2, 3])
        #expect(try read(spool, 4).records.count == 4)
        try spool.close()
        spool = try OutputDatabase(directory, totalBytesMax: 1000)
        try spool.append([record(5, index: 0, bytes: 900)])
        #expect(try read(spool, 4).records.map(\.index) == [3])
    }

    // MARK: What is missing

    private func kept(_ index: UInt64, from: UInt64) -> OutputRecord {
        var record = record(1, index: index)
        record.keptFrom = from
        record.sender = PeerID(3)
        return record
    }

    private var name: AttemptName { AttemptName(unit: UnitID(SubmissionNumber(1), 1), attempt: Attempt(epoch: 1, counter: 1)) }

    @Test func hole_isSaidInItsPlace() throws {
        var spool = try OutputDatabase(directory)
        try spool.append([record(1, index: 0), record(1, index: 3)])
        let records = try read(spool, 1).records
        #expect(records.map(\.index) == [0, 2, 3] && records.map(\.isTruncated) == [false, true, false])
        #expect(String(decoding: records[1].bytes, as: UTF8.self) == "\n[output is missing here: it was lost before it could be stored]\n")
        try spool.append([record(1, index: 1), record(1, index: 2), record(1, index: 4)])
        #expect(try read(spool, 1).records.map(\.index) == [0, 2, 3, 4], "it is too late for the first two")
    }

    @Test func whatItsSenderSendsAgain_isNoHole() throws {
        var spool = try OutputDatabase(directory)
        let standings = try spool.append([kept(0, from: 0), kept(2, from: 0), kept(3, from: 0)])
        #expect(standings == [name: OutputStanding(next: 1, isRefused: true)])
        #expect(
            OutputReceipt.receipts(for: [kept(0, from: 0), kept(2, from: 0)], standings)
                == [
                    OutputReceipt(
                        peer: PeerID(3), unit: name.unit, attempt: name.attempt, standing: OutputStanding(next: 1, isRefused: true))
                ])
        #expect(try spool.append((0..<4).map { kept($0, from: 0) }) == [name: OutputStanding(next: 4)])
        #expect(try read(spool, 1).records.map(\.index) == [0, 1, 2, 3])
        // What is before it is kept by nobody: this file is an earlier state of what was acknowledged.
        #expect(try spool.append([kept(6, from: 6)]) == [name: OutputStanding(next: 7)])
        #expect(try read(spool, 1).records.map(\.isTruncated) == [false, false, false, false, true, false])
    }

    /// After a restart its label is not known any more, but what is stored of it has it.
    @Test func outputOfAnAttemptThatHasEnded_getsTheLabelOfWhatIsStored() throws {
        var spool = try OutputDatabase(directory)
        try spool.append([record(1, index: 0)])
        let late = [record(1, index: 0), record(1, index: 1), record(1, attempt: 2, index: 0)].map { record in
            var record = record
            (record.attemptNumber, record.path) = (0, "?")
            return record
        }
        try spool.append(late)
        #expect(try read(spool, 1).records == [record(1, index: 0), record(1, index: 1)])
    }

    /// Another program makes that nothing can be stored.
    private func refuseOutput(_ refuses: Bool) throws {
        try DatabaseQueue(path: directory.outputPath).write { database in
            try database.execute(
                sql: refuses
                    ? "CREATE TRIGGER refuse BEFORE INSERT ON output BEGIN SELECT RAISE(ABORT, 'no room'); END" : "DROP TRIGGER refuse")
        }
    }

    @Test func whatCouldNotBeStored_isNoDuplicate() throws {
        var spool = try OutputDatabase(directory)
        try spool.append([record(1, index: 0)])
        try refuseOutput(true)
        #expect(throws: DatabaseError.self) { try spool.append([record(1, index: 1)]) }
        try refuseOutput(false)
        try spool.append([record(1, index: 1)])
        #expect(try read(spool, 1).records == [record(1, index: 0), record(1, index: 1)])
    }

    @Test(.timeLimit(.minutes(1))) func whatCouldNotBeStored_isTriedAgain_andWhatWasTooMuchIsSaidToBeMissing() async throws {
        let receipts = Mutex<[OutputReceipt]>([])
        let takenBytes = Mutex(0)
        let spool = try OutputDatabase(directory)
        try refuseOutput(true)
        let service = try OutputService(spool, logger: Logger(label: "test")) { event in
            switch event {
            case .stored(_, let told): receipts.withLock { $0 += told }
            case .taken(let bytes): takenBytes.withLock { $0 += bytes }
            case .page, .unreadable: break
            }
        }
        let large = CoordinatorLimits.outputRetriedBytes - 1000
        let posts = [
            [kept(0, from: 0), record(2, index: 0, bytes: large), record(3, index: 0), record(3, index: 1, bytes: 1000)],
            [kept(1, from: 0), record(3, index: 2)],
        ]
        for post in posts { service.post(.append(post)) }
        let bytes = posts.joined().reduce(0) { $0 + $1.spooledBytes }
        while takenBytes.withLock({ $0 < bytes }) { try await Task.sleep(for: .milliseconds(20)) }
        try refuseOutput(false)
        while receipts.withLock({ $0.last?.standing.next != 2 }) { try await Task.sleep(for: .milliseconds(20)) }
        service.close()
        let stored = try OutputDatabase(directory)
        #expect(try read(stored, 1).records == [record(1, index: 0), record(1, index: 1)])
        #expect(try read(stored, 2, limit: 1 << 30).records.map(\.index) == [0])
        let third = try read(stored, 3).records
        #expect(third.map(\.index) == [0, 2] && third.map(\.isTruncated) == [false, true])
    }
}
