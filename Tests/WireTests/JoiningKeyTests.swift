import Foundation
import Testing

@testable import Wire

/// The key file of a host that joins.
@Suite struct JoiningKeyTests {
    private let directory: KeyTests.Directory
    private let token: JoinToken

    init() throws {
        directory = try KeyTests.Directory()
        token = try JoinTokenTests.token()
    }

    private var keys: String { "\(directory.path)/new/keys" }
    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: keys).sorted() }
    }

    private func joining(_ token: JoinToken) throws -> JoiningKey {
        guard case .joining(let key) = try JoiningKey.prepare(token, directory: keys) else { throw Joined() }
        return key
    }

    private struct Joined: Error {}

    @Test func key_isOnTheDiskBeforeItIsSent_andHasItsNameAfterwards() throws {
        let key = try joining(token)
        #expect(try files == ["worker.key.joining"])
        #expect(try KeyFile(contentsOf: "\(keys)/worker.key.joining").pair.publicKey == key.publicKey)
        #expect(key.publicKey != token.publicKey)
        try key.finish()
        #expect(try files == ["worker.key"])
        let file = try PeerKey(contentsOf: key.path)
        #expect(file.publicKey == key.publicKey && file.name == "host2" && file.serverKey == token.serverKey)
        #expect(try KeyFile(contentsOf: key.path).token == token.publicKey)
        try key.finish()
    }

    @Test func joinThatIsRepeated_hasTheSameKey_withAnotherTokenToo() throws {
        let key = try joining(token)
        #expect(try joining(token).publicKey == key.publicKey)
        let (pair, enrolment) = (try KeyPair(), Enrolment(name: "host3", token: token.publicKey, roles: [.work], until: 1))
        var next = enrolment
        next.token = pair.publicKey
        let second = try joining(JoinToken(next, pair: pair, serverKey: token.serverKey, endpoint: nil))
        #expect(second.publicKey == key.publicKey)
        try second.finish()
        #expect(try KeyFile(contentsOf: second.path).name == "host3")
        // The first one finds that another process was faster, with the same key.
        try key.finish()
        #expect(try files == ["worker.key"])
    }

    @Test func joinThatHasEnded_isFoundByItsToken_andEveryOtherKeyIsLeftAlone() throws {
        let key = try joining(token)
        try key.finish()
        guard case .joined(let path, let publicKey) = try JoiningKey.prepare(token, directory: keys) else { throw Joined() }
        #expect(path == key.path && publicKey == key.publicKey)
        let before = try String(contentsOfFile: path, encoding: .utf8)
        #expect(throws: KeyError.exists(path: path)) { try JoiningKey.prepare(try JoinTokenTests.token(), directory: keys) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
        #expect(try files == ["worker.key"])
    }

    @Test func joinWithAnotherCoordinator_isNotMixedUp() throws {
        let key = try joining(token)
        #expect(throws: KeyError.otherJoin(path: key.path + ".joining")) {
            try JoiningKey.prepare(try JoinTokenTests.token(), directory: keys)
        }
        #expect(try joining(token).publicKey == key.publicKey)
    }

    @Test func fileOfTheNameThatCameMeanwhile_isNotWrittenOver() throws {
        let key = try joining(token)
        try KeyFile(name: "worker", pair: try KeyPair(), serverKey: token.serverKey).write(to: key.path)
        #expect(throws: KeyError.exists(path: key.path)) { try key.finish() }
        #expect(try files == ["worker.key", "worker.key.joining"])
    }
}
