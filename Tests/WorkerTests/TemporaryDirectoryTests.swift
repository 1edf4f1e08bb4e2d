import Foundation
import Testing
import Wire

@testable import Worker

@Suite struct TemporaryDirectoryTests {
    @Test func ensure_makesWhatIsMissing_andLeavesWhatIsThere() throws {
        let worker = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: worker) }
        try TemporaryDirectory.ensure("\(worker)/a")
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(worker)/a/kept"))
        try TemporaryDirectory.ensure("\(worker)/a")
        #expect(FileManager.default.fileExists(atPath: "\(worker)/a/kept"))
        try FileManager.default.removeItem(atPath: worker)
        try TemporaryDirectory.ensure("\(worker)/a")
        let mode = try FileManager.default.attributesOfItem(atPath: "\(worker)/a")[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    /// The place may be one in which everybody can make something.
    @Test func ensure_takesNothingThatIsNoDirectoryOfItsOwn() throws {
        let worker = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: worker) }
        try FileManager.default.createSymbolicLink(atPath: "\(worker)/a", withDestinationPath: "/tmp")
        let error = try #require(throws: SystemCallError.self) { try TemporaryDirectory.ensure("\(worker)/a") }
        #expect(error.subject == "\(worker)/a" && error.errno == EEXIST && error.remedy?.contains("TMPDIR") == true)
    }
}
