import Foundation
import Testing

@testable import Coordinator

@Suite struct DataDirectoryTests {
    let temporary: TemporaryDirectory
    init() throws { temporary = try TemporaryDirectory() }

    @Test func secondCoordinator_isRefusedByNameAndProcess() throws {
        let path = temporary.path + "/a/b"
        let first = try DataDirectory(path: path)
        let error = try #require(throws: DataDirectoryError.self) { try DataDirectory(path: path) }
        #expect(error == .inUse(path: path, holder: getpid()))
        #expect(
            "\(error)" == """
                the data directory \(path) is in use by another coordinator (process \(getpid())); stop that one, or name \
                another directory with --data
                """)
        _ = consume first
        _ = try DataDirectory(path: path)
    }

    @Test func whoReads_keepsOutWhoWorks_andNobodyWhoReads() throws {
        let path = temporary.path + "/data"
        _ = try DataDirectory(path: path)
        let reading = try DataDirectory(reading: path)
        _ = try DataDirectory(reading: path)
        #expect(throws: DataDirectoryError.inUse(path: path, holder: getpid())) { try DataDirectory(path: path) }
        _ = consume reading
        let working = try DataDirectory(path: path)
        #expect(throws: DataDirectoryError.inUse(path: path, holder: getpid())) { try DataDirectory(reading: path) }
        withExtendedLifetime(working) {}
    }

    /// Who reads does not write its id down, and whoever worked there last is not named when it is gone.
    @Test func processThatIsGone_isNotNamedAsTheHolder() throws {
        let path = temporary.path + "/data"
        _ = try DataDirectory(path: path)
        try Data("999999999\n".utf8).write(to: URL(fileURLWithPath: path + "/coordinator.lock"), options: [])
        let reading = try DataDirectory(reading: path)
        let error = try #require(throws: DataDirectoryError.self) { try DataDirectory(path: path) }
        #expect(error == .inUse(path: path, holder: nil))
        #expect("\(error)".contains("in use by another process, a coordinator or aop journal; wait for its end"), "\(error)")
        withExtendedLifetime(reading) {}
    }

    @Test func directoryWithoutALock_isReadWithoutOne_andWhoBeginsMeanwhileIsSeen() throws {
        let path = temporary.path + "/backup"
        #expect(throws: DataDirectoryError.notReadable(path: path, reason: "No such file or directory")) {
            try DataDirectory(reading: path)
        }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let reading = try DataDirectory(reading: path)
        try reading.checkIsUnused()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        let working = try DataDirectory(path: path)
        #expect(throws: DataDirectoryError.inUse(path: path, holder: getpid())) { try reading.checkIsUnused() }
        withExtendedLifetime(working) {}
    }

    @Test func directoryThatOthersCanWriteTo_isRefused() throws {
        let path = temporary.path + "/open"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        #expect(throws: DataDirectoryError.writableByOthers(path: path, mode: 0o777)) { try DataDirectory(path: path) }
    }

    @Test func pathThatIsAFile_isRefused() throws {
        let path = temporary.path + "/file"
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(throws: DataDirectoryError.notWritable(path: path, reason: "it is not a directory")) {
            try DataDirectory(path: path)
        }
    }
}
