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
