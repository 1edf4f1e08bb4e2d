import Foundation
import Glibc
import Testing
import Wire

@testable import Coordinator

/// Join tokens: what their keys may do, and what becomes of them.
@Suite struct EnrolmentTests {
    let temporary: TemporaryDirectory
    let keys: TestKeys
    let log = LogRecorder()

    init() throws {
        temporary = try TemporaryDirectory()
        keys = try TestKeys(in: temporary.path + "/keys")
    }

    private func run(_ body: @escaping @Sendable (TestCoordinator) throws -> Void) async throws {
        let keys = keys.keys
        try await TestCoordinator.run(in: temporary.path + "/data", logger: log.logger, { $0.keys = keys }, body)
    }

    private static func authorized(_ keys: TestKeys) throws -> AuthorizedKeys { try AuthorizedKeys(contentsOf: keys.authorizedPath) }

    // MARK: Once

    @Test func token_isExchangedOnce_andTheNewKeyIsLetInAtOnce() async throws {
        let (token, keys, log) = (try keys.token("host2", labels: ["zone=b"]), keys, log)
        let (key, second) = (try keys.strange("host2"), try keys.strange("second"))
        try await run { coordinator in
            let joiner = try coordinator.peer(key: token)
            let enrolled = try joiner.enrol(key.publicKey)
            #expect(enrolled.name == "host2" && enrolled.roles == ["work"])
            let file = try Self.authorized(keys)
            #expect(file.principals == [Principal(name: "host2", key: key.publicKey, roles: [.work], labels: ["zone=b"])])
            #expect(file.enrolments.map(\.key) == [key.publicKey])
            _ = try log.waits(
                for: "notice `host2` (work) has joined from 127.0.0.1: the key \(key.publicKey), for the join token \(token.publicKey)")
            let worker = try coordinator.peer(key: key)
            _ = try worker.attach(.executor, incarnation: 1)

            let other = try coordinator.peer(key: token)
            let refusal = try other.enrolRefused(second.publicKey)
            #expect(refusal.code == .notPermitted && refusal.isFinal)
            #expect(refusal.message.contains("the join token for `host2` has been used, for the key \(key.publicKey)"))
            #expect(
                refusal.message.contains(
                    "`aop keys token host2` on the coordinator's host, with the --dir that its log names, makes another one"))
            let line = try log.waits(
                for:
                    "warning notPermitted: 127.0.0.1, with the key \(token.publicKey) for \(second.publicKey): the join token for `host2` has been"
            )
            #expect(line.contains("total 1"))
            let stranger = try coordinator.peer(key: second)
            _ = try log.waits(for: "denied: the key \(second.publicKey)")
            #expect(try Self.authorized(keys) == file)
            for peer in [joiner, worker, other, stranger] { peer.close() }
        }
    }

    @Test func answerThatWasLost_isGivenAgain_alsoAfterARestart_untilTheKeyIsRevoked() async throws {
        let (token, key, keys) = (try keys.token("host2"), try keys.strange("host2"), keys)
        try await run { coordinator in
            let joiner = try coordinator.peer(key: token)
            _ = try joiner.enrol(key.publicKey)
            #expect(try joiner.enrol(key.publicKey).name == "host2")
            joiner.close()
        }
        let before = try Self.authorized(keys)
        try await run { coordinator in
            let joiner = try coordinator.peer(key: token)
            #expect(try joiner.enrol(key.publicKey).name == "host2")
            #expect(try Self.authorized(keys) == before)
            try keys.revoke("host2")
            var message = try joiner.enrolAnswer(key.publicKey)
            // Until the coordinator has seen it.
            while case .enrolled = message.body { message = try joiner.enrolAnswer(key.publicKey) }
            guard case .refusal(let refusal) = message.body else { throw Timeout(what: "no refusal: \(message)") }
            #expect(refusal.code == .notPermitted && refusal.message.contains("the key \(key.publicKey) was revoked since"))
            joiner.close()
        }
    }

    @Test func manyJoinersWithOneToken_areOne() async throws {
        let (token, keys) = (try keys.token("host2"), keys)
        let joiners = try (0..<8).map { try keys.strange("joiner\($0)").publicKey }
        try await run { coordinator in
            let peers = try joiners.map { _ in try coordinator.peer(key: token) }
            for (peer, key) in zip(peers, joiners) { try peer.sendEnrol(key) }
            var enrolled: [PublicKey] = []
            for (peer, key) in zip(peers, joiners) {
                while true {
                    let message = try peer.enrolmentAnswer()
                    if case .enrolled = message.body {
                        enrolled.append(key)
                        break
                    }
                    guard case .refusal(let refusal) = message.body else { throw Timeout(what: "no answer: \(message)") }
                    guard refusal.code == .unavailable else {
                        #expect(refusal.code == .notPermitted && refusal.message.contains("has been used"))
                        break
                    }
                    try peer.sendEnrol(key)
                }
                peer.close()
            }
            #expect(enrolled.count == 1)
            #expect(try Self.authorized(keys).principals.map(\.key) == enrolled)
        }
    }

    /// It would be authorised, and the coordinator could not be started again.
    @Test func coordinatorsOwnKey_isNotEnrolled() async throws {
        let (token, keys) = (try keys.token("host2"), keys)
        try await run { coordinator in
            let joiner = try coordinator.peer(key: token)
            let refusal = try joiner.enrolRefused(keys.keys.pair.publicKey)
            #expect(refusal.code == .notPermitted && refusal.message.contains("is the coordinator's own key, which no peer may have"))
            #expect(try Self.authorized(keys).principals.isEmpty)
            joiner.close()
        }
    }

    // MARK: Nothing else

    @Test func tokenMayDoNothingElse_beforeAndAfterItsUse_andThatIsLoggedAndCounted() async throws {
        let (token, key, log) = (try keys.token("host2", roles: [.admin]), try keys.strange("host2"), log)
        try await run { coordinator in
            let peer = try coordinator.peer(key: token)
            for _ in 0..<2 {
                for role in [WireRole.client, .executor, .supervisor] {
                    try peer.hello(role, incarnation: 7)
                    try peer.expectTokenRefusal()
                }
                try peer.hello(.executor, incarnation: 7, isSubmitter: true)
                try peer.expectTokenRefusal()
                for message in Self.otherMessages {
                    try peer.send(message)
                    try peer.expectTokenRefusal()
                }
                _ = try peer.enrol(key.publicKey)
            }
            _ = try log.waits(
                for: "warning notPermitted: 127.0.0.1, with the key \(token.publicKey): the join token for `host2` enrols a host")
            let admin = try coordinator.peer(key: key)
            _ = try admin.attach(.client, incarnation: 9)
            guard case .workers(let list)? = try admin.request(1, .workers(WireListWorkers())).body else {
                throw Timeout(what: "no workers")
            }
            #expect(list.workers.isEmpty)
            guard case .submissions(let page)? = try admin.request(2, .list(WireListSubmissions())).body else {
                throw Timeout(what: "no submissions")
            }
            #expect(page.submissions.isEmpty)
            for peer in [peer, admin] { peer.close() }
        }
    }

    private static let otherMessages: [WirePeerMessage] = [
        .with { $0.heartbeat = WireHeartbeat() }, .with { $0.goodbye = WireGoodbye() },
        .with {
            $0.request = .with {
                $0.id = 1
                $0.submit = .with { $0.graph = .group([.noop("a")]) }
            }
        },
        .with { $0.blobRequest = .with { $0.digest = Data(repeating: 1, count: 32) } }, .with { $0.reports = WireUnitReports() },
        .with { $0.output = WireOutputBatch() }, .with { $0.executorEnded = WireExecutorEnded() },
    ]

    @Test func whoHasNoToken_isNotEnrolled() async throws {
        let (worker, fresh, keys, log) = (try keys.key("w", [.work]), try keys.strange("fresh"), keys, log)
        try await run { coordinator in
            let peer = try coordinator.peer(key: worker)
            let refusal = try peer.enrolRefused(fresh.publicKey)
            #expect(refusal.code == .notPermitted && refusal.message.contains("does not know this join token (any more)"))
            _ = try peer.attach(.executor, incarnation: 1)
            try peer.sendEnrol(fresh.publicKey)
            _ = try log.waits(for: "violation: here at 127.0.0.1: a message that a executor")
            #expect(try Self.authorized(keys).principals.map(\.name) == ["w"])
            peer.close()
        }
        try await TestCoordinator.run(in: temporary.path + "/other") { coordinator in
            let peer = try coordinator.peer()
            #expect(try peer.enrolRefused(fresh.publicKey).message.contains("who has no join token cannot be enrolled"))
            peer.close()
        }
    }

    @Test func keyOfSomebodyElse_isNotEnrolled_andWrongMessagesAreRefused() async throws {
        let (token, ann, keys) = (try keys.token("host2"), try keys.key("ann", [.admin]), keys)
        let before = try Self.authorized(keys)
        try await run { coordinator in
            let peer = try coordinator.peer(key: token)
            #expect(try peer.enrolRefused(ann.publicKey).message.contains("is authorised already, as `ann`"))
            #expect(try peer.enrolRefused(token.publicKey).message.contains("is the key of a join token"))
            try peer.send(.with { $0.enrol = .with { $0.protocolMajor = ProtocolVersion.major } })
            #expect(try peer.enrolmentRefusal().code == .malformed)
            try peer.sendEnrol(ann.publicKey, major: 99)
            let refusal = try peer.enrolmentRefusal()
            #expect(refusal.code == .version && refusal.message.contains("install the same release on both"))
            #expect(try Self.authorized(keys) == before)
            peer.close()
        }
    }

    // MARK: Tokens that are good for nothing any more

    @Test func expiredToken_isNotLetIn_andTheLogSaysSo() async throws {
        let (token, log) = (try keys.token("host2", validMilliseconds: -60_000), log)
        try await run { coordinator in
            let peer = try coordinator.peer(key: token)
            let line = try log.waits(for: "warning denied: the join token \(token.publicKey) for `host2`, from 127.0.0.1, has expired")
            #expect(line.contains("`aop keys token host2 --dir \(keys.directory)` makes another one"))
            peer.close()
        }
    }

    @Test func tokenThatIsTakenBack_isRefused_onALiveConnectionToo() async throws {
        let (token, key, keys, log) = (try keys.token("host2"), try keys.strange("host2"), keys, log)
        try await run { coordinator in
            let peer = try coordinator.peer(key: token)
            try peer.send(.with { $0.heartbeat = WireHeartbeat() })
            try peer.expectTokenRefusal()
            try AuthorizedKeys.change(at: keys.authorizedPath) { all throws(KeyError) in _ = all.withdraw("host2") }
            // Whether the coordinator has seen that or not: what counts is the file.
            #expect(try peer.enrolRefused(key.publicKey).message.contains("was revoked; `aop keys token NAME`"))
            let again = try coordinator.peer(key: token)
            _ = try log.waits(for: "denied: the key \(token.publicKey)")
            #expect(try Self.authorized(keys).principals.isEmpty)
            for peer in [peer, again] { peer.close() }
        }
    }

    /// A used token costs no look at the file: its lock is held here, and would be waited for.
    @Test func usedToken_isAnsweredFromMemory_andAnOpenOneWaitsForTheFile_notForEver() async throws {
        let (used, open, keys, log) = (try keys.token("host2"), try keys.token("host3"), keys, log)
        let (first, second) = (try keys.strange("first").publicKey, try keys.strange("second").publicKey)
        try await run { coordinator in
            let (one, two) = (try coordinator.peer(key: used), try coordinator.peer(key: open))
            _ = try one.enrol(first)
            let lock = Glibc.open("\(keys.authorizedPath).lock", O_RDWR)
            #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
            for _ in 0..<100 {
                #expect(try one.enrolRefused(second).message.contains("has been used"))
                _ = try one.enrol(first)
            }
            let refusal = try two.enrolRefused(second)
            #expect(refusal.code == .unavailable && !refusal.isFinal)
            _ = try log.waits(for: "error keys: 127.0.0.1 was not enrolled, since the authorised keys cannot be changed: another")
            close(lock)
            #expect(try two.enrol(second).name == "host3")
            for peer in [one, two] { peer.close() }
        }
    }

    @Test func fileThatCannotBeRead_enrolsNobody_untilItCan() async throws {
        let (token, key, keys, log) = (try keys.token("host2"), try keys.strange("host2"), keys, log)
        try await run { coordinator in
            let peer = try coordinator.peer(key: token)
            try peer.send(.with { $0.heartbeat = WireHeartbeat() })
            try peer.expectTokenRefusal()
            chmod(keys.authorizedPath, 0o644)
            let refusal = try peer.enrolRefused(key.publicKey)
            #expect(refusal.code == .unavailable && refusal.message.contains("cannot be read or changed; its log says why"))
            _ = try log.waits(for: "has mode 0644, and must have 0600")
            chmod(keys.authorizedPath, 0o600)
            var message = try peer.enrolAnswer(key.publicKey)
            while case .refusal(let refusal) = message.body, refusal.code == .unavailable { message = try peer.enrolAnswer(key.publicKey) }
            guard case .enrolled = message.body else { throw Timeout(what: "not enrolled: \(message)") }
            peer.close()
        }
    }

    // MARK: The joiner's side

    @Test func link_enrols_isAnsweredAgain_andSaysWhyNot() async throws {
        let (pair, server) = (try KeyPair(), keys.keys.pair.publicKey)
        let enrolment = Enrolment(
            name: "host2", token: pair.publicKey, roles: [.work], until: WallClock.milliseconds() + 3_600_000)
        try AuthorizedKeys(enrolments: [enrolment]).write(to: keys.authorizedPath, replaces: true)
        let token = JoinToken(enrolment, pair: pair, serverKey: server, endpoint: nil)
        let foreign = JoinToken(enrolment, pair: pair, serverKey: try KeyPair().publicKey, endpoint: nil)
        let (key, second) = (try KeyPair().publicKey, try KeyPair().publicKey)
        @Sendable func cause(
            _ key: PublicKey, _ token: JoinToken, _ endpoint: Endpoint, limit: Int64 = 60_000
        ) throws -> EnrolmentError.Cause? {
            do {
                _ = try EnrolmentLink.enrol(key, with: token, at: endpoint, limitMilliseconds: limit, context: try ZMQContext())
                return nil
            } catch let error as EnrolmentError { return error.cause }
        }
        let keys = keys
        try await run { coordinator in
            let endpoint = coordinator.endpoint
            #expect(try cause(key, foreign, endpoint) == .otherCoordinator)
            #expect(try cause(key, token, endpoint) == nil)
            #expect(try cause(key, token, endpoint) == nil)
            guard case .refused(let refusal)? = try cause(second, token, endpoint) else { throw Timeout(what: "not refused") }
            #expect(refusal.message.contains("has been used"))
            #expect(try Self.authorized(keys).principals.map(\.key) == [key])
            try AuthorizedKeys().write(to: keys.authorizedPath, replaces: true)
            #expect(try cause(second, token, endpoint) == .denied)
            guard case .unreachable? = try cause(second, token, try Endpoint("tcp://127.0.0.1:1"), limit: 100) else {
                throw Timeout(what: "somebody answered")
            }
        }
        try await TestCoordinator.run(in: temporary.path + "/other") { coordinator in
            // Which side sees first that the other one has no key is a matter of time.
            let found = try cause(key, token, coordinator.endpoint)
            #expect(found == .withoutKeys || found == .otherCoordinator, "\(found as Any)")
        }
    }
}

extension FakePeer {
    fileprivate func sendEnrol(_ key: PublicKey, major: UInt32 = ProtocolVersion.major) throws {
        try send(
            .with {
                $0.enrol = .with {
                    $0.protocolMajor = major
                    $0.productVersion = ProductVersion.current
                    $0.publicKey = key.text
                }
            })
    }

    fileprivate func enrolmentAnswer() throws -> WireCoordinatorMessage {
        try expect { message in
            switch message.body {
            case .enrolled, .refusal: message
            default: nil
            }
        }
    }

    fileprivate func enrolAnswer(_ key: PublicKey) throws -> WireCoordinatorMessage {
        try sendEnrol(key)
        return try enrolmentAnswer()
    }

    fileprivate func enrol(_ key: PublicKey) throws -> WireEnrolled {
        let message = try enrolAnswer(key)
        guard case .enrolled(let enrolled) = message.body else { throw Timeout(what: "not enrolled: \(message)") }
        return enrolled
    }

    fileprivate func enrolmentRefusal() throws -> WireRefusal {
        let message = try enrolmentAnswer()
        guard case .refusal(let refusal) = message.body else { throw Timeout(what: "not refused: \(message)") }
        return refusal
    }

    fileprivate func enrolRefused(_ key: PublicKey) throws -> WireRefusal {
        try sendEnrol(key)
        return try enrolmentRefusal()
    }

    fileprivate func expectTokenRefusal() throws {
        let refusal = try enrolmentRefusal()
        guard refusal.code == .notPermitted, refusal.message.contains("may do nothing else") else { throw Timeout(what: refusal.message) }
    }
}
