import Foundation
import Glibc
import Testing

@testable import Wire

/// The lines of join tokens in the file of authorised keys, and what a token is good for.
@Suite struct EnrolmentTests {
    private static let now: Int64 = 1_795_446_000_000
    private let token = Self.key()
    private let key = Self.key()
    private let other = Self.key()

    private static func key() -> PublicKey {
        do { return try KeyPair().publicKey } catch { preconditionFailure("\(error)") }
    }

    private func enrolment(until: Int64 = Self.now + 3_600_000, key: PublicKey? = nil) -> Enrolment {
        Enrolment(name: "host2", token: token, roles: [.work], operations: ["noop", "shell"], labels: ["zone=b"], until: until, key: key)
    }

    private var granted: Principal {
        Principal(name: "host2", key: key, roles: [.work], operations: ["noop", "shell"], labels: ["zone=b"])
    }

    @Test func lines_areReadAsTheyWereWritten() throws {
        let directory = try KeyTests.Directory()
        let path = directory.path + "/authorized"
        var used = enrolment()
        (used.token, used.key) = (other, key)
        let keys = AuthorizedKeys([granted], enrolments: [enrolment(), used])
        try keys.write(to: path, replaces: false)
        #expect(try AuthorizedKeys(contentsOf: path) == keys)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst(2)
        #expect(lines.first == "enrol host2 \(token) work operations=noop,shell labels=zone=b until=2026-11-23T16:00:00Z")
        #expect(lines.last?.hasSuffix(" until=2026-11-23T16:00:00Z for=\(key)") == true)
    }

    @Test func wrongLines_areNamed() throws {
        let directory = try KeyTests.Directory()
        let path = directory.path + "/authorized"
        let until = "until=2026-11-23T16:00:00Z"
        for (line, problem) in [
            ("enrol host2 \(token)", "the line of a join token is `enrol`"),
            ("enrol host2 short work \(until)", "the third word is no public key"),
            ("enrol host2 \(token) root \(until)", "`root` is no role"), ("enrol host2 \(token) work", "a join token has until=TIME"),
            ("enrol host2 \(token) work until=soon", "a join token has until=TIME"),
            ("enrol host2 \(token) work until=9999999999-11-23T16:00:00Z", "a join token has until=TIME"),
            ("enrol host2 \(token) work until=2026-11-23T16:00:00.5Z", "a join token has until=TIME"),
            ("enrol host2 \(token) work until=2026-11-23T16:00:00-1", "a join token has until=TIME"),
            ("enrol host2 \(token) work until=2026-13-45T25:61:61Z", "a join token has until=TIME"),
            ("enrol host2 \(token) work until=0001-01-01T00:00:00Z", "a join token has until=TIME"),
            ("enrol host2 \(token) work \(until) \(until)", "is there twice"),
            ("enrol host2 \(token) work \(until) for=x", "for= is no public key"),
            ("enrol host2 \(token) work \(until) limits=a", "`limits=a` is no limit"),
            ("enrol -x \(token) work \(until)", "cannot name a key"),
            ("enrol enrol \(token) work \(until)", "`enrol` cannot name a key: the lines of join tokens begin with it"),
            ("enrol \(token) work", "the line of a join token is `enrol`"), ("host2 \(token) work \(until)", "`\(until)` is no limit"),
            ("host2 \(token) work for=\(key)", "is no limit"),
            ("a \(token) work\nenrol b \(token) work \(until)", "it is also the one of `a`"),
        ] {
            try PrivateFile.write(line + "\n", to: path, replaces: true)
            let error = #expect(throws: KeyError.self, "`\(line)` was taken") { try AuthorizedKeys(contentsOf: path) }
            #expect("\(try #require(error))".contains(problem), "\(error as Any)")
        }
    }

    @Test func token_isExchangedOnce_andTheSameKeyIsAnsweredAgain() {
        var keys = AuthorizedKeys(enrolments: [enrolment()])
        #expect(keys.enrol(key, for: token, at: Self.now) == .enrolled(granted))
        #expect(keys.principals == [granted])
        #expect(keys.enrolments == [enrolment(key: key)])
        let after = keys
        #expect(keys.enrol(key, for: token, at: Self.now + 1) == .repeated(granted))
        #expect(keys.enrol(other, for: token, at: Self.now + 1) == .refused(.used(name: "host2", key: key)))
        #expect(keys.enrol(key, for: other, at: Self.now) == .refused(.unknown))
        #expect(keys == after)
        #expect("\(EnrolmentRefusal.used(name: "host2", key: key))".contains("has been used, for the key \(key); `aop keys token host2`"))
        #expect(keys.revoke("host2") == [granted])
        #expect(keys.enrol(key, for: token, at: Self.now + 2) == .refused(.revoked(name: "host2", key: key)))
        #expect(keys.principals.isEmpty)
    }

    @Test func token_expires() {
        var keys = AuthorizedKeys(enrolments: [enrolment()])
        let until = Self.now + 3_600_000
        #expect(enrolment().isOpen(at: until - 1) && !enrolment().isOpen(at: until))
        #expect(keys.enrol(key, for: token, at: until) == .refused(.expired(name: "host2", until: until)))
        #expect(
            "\(EnrolmentRefusal.expired(name: "host2", until: until))".contains("valid until 2026-11-23T16:00:00Z; `aop keys token host2`"))
        #expect(keys.principals.isEmpty)
        var late = keys
        #expect(late.enrol(key, for: token, at: until - 1) == .enrolled(granted))
    }

    @Test func whatHasExpired_goesWithTheNextToken_andTheNextUse() {
        var next = enrolment(until: Self.now + 1000)
        next.token = other
        var keys = AuthorizedKeys(enrolments: [enrolment(until: Self.now)])
        keys.offer(next, at: Self.now)
        #expect(keys.enrolments == [next])
        keys.offer(enrolment(), at: Self.now)
        #expect(keys.enrol(key, for: token, at: Self.now + 1000) == .enrolled(granted))
        #expect(keys.enrolments == [enrolment(key: key)])
    }

    /// Public keys are no secrets: a token must not change what others may do.
    @Test func keyOfSomebodyElse_andOfAToken_areNotEnrolled() {
        let admin = Principal(name: "host2", key: other, roles: [.admin])
        var keys = AuthorizedKeys([admin], enrolments: [enrolment()])
        let before = keys
        #expect(keys.enrol(other, for: token, at: Self.now) == .refused(.taken(other, name: "host2")))
        #expect(keys.enrol(token, for: token, at: Self.now) == .refused(.ofAToken(token)))
        #expect(keys == before)
        #expect(throws: KeyError.ofAToken(token, name: "host2")) {
            try keys.authorize(Principal(name: "x", key: token, roles: [.work]))
        }
        // A host whose first token was used, and that did not get the answer before it expired, comes with a second one.
        keys = AuthorizedKeys([granted], enrolments: [enrolment()])
        #expect(keys.enrol(key, for: token, at: Self.now) == .enrolled(granted))
        #expect(keys.principals == [granted])
    }

    @Test func openTokens_areTakenBack_byNameOrKey_usedOnesAreNot() {
        var used = enrolment(key: key)
        used.token = other
        for text in ["host2", token.text] {
            var keys = AuthorizedKeys(enrolments: [enrolment(), used])
            #expect(keys.withdraw("nobody").isEmpty)
            #expect(keys.withdraw(text) == [enrolment()])
            #expect(keys.withdraw(other.text).isEmpty)
            #expect(keys.enrolments == [used])
            #expect(keys.enrol(key, for: token, at: Self.now) == .refused(.unknown))
        }
        #expect(!Principal.isName("enrol"))
    }

    @Test func file_isWrittenOnlyWhenSomethingChanges_andNobodyWaitsForItForEver() throws {
        let directory = try KeyTests.Directory()
        let path = directory.path + "/authorized"
        let (token, key) = (token, key)
        try AuthorizedKeys(enrolments: [enrolment()]).write(to: path, replaces: false)
        @Sendable func inode() throws -> Int? { try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int }
        let before = try inode()
        try AuthorizedKeys.change(at: path) { keys throws(KeyError) in _ = keys.withdraw("nobody") }
        #expect(try inode() == before)

        let lock = open("\(path).lock", O_RDWR)
        #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
        #expect(throws: KeyError.busy(path: "\(path).lock")) {
            try AuthorizedKeys.change(at: path, waitMilliseconds: 50) { keys throws(KeyError) in keys.enrol(key, for: token, at: Self.now) }
        }
        close(lock)
        let answer = try AuthorizedKeys.change(at: path, waitMilliseconds: 50) { keys throws(KeyError) in
            keys.enrol(key, for: token, at: Self.now)
        }
        #expect(answer == .enrolled(granted))
        #expect(try inode() != before)
        #expect(try AuthorizedKeys(contentsOf: path).principals == [granted])
    }
}
