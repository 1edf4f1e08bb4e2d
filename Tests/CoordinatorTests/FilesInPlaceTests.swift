import Foundation
import Scheduling
import Testing

@testable import Coordinator

@Suite struct FilesInPlaceTests {
    let temporary: TemporaryDirectory
    private var path: String { temporary.path + "/data" }
    private var aside: String { temporary.path + "/aside" }

    init() throws { temporary = try TemporaryDirectory() }

    private func open() throws -> (DataDirectory, JournalDatabase, FilesInPlace) {
        let directory = try DataDirectory(path: path)
        _ = try BlobStore(path: directory.blobsPath)
        let database = try JournalDatabase(directory)
        return (directory, database, try FilesInPlace(directory))
    }

    @Test(arguments: ["journal.sqlite", "journal.sqlite-wal", "journal.acknowledged", "blobs"])
    func fileThatIsMovedAway_isNamed_untilItIsBack(name: String) throws {
        let (_, database, files) = try open()
        try files.check()
        try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: aside)
        #expect(throws: JournalError.replaced(path: "\(path)/\(name)")) { try files.check() }
        try FileManager.default.moveItem(atPath: aside, toPath: "\(path)/\(name)")
        try files.check()
        withExtendedLifetime(database) {}
    }

    @Test(arguments: ["journal.sqlite", "journal.sqlite-wal", "journal.acknowledged", "blobs"])
    func copyInThePlaceOfAFile_isFound(name: String) throws {
        let (_, database, files) = try open()
        try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: aside)
        try FileManager.default.copyItem(atPath: aside, toPath: "\(path)/\(name)")
        #expect(throws: JournalError.replaced(path: "\(path)/\(name)")) { try files.check() }
        withExtendedLifetime(database) {}
    }

    /// What a coordinator does to them itself replaces none.
    @Test func commits_checkpoints_andWhoReads_leaveThemInPlace() throws {
        let (directory, database, files) = try open()
        var end = JournalEnd.empty
        for index in 0..<20 { end = try database.commit([batch(Facts.types(index..<index + 1), after: end)], after: end) }
        _ = try database.setting("wal_checkpoint(TRUNCATE)")
        try files.check()
        // As a backup does.
        let reader = try JournalDatabase(readingOnly: directory)
        #expect(try folded(reader).facts.count == 20)
        try reader.close()
        end = try database.commit([batch(Facts.types(20..<21), after: end)], after: end)
        try files.check()
        #expect(try folded(database).facts == Facts.types(0..<21))
    }

    @Test func directoryThatIsRemoved_isNamedAsAWhole() throws {
        let (_, database, files) = try open()
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        #expect(throws: DataDirectoryError.removed(path: path)) { try files.check() }
        withExtendedLifetime(database) {}
    }

    /// Who is told to put a backup in place of a journal that is there, and does, loses it.
    @Test func lockThatIsRemoved_orCannotBeSeen_isNoRemovedDirectory() throws {
        let (_, database, files) = try open()
        try FileManager.default.moveItem(atPath: "\(path)/coordinator.lock", toPath: aside)
        let error = #expect(throws: DataDirectoryError.unlocked(path: path)) { try files.check() }
        #expect("\(error.map { "\($0)" } ?? "")".hasSuffix("so it ends; nothing is lost, start it again"))
        // A name that cannot be looked up: as of a directory that may not be searched.
        try FileManager.default.createSymbolicLink(atPath: "\(path)/coordinator.lock", withDestinationPath: "coordinator.lock")
        let unseen = try #require(throws: DataDirectoryError.self) { try files.check() }
        guard case .notReadable(path, let reason) = unseen else { return #expect(Bool(false), "\(unseen)") }
        #expect(reason.contains("symbolic links"))
        withExtendedLifetime(database) {}
    }

    @Test func message_saysWhatToDo() {
        #expect(
            "\(JournalError.replaced(path: "/d/journal.sqlite"))" == """
                /d/journal.sqlite was removed, or replaced, under the coordinator that runs on it: what it would acknowledge from now on could not \
                be found by the next one, so it ends. If what was there has been moved, put it back. Then start again, which says whether \
                anything is missing; if so, put a backup in place: aop journal restore
                """)
    }
}
