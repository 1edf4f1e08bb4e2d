import Foundation
import Glibc
import Testing
import Wire

@Suite struct CookieTests {
    /// A fresh directory that goes with the test.
    final class Directory: Sendable {
        let path: String
        init() throws {
            path = NSTemporaryDirectory() + "aop-wire-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        deinit {
            do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("\(path) was not removed: \(error)") }
        }
    }

    @Test func isMadeOnce_andReadAgain() throws {
        let directory = try Directory()
        let inner = directory.path + "/state/aop"
        #expect(try Cookie.load(directory: inner) == nil)
        let cookie = try Cookie.loadOrCreate(directory: inner)
        #expect(cookie.count == Cookie.count)
        #expect(try Cookie.loadOrCreate(directory: inner) == cookie)
        #expect(try Cookie.load(directory: inner) == cookie)
        #expect(try mode(inner) == 0o700)
        #expect(try mode(inner + "/cookie") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner) == ["cookie"])
    }

    @Test func whatCannotBeMade_isKnownBefore_andNothingIsMade() throws {
        let directory = try Directory()
        try Cookie.checkCanBeMade(directory: directory.path)
        try Cookie.checkCanBeMade(directory: directory.path + "/state/aop")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        let file = directory.path + "/file"
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        let remedy = "set XDG_STATE_HOME to a directory you can write to"
        for (place, text) in [
            (file + "/state/aop", "mkdir failed for \(file)/state: Not a directory; \(remedy)"),
            (file, "opening failed for \(file): Not a directory; move that file away"),
        ] {
            let error = try #require(throws: CookieError.self) { try Cookie.checkCanBeMade(directory: place) }
            #expect("\(error)" == "the cookie cannot be read or made: \(text)")
            #expect(throws: error) { try Cookie.loadOrCreate(directory: place) }
        }
    }

    @Test func isTheSameForAll_whoMakeItAtOnce() async throws {
        let directory = try Directory()
        let cookies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 { group.addTask { try Cookie.loadOrCreate(directory: directory.path) } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(cookies.count == 1)
    }

    @Test(arguments: [0o644, 0o640, 0o660, 0o604, 0o400, 0o700] as [mode_t]) func anotherMode_isRefused(mode: mode_t) throws {
        let directory = try Directory()
        _ = try Cookie.loadOrCreate(directory: directory.path)
        let path = directory.path + "/cookie"
        #expect(chmod(path, mode) == 0)
        let octal = "0" + String(mode, radix: 8)
        #expect { try Cookie.load(directory: directory.path) } throws: {
            "\($0)"
                == "the cookie file \(path) has mode \(octal), and must have 0600; if nobody else has read it: chmod 600 \(path), else remove it and restart the coordinator"
        }
        #expect(throws: CookieError.mode(path: path, mode: mode)) { try Cookie.loadOrCreate(directory: directory.path) }
    }

    @Test(arguments: ["", "abc", String(repeating: "0", count: 63), String(repeating: "0", count: 66), String(repeating: "G", count: 64)])
    func otherContents_areRefused(
        text: String
    ) throws {
        let directory = try Directory()
        let path = directory.path + "/cookie"
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
        #expect(throws: CookieError.malformed(path: path)) { try Cookie.load(directory: directory.path) }
    }

    @Test func aLink_isRefused() throws {
        let directory = try Directory()
        let path = directory.path + "/cookie"
        #expect(symlink("/etc/passwd", path) == 0)
        #expect(throws: CookieError.notARegularFile(path: path)) { try Cookie.load(directory: directory.path) }
    }

    @Test func areCompared() {
        let one = [UInt8](repeating: 7, count: 32)
        var other = one
        #expect(Cookie.isEqual(one, Data(other)))
        other[31] = 8
        #expect(!Cookie.isEqual(one, other))
        #expect(!Cookie.isEqual(one, one.dropLast()))
        #expect(!Cookie.isEqual([UInt8](), [UInt8]()))
    }

    @Test func stateDirectory_followsTheEnvironment() {
        #expect(StateDirectory.path(environment: ["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/aop")
        #expect(StateDirectory.path(environment: ["XDG_STATE_HOME": "relative", "HOME": "/h"]) == "/h/.local/state/aop")
        #expect(StateDirectory.path(environment: ["HOME": "/h/"]) == "/h/.local/state/aop")
        #expect(StateDirectory.path(environment: [:]).hasSuffix("/.local/state/aop"))
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }
}
