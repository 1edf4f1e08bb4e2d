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
