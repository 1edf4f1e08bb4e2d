import AOperation
import Executing
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

    /// TMPDIR itself, and what that is in, may be removed as well.
    @Test func ensure_makesWhatItIsIn_forThisUserAlone() throws {
        let place = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: place) }
        try FileManager.default.removeItem(atPath: place)
        try TemporaryDirectory.ensure("\(place)/tmp/worker/a")
        for path in [place, "\(place)/tmp", "\(place)/tmp/worker", "\(place)/tmp/worker/a"] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700, "\(path)")
        }
    }

    @Test func ensure_whereTMPDIRIsSomethingElse_fails() throws {
        let place = try TemporaryDirectory.make()
        defer { try? FileManager.default.removeItem(atPath: place) }
        try Data().write(to: URL(fileURLWithPath: "\(place)/tmp"))
        let error = try #require(throws: SystemCallError.self) { try TemporaryDirectory.ensure("\(place)/tmp/worker/a") }
        #expect(error.subject == "\(place)/tmp/worker" && error.errno == ENOTDIR)
    }

    /// Nothing of it has run, and others may.
    @Test func commandWithoutAPlace_hasNotBegun() async throws {
        let runner = try CommandRunner()
        let directory = runner.host.temporaryDirectory
        try FileManager.default.removeItem(atPath: directory)
        try Data().write(to: URL(fileURLWithPath: directory))
        guard case .failure(let errors) = await runner.run(.init(run: "true")), let error = errors.first else {
            Issue.record("it has run")
            return
        }
        #expect(error.publishedError is UnbegunAttempt)
        let failure = WireOperationFailure(error, host: "testhost")
        #expect(failure.code == .spawn && failure.message.hasPrefix("no working directory on testhost: mkdir failed for "))
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
