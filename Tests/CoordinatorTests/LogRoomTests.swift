import Foundation
import Logging
import Scheduling
import Testing

@testable import Coordinator

@Suite struct LogRoomTests {
    let temporary: TemporaryDirectory
    private var path: String { temporary.path + "/data" }
    private var log: String { path + "/journal.sqlite-wal" }

    init() throws { temporary = try TemporaryDirectory() }

    private func logBytes() throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
    }

    /// Commits so many facts one by one, and gives room behind each, from `first` on.
    private func commit(_ count: Int, _ database: JournalDatabase, _ room: inout LogRoom, _ end: inout JournalEnd) throws {
        for _ in 0..<count {
            let index = Int(end.sequence.rawValue)
            end = try database.commit([batch(Facts.types(index..<index + 1), after: end)], after: end)
            room.noteCommit()
            try room.makeRoom()
        }
    }

    @Test func roomComes_behindACoupleOfCommits_pieceByPiece() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        var (room, end) = (LogRoom(of: database, logger: Logger(label: "test")), JournalEnd.empty)
        try commit(LogRoom.commitsPerPiece - 1, database, &room, &end)
        let bytes = try logBytes()
        #expect(bytes < LogRoom.pieceBytes)
        try commit(1, database, &room, &end)
        #expect(try logBytes() > LogRoom.pieceBytes)
        // None of these makes it longer.
        let longer = try logBytes()
        try commit(LogRoom.commitsPerPiece - 1, database, &room, &end)
        #expect(try logBytes() == longer)
    }

    @Test func logGetsItsWholeLength_andKeepsIt_andEveryFactIsThere() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        var (room, end) = (LogRoom(of: database, logger: Logger(label: "test")), JournalEnd.empty)
        let pieces = (LogRoom.bytes + LogRoom.pieceBytes - 1) / LogRoom.pieceBytes
        try commit((pieces + 3) * LogRoom.commitsPerPiece, database, &room, &end)
        #expect(try logBytes() == LogRoom.bytes)
        let copy = temporary.path + "/copy"
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for name in ["journal.sqlite", "journal.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy + "/" + name)
        }
        let crashed = try JournalDatabase(try DataDirectory(path: copy))
        guard case .intact = crashed.logFinding else {
            Issue.record("\(crashed.logFinding)")
            return
        }
        #expect(try folded(crashed).facts == Facts.types(0..<Int(end.sequence.rawValue)))
    }

    @Test func logThatIsCopiedIntoItsFile_isWrittenFromItsFrontAgain() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        var (room, end) = (LogRoom(of: database, logger: Logger(label: "test")), JournalEnd.empty)
        let pieces = (LogRoom.bytes + LogRoom.pieceBytes - 1) / LogRoom.pieceBytes
        try commit(pieces * LogRoom.commitsPerPiece, database, &room, &end)
        // More than the log holds, in larger commits.
        while Int(end.sequence.rawValue) < 20_000 {
            let index = Int(end.sequence.rawValue)
            end = try database.commit([batch(Facts.types(index..<index + 500), after: end)], after: end)
        }
        #expect(try logBytes() <= JournalDatabase.logBytesMax)
        #expect(try folded(database).facts.count == Int(end.sequence.rawValue))
    }

    @Test func logThatIsCut_getsItsRoomAnew_andEveryFactIsThere() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        let pen = JournalPen(database, after: .empty, nil, logger: Logger(label: "test"))
        func commit(_ count: Int) throws {
            for _ in 0..<count {
                try pen.take { place throws(JournalError) in
                    let index = Int(place.end.sequence.rawValue)
                    _ = try place.commit([Facts.types(index..<index + 1)], database)
                    try place.room.makeRoom()
                }
            }
        }
        let pieces = (LogRoom.bytes + LogRoom.pieceBytes - 1) / LogRoom.pieceBytes
        try commit((pieces + 3) * LogRoom.commitsPerPiece)
        #expect(try logBytes() == LogRoom.bytes)
        try pen.take { place throws(JournalError) in
            let cut = try place.cutLog(database)
            #expect(cut == .cut)
        }
        #expect(try logBytes() == 0)
        try commit(LogRoom.commitsPerPiece)
        #expect(try logBytes() > LogRoom.pieceBytes)
        #expect(try folded(database).facts == Facts.types(0..<(pieces + 4) * LogRoom.commitsPerPiece))
    }

    /// To go on would be to commit where nobody looks.
    @Test func logThatIsGone_isSaid_andNoneIsMade() throws {
        let database = try JournalDatabase(try DataDirectory(path: path))
        var (room, end) = (LogRoom(of: database, logger: Logger(label: "test")), JournalEnd.empty)
        try commit(LogRoom.commitsPerPiece - 1, database, &room, &end)
        try FileManager.default.moveItem(atPath: log, toPath: log + ".aside")
        room.noteCommit()
        #expect(throws: JournalError.replaced(path: log)) { try room.makeRoom() }
        #expect(!FileManager.default.fileExists(atPath: log))
    }
}
