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

    @Test func time_isOfAWholeSecond_upwards() throws {
        #expect(try Self.token(until: 1_795_446_000_001).until == 1_795_446_001_000)
        #expect(try Self.token(until: 1_795_446_000_000).until == 1_795_446_000_000)
    }
}
