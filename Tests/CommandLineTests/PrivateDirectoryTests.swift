import Foundation
import Testing

@testable import aop

/// What becomes of directories of runs that were killed.
@Suite struct PrivateDirectoryTests {
    /// Makes a place for them, and removes it with all that is in it.
    private func with(_ body: (String) throws -> Void) throws {
        let base = NSTemporaryDirectory() + "aop-private-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: base) }
        try body(base)
    }

    private func names(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    @Test func directoryOfARun_staysWhileSomebodyUsesIt_andIsRemovedThen() throws {
        try with { base in
            let run = try PrivateDirectory(in: base)
            let path = run.path
            try FileManager.default.createDirectory(atPath: path + "/data/blobs", withIntermediateDirectories: true)
            #expect(PrivateDirectory.removeAbandoned(in: base).isEmpty)
            #expect(try names(path) == ["data", "lock"])
            let coordinator = try #require(PrivateDirectory.Hold(of: path))
            _ = consume run
            #expect(PrivateDirectory.removeAbandoned(in: base).isEmpty)
            #expect(try names(path) == ["data", "lock"], "the run is gone, and its coordinator is not")
            _ = consume coordinator
            #expect(PrivateDirectory.removeAbandoned(in: base).isEmpty)
            #expect(try names(base).isEmpty)
            let isGone = PrivateDirectory.Hold(of: path) == nil
            #expect(isGone)
        }
    }

    /// Directories of an earlier release have no lock, and may be in use.
    @Test func whatIsNotOfARun_stays_andLinksAreNotFollowed() throws {
        try with { base in
            let elsewhere = base + "/elsewhere"
            for directory in [elsewhere, base + "/aop-run-earlie", base + "/aop-run-toolong", base + "/aop-run-noroom"] {
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            }
            for file in [elsewhere + "/lock", elsewhere + "/kept", base + "/aop-run-earlie/socket", base + "/aop-run-toolong/lock"] {
                try Data().write(to: URL(fileURLWithPath: file))
            }
            try FileManager.default.createSymbolicLink(atPath: base + "/aop-run-linked", withDestinationPath: elsewhere)
            try FileManager.default.createSymbolicLink(atPath: base + "/aop-run-noroom/lock", withDestinationPath: elsewhere + "/lock")
            let before = try names(base)
            #expect(PrivateDirectory.removeAbandoned(in: base, at: time(nil) + 100_000).isEmpty)
            #expect(try names(base) == before)
            #expect(try names(elsewhere) == ["kept", "lock"])
        }
    }

    /// It may be about to get its lock; whoever was killed in between never does.
    @Test func emptyDirectory_isRemovedWhenItIsNotNewAnyMore() throws {
        try with { base in
            try FileManager.default.createDirectory(atPath: base + "/aop-run-abcdef", withIntermediateDirectories: false)
            #expect(PrivateDirectory.removeAbandoned(in: base).isEmpty)
            #expect(try names(base) == ["aop-run-abcdef"])
            #expect(PrivateDirectory.removeAbandoned(in: base, at: time(nil) + 100).isEmpty)
            #expect(try names(base).isEmpty)
        }
    }
}
