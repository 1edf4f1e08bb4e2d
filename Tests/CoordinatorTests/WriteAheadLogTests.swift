import Foundation
import Testing

@testable import Coordinator

@Suite struct WriteAheadLogTests {
    let temporary: TemporaryDirectory
    let copy: String

    /// Copies the files of a journal with twenty commits in its log, as a crash leaves them.
    init() throws {
        temporary = try TemporaryDirectory()
        copy = temporary.path + "/copy"
        let path = temporary.path + "/data"
        let database = try JournalDatabase(try DataDirectory(path: path))
        var end = JournalEnd.empty
        for index in 0..<20 {
            end = try database.commit([batch(Facts.types(index..<index + 1), after: end)], after: end)
        }
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for name in ["journal.sqlite", "journal.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy + "/" + name)
        }
    }

    private var log: String { copy + "/journal.sqlite-wal" }

    private func change(_ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: log))
        body(&data)
        try data.write(to: URL(fileURLWithPath: log))
    }

    @Test func crashedJournal_isReadWhole() throws {
        let database = try JournalDatabase(try DataDirectory(path: copy))
        #expect(database.logFinding == .intact(commits: 20))
        #expect(try folded(database).facts == Facts.types(0..<20))
    }

    @Test func flippedBitBeforeCommits_isRefusedInsteadOfLosingThem() throws {
        try change { $0[$0.count / 2] ^= 1 }
        let error = try #require(throws: JournalError.self) { try JournalDatabase(try DataDirectory(path: copy)) }
        guard case .damagedLog(_, let frame, let behind) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(frame > 1 && behind > 1)
        #expect("\(error)".contains("Nothing was changed"))
    }

    @Test func damagedHeader_isRefused() throws {
        try change { $0[17] ^= 1 }
        #expect(throws: JournalError.self) { try JournalDatabase(try DataDirectory(path: copy)) }
    }

    @Test(arguments: [1, 100, 4000]) func tornTail_isCut(bytes: Int) throws {
        try change { $0.removeLast(bytes) }
        let database = try JournalDatabase(try DataDirectory(path: copy))
        #expect(try folded(database).facts == Facts.types(0..<19))
    }

    /// As `LogRoom` leaves them.
    private func addZeros() throws { try change { $0 += Data(repeating: 0, count: 100_000) } }

    @Test func roomBehindTheCommits_isNoTornTail() throws {
        try addZeros()
        let database = try JournalDatabase(try DataDirectory(path: copy))
        #expect(database.logFinding == .intact(commits: 20))
        #expect(try folded(database).facts == Facts.types(0..<20))
    }

    @Test func damageBeforeTheRoom_isFoundAllTheSame() throws {
        try change { $0[$0.count - 10] ^= 1 }
        try addZeros()
        #expect(try WriteAheadLogCheck.inspect(log) == .tornTail(commits: 19))
        try change { $0[$0.count / 20] ^= 1 }
        #expect(throws: JournalError.self) { try WriteAheadLogCheck.inspect(log) }
    }

    @Test func damageInTheLastTransaction_isATornTail() throws {
        try change { $0[$0.count - 10] ^= 1 }
        let database = try JournalDatabase(try DataDirectory(path: copy))
        #expect(database.logFinding == .tornTail(commits: 19))
        #expect(try folded(database).facts == Facts.types(0..<19))
    }
}

/// A log that SQLite has begun anew, with two commits in this round and more frames of the one before behind them.
@Suite struct RestartedLogTests {
    private static let headerBytes = 32
    private static let frameBytes = 24 + 4096

    let temporary: TemporaryDirectory
    let log: String
    private let content: Data
    /// Of this round's frames, from the first one, whether each ends a commit.
    private let frames: [Bool]

    init() throws {
        temporary = try TemporaryDirectory()
        log = temporary.path + "/log"
        let database = try JournalDatabase(try DataDirectory(path: temporary.path + "/data"))
        var end = JournalEnd.empty
        func commit(_ count: Int) throws {
            let first = Int(end.sequence.rawValue)
            end = try database.commit([batch(Facts.types(first..<first + count), after: end)], after: end)
        }
        for _ in 0..<8 { try commit(1000) }
        _ = try database.setting("wal_checkpoint(RESTART)")
        try commit(1)
        try commit(1000)
        // While the database is open: its log is as it is when the process is killed.
        content = try Data(contentsOf: URL(fileURLWithPath: database.path + "-wal"))
        withExtendedLifetime(database) {}
        var found: [Bool] = []
        for offset in stride(from: Self.headerBytes, to: content.count, by: Self.frameBytes) {
            guard content[offset + 8..<offset + 16] == content[16..<24] else { break }
            found.append(content[offset + 4..<offset + 8] != Data(count: 4))
        }
        frames = found
        try #require(frames.count { $0 } == 2 && frames.last == true)
        try #require(frames.suffix(2).first == false, "the second commit has several frames")
        let next = start(of: frames.count)
        try #require(content.count > next + Self.frameBytes && content[next..<next + 8] != Data(count: 8))
    }

    /// Where a frame begins, from 0.
    private func start(of frame: Int) -> Int { Self.headerBytes + frame * Self.frameBytes }

    private var last: Range<Int> { start(of: frames.count - 1)..<start(of: frames.count) }
    /// Where the second commit begins.
    private var second: Int { start(of: (frames.firstIndex(of: true) ?? 0) + 1) }

    private func finding(_ change: (inout Data) -> Void) throws -> WriteAheadLogCheck.Finding {
        var data = content
        change(&data)
        try data.write(to: URL(fileURLWithPath: log))
        return try WriteAheadLogCheck.inspect(log)
    }

    @Test func framesOfTheRoundBefore_areNoRest() throws {
        #expect(try finding { _ in } == .intact(commits: 2))
        #expect(try finding { $0 += Data(count: 100_000) } == .intact(commits: 2))
        #expect(try finding { $0.removeLast(4000) } == .intact(commits: 2), "the file may end within one, too")
    }

    /// What is behind them may be the end of the file, `LogRoom`'s zeros, or of the round before.
    @Test func framesWithoutTheirCommit_areARest() throws {
        #expect(try finding { $0.removeSubrange(last.lowerBound...) } == .tornTail(commits: 1))
        #expect(try finding { $0.replaceSubrange(last, with: Data(count: last.count)) } == .tornTail(commits: 1))
        #expect(try finding { $0.replaceSubrange(last, with: content.suffix(last.count)) } == .tornTail(commits: 1))
    }

    @Test func tornFrame_isARest() throws {
        #expect(try finding { $0[last.upperBound - 10] ^= 1 } == .tornTail(commits: 1))
        // Nothing before it is of its transaction.
        let unwritten = second + 100..<last.upperBound
        #expect(try finding { $0.replaceSubrange(unwritten, with: content.suffix(unwritten.count)) } == .tornTail(commits: 1))
        for bytes in [10, 100, 4000] { #expect(try finding { $0.removeSubrange((second + bytes)...) } == .tornTail(commits: 1)) }
    }

    /// They are not those of the round before.
    @Test(arguments: [8..<12, 12..<16, 8..<16]) func damagedSalts_areARest(_ place: Range<Int>) throws {
        let found = try finding { data in
            data.removeSubrange((second + Self.frameBytes)...)
            for byte in place { data[second + byte] ^= 0x5a }
        }
        #expect(found == .tornTail(commits: 1))
    }

    @Test func damageBeforeACommit_isFoundAllTheSame() throws {
        #expect(throws: JournalError.self) { try finding { $0[Self.headerBytes + 1000] ^= 1 } }
    }
}
