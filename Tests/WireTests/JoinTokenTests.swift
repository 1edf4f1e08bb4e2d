import Foundation
import Testing

@testable import Wire

/// The text of a join token.
@Suite struct JoinTokenTests {
    static func token(
        _ name: String = "host2", roles: Set<KeyRole> = [.work], until: Int64 = 1_795_446_000_000, endpoint: Endpoint? = nil
    ) throws -> JoinToken {
        let (pair, server) = (try KeyPair(), try KeyPair())
        let enrolment = Enrolment(name: name, token: pair.publicKey, roles: roles, until: until)
        return JoinToken(enrolment, pair: pair, serverKey: server.publicKey, endpoint: endpoint)
    }

    struct Content: Sendable {
        let name: String
        let roles: Set<KeyRole>
        let endpoint: String?
    }

    @Test(arguments: [
        Content(name: "host2", roles: [.work], endpoint: nil),
        Content(name: "a", roles: [.submit, .observe], endpoint: "tcp://coordinator.example:7600"),
        Content(name: String(repeating: "x", count: 64), roles: Set(KeyRole.allCases), endpoint: "tcp://[fd00::1]:1"),
    ])
    func text_isReadAsItWasMade(_ content: Content) throws {
        let (name, roles, endpoint) = (content.name, content.roles, content.endpoint)
        let token = try Self.token(name, roles: roles, endpoint: endpoint.map { try Endpoint($0) })
        let read = try JoinToken("\n  \(token.text) \n")
        #expect(read.name == name)
        #expect(read.roles == roles)
        #expect(read.until == token.until)
        #expect(read.serverKey == token.serverKey)
        #expect(read.publicKey == token.publicKey)
        #expect(read.pair.secretKey.text == token.pair.secretKey.text)
        #expect(read.endpoint?.description == endpoint)
        #expect(read.text == token.text)
    }

    @Test func text_isOneWord_thatNoShellReads_andIsTheOnlyPlaceOfTheSecret() throws {
        for _ in 0..<200 {
            let token = try Self.token(endpoint: .standard)
            #expect(token.text.wholeMatch(of: /aopj1\.[A-Za-z0-9_-]+/) != nil, "\(token.text)")
            #expect(token.text.utf8.count < 200)
        }
        let token = try Self.token()
        var dumped = ""
        dump(token, to: &dumped)
        for text in [dumped, "\(token)", String(reflecting: token)] {
            #expect(!text.contains(token.text) && !text.contains(token.pair.secretKey.text))
        }
    }

    @Test func malformed_saysWhatIsWrong_andNeverQuotesTheToken() throws {
        let text = try Self.token().text
        let body = text.dropFirst(6)
        let cases: [(String, JoinTokenError, String)] = [
            ("", .empty, "is empty"), (" \n", .empty, "is empty"),
            ("\(text.prefix(40))\n\(text.dropFirst(40))", .severalWords, "copy it as one line"),
            ("\(text) \(text)", .severalWords, "a space or a line break"), ("host2", .otherKind, "one begins with `aopj1.`"),
            ("\(text.dropFirst())", .otherKind, "one begins with `aopj1.`"), ("AOPJ1.\(body)", .otherKind, "one begins"),
            ("aopj2.\(body)", .otherVersion, "another release"), ("\"\(text)\"", .otherKind, "is no join token"),
            ("\(text)\"", .character(position: text.count + 1), "copied together"),
            ("aopj1.é\(body.dropFirst())", .character(position: 7), "character 7"),
            ("\(text)=", .character(position: text.count + 1), "letters, digits, `-` and `_`"),
            ("aopj1.", .damaged, "some of the join token is missing"), ("aopj1.AAAA", .damaged, "copy all of it"),
            ("\(text)\(body)", .damaged, "changed on the way"),
            ("\(text)\(String(repeating: "A", count: 1024))", .tooLong(text.count + 1024), "at most 1024"),
        ]
        for (wrong, problem, says) in cases {
            let error = #expect(throws: JoinTokenError.self, "\(says)") { try JoinToken(wrong) }
            #expect(error == problem)
            #expect("\(try #require(error))".contains(says), "\(error as Any)")
            #expect(!"\(try #require(error))".contains(body.prefix(20)))
        }
    }

    /// A text with a right checksum, of what a newer release, or somebody with a purpose, could have put into it.
    private func text(of bytes: [UInt8]) -> String {
        let all = Data(bytes + BlobDigest(hashing: bytes).bytes.prefix(4))
        return "aopj1." + all.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    @Test func wholeTokenOfWrongContents_isRefused() throws {
        let keys = [UInt8](repeating: 7, count: 64)
        func contents(
            seconds: [UInt8] = [0, 0, 0, 0, 1, 2, 3, 4], roles: UInt8 = 2, name: String = "host2", endpoint: String = ""
        ) -> [UInt8] {
            keys + seconds + [roles, UInt8(name.utf8.count)] + Array(name.utf8) + Array(endpoint.utf8)
        }
        #expect(try JoinToken(text(of: contents())).roles == [.work])
        #expect(try JoinToken(text(of: contents(endpoint: "tcp://c:7600"))).endpoint?.port == 7600)
        for (bytes, problem) in [
            ([], "ends before its server key"), (Array(keys.prefix(40)), "ends before its secret key"), (keys, "ends before its time"),
            (Array(contents().prefix(72)), "ends before its roles"), (Array(contents().prefix(76)), "ends before its name"),
            (contents(seconds: [UInt8](repeating: 255, count: 8)), "expires too late"), (contents(roles: 0), "has roles that this release"),
            (contents(roles: 18), "has roles that this release"), (contents(name: "../x"), "has a name that no key can have"),
            (contents(name: ""), "has a name that no key can have"), (contents(endpoint: "nowhere"), "names a wrong endpoint"),
            (contents(endpoint: "ipc:///tmp/x"), "names ipc:///tmp/x, where no host can connect"),
            (contents(endpoint: "tcp://0.0.0.0:7600"), "names tcp://0.0.0.0:7600, where no host"),
        ] as [([UInt8], String)] {
            let error = #expect(throws: JoinTokenError.self, "\(problem)") { try JoinToken(text(of: bytes)) }
            #expect("\(try #require(error))".contains("the join token \(problem)"), "\(error as Any)")
        }
    }

    @Test func everyCharacterThatIsChanged_andEveryOneThatIsMissing_isNoticed() throws {
        let text = try Self.token(endpoint: .standard).text
        for index in text.indices.dropFirst(6) {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(throws: JoinTokenError.damaged, "\(text.distance(from: text.startIndex, to: index))") { try JoinToken(changed) }
            #expect(throws: JoinTokenError.damaged) { try JoinToken(String(text[..<index])) }
            var without = text
            without.remove(at: index)
            #expect(throws: JoinTokenError.damaged) { try JoinToken(without) }
        }
    }

    @Test func roles_sayWhichFileTheKeyGoesTo() throws {
        for (roles, file) in [
            ([.work], "worker.key"), ([.work, .submit], "worker.key"), ([.submit], "submit.key"), ([.observe], "submit.key"),
            ([.admin, .work], "admin.key"),
        ] as [(Set<KeyRole>, String)] {
            #expect(try Self.token(roles: roles).keyFile == file)
        }
    }

    /// Never for longer than was said.
    @Test func time_isOfAWholeSecond_downwards() throws {
        #expect(try Self.token(until: 1_795_446_000_999).until == 1_795_446_000_000)
        #expect(try Self.token(until: 1_795_446_000_000).until == 1_795_446_000_000)
    }
}
