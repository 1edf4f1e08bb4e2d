import Foundation
import Glibc
import Testing
import Wire

@testable import Coordinator

/// Who is let in by key, what each may do, and what happens when that changes.
@Suite struct CoordinatorKeysTests {
    let temporary: TemporaryDirectory
    let keys: TestKeys
    let log = LogRecorder()
    var path: String { temporary.path + "/data" }

    init() throws {
        temporary = try TemporaryDirectory()
        keys = try TestKeys(in: temporary.path + "/keys")
    }

    private func run(_ body: @escaping @Sendable (TestCoordinator) throws -> Void) async throws {
        let keys = keys.keys
        try await TestCoordinator.run(in: path, logger: log.logger, { $0.keys = keys }, body)
    }

    private func refusal(_ peer: FakePeer) throws -> WireRefusal {
        try peer.expect { if case .refusal(let refusal) = $0.body { refusal } else { nil } }
    }

    private func failure(_ response: WireResponse) -> WireRequestFailed? {
        if case .failed(let failed) = response.body { failed } else { nil }
    }

    @Test func unknownKey_andNoKey_areNotLetIn_andThatIsLoggedAndCounted() async throws {
        let (known, strange) = (try keys.key("ann", [.submit]), try keys.strange("mallory"))
        let (log, directory) = (log, keys.directory)
        try await run { coordinator in
            let peers = [try coordinator.peer(key: strange), try coordinator.peer(key: strange), try coordinator.peer()]
            let line = try log.waits(for: strange.publicKey.text)
            #expect(line.contains("warning denied: the key \(strange.publicKey), from 127.0.0.1, is not authorised"))
            #expect(line.contains("--role ROLE --dir \(directory)` lets it in"))
            #expect(line.contains("total 1"))
            let peer = try coordinator.peer(key: known)
            _ = try peer.attach(.client, incarnation: 1)
            for peer in peers + [peer] { peer.close() }
        }
        #expect(!log.lines.contains { $0.contains(known.publicKey.text) })
    }

    @Test func peerWithoutAKey_isLoggedAndCounted_alsoWhereNobodyElseCame() async throws {
        let log = log
        try await run { coordinator in
            let peer = try coordinator.peer()
            let line = try log.waits(for: "keyless: ")
            #expect(line.contains("warning keyless: ") && line.contains("total "), "\(line)")
            peer.close()
        }
    }

    /// Noise, of which libzmq says nothing, and a greeting of another mechanism. Where it comes from is read when it is accepted, if it is
    /// there for long enough.
    @Test(arguments: [(0, "handshake: a connection from 127.0.0.1: "), (1, "keyless: the other side from 127.0.0.1 has no key")])
    func garbage_isLoggedWithTheAddressThatItCameFrom(seed: UInt8, text: String) async throws {
        let log = log
        try await run { coordinator in
            let port = try #require(coordinator.endpoint.port)
            var poller = Poller()
            for _ in 0..<600 where !log.lines.contains(where: { $0.contains(text) }) {
                let descriptor = Self.throwGarbage(at: port, seed: seed)
                _ = try poller.wait(timeoutMilliseconds: 100)
                close(descriptor)
            }
            _ = try log.waits(for: text)
        }
    }

    /// Nobody is connected, and nothing comes after them.
    @Test func strangersInOneMoment_areAllInTheLog() async throws {
        let (strange, log) = (try keys.strange("mallory"), log)
        try await run { coordinator in
            let peers = try (0..<5).map { _ in try coordinator.peer(key: strange) }
            _ = try log.waits(for: "denied: the key")
            for peer in peers { peer.close() }
            _ = try log.waits(for: "more like")
        }
        let lines = log.lines.filter { $0.contains("denied: ") }
        let more = lines.compactMap { $0.firstMatch(of: /(\d+) more like/).flatMap { Int($0.1) } }.reduce(0, +)
        let told = lines.count { $0.contains("denied: the key") }
        let total = try #require(lines.last?.firstMatch(of: /total (\d+)/).flatMap { Int($0.1) })
        #expect(told + more == total, "\(lines)")
    }

    @Test func roles_decideWhatAHelloMayBe() async throws {
        let (submit, work, observe) = (try keys.key("s", [.submit]), try keys.key("w", [.work]), try keys.key("o", [.observe]))
        let (admin, log, directory) = (try keys.key("a", [.admin]), log, keys.directory)
        try await run { coordinator in
            for (key, role, isSubmitter, text) in [
                (submit, WireRole.executor, false, "`s` (submit) may not work"), (submit, .supervisor, false, "`s` (submit) may not work"),
                (work, .client, false, "`w` (work) may not submit or ask"), (work, .executor, true, "`w` (work) may not submit"),
                (observe, .executor, true, "`o` (observe) may not submit"),
            ] {
                let peer = try coordinator.peer(key: key)
                try peer.hello(role, incarnation: 7, isSubmitter: isSubmitter)
                let refusal = try self.refusal(peer)
                #expect(refusal.code == .notPermitted && refusal.isFinal)
                #expect(refusal.message.hasPrefix(text), "\(refusal.message)")
                // Where it is only the log tells.
                #expect(refusal.message.hasSuffix("with the --dir that its log names)") && !refusal.message.contains(directory))
                peer.close()
            }
            let line = try log.waits(for: "warning notPermitted: here (process 7) at 127.0.0.1: `s` (submit) may not work")
            #expect(line.contains("on the coordinator's host, with --dir \(directory))"), "\(line)")
            for (number, (key, role)) in [
                (submit, WireRole.client), (work, .executor), (work, .supervisor), (observe, .client), (admin, .executor),
            ]
            .enumerated() {
                let peer = try coordinator.peer(key: key)
                _ = try peer.attach(role, incarnation: UInt64(100 + number))
                peer.close()
            }
        }
    }

    @Test func processOfAnotherKey_isNobodyElse() async throws {
        let (one, two) = (try keys.key("one", [.work]), try keys.key("two", [.work]))
        try await run { coordinator in
            let first = try coordinator.peer(key: one)
            _ = try first.attach(.executor, incarnation: 42)
            let second = try coordinator.peer(key: two)
            try second.hello(.executor, incarnation: 42)
            #expect(try self.refusal(second).message.contains("connected with another key"))
            first.close()
            second.close()
        }
    }

    @Test func anothersSubmission_isNotCancelled_alsoAfterARestart_andThatIsLogged() async throws {
        let (ann, bob, worker, log) = (try keys.key("ann", [.submit]), try keys.key("bob", [.submit]), try keys.key("w", [.work]), log)
        let directory = keys.directory
        try await run { coordinator in
            let executor = try coordinator.peer(key: worker)
            _ = try executor.attach(.executor, incarnation: 3)
            let peer = try coordinator.peer(key: ann)
            _ = try peer.attach(.client, incarnation: 1)
            _ = try peer.submit(.group([.noop("a")]), key: "k")
            peer.close()
            executor.close()
        }
        try await run { coordinator in
            let (peer, owner) = (try coordinator.peer(key: bob), try coordinator.peer(key: ann))
            _ = try owner.attach(.client, incarnation: 1)
            _ = try peer.attach(.client, incarnation: 2)
            let view = try owner.view("last")
            #expect(view.principal == "ann")
            let refused = self.failure(try peer.request(1, .cancel(.with { $0.submission = view.id })))
            #expect(refused?.code == .notPermitted)
            #expect(refused?.message.hasPrefix("`bob` (submit) may not cancel submission \(view.id), which belongs to `ann`") == true)
            #expect(refused?.message.hasSuffix("on the coordinator's host, with the --dir that its log names") == true)
            let line = try log.waits(for: "warning notPermitted: here at 127.0.0.1: `bob` (submit)")
            #expect(line.contains("on the coordinator's host, with --dir \(directory)"), "\(line)")
            #expect(self.failure(try peer.request(2, .workers(WireListWorkers())))?.code == .notPermitted)
            #expect(try owner.view("last").finishedAt == 0)
            guard case .cancelled? = try owner.request(3, .cancel(.with { $0.submission = "last" })).body else {
                throw Timeout(what: "its owner could not cancel it")
            }
            peer.close()
            owner.close()
        }
    }

    @Test func outputOfAnothersAttempt_isNotTaken() async throws {
        let (submit, work, log) = (try keys.key("s", [.submit]), try keys.key("w", [.work]), log)
        @Sendable func output(_ unit: WireAssignment, _ text: String) -> WirePeerMessage {
            .with {
                $0.output.chunks = [
                    .with {
                        $0.unit = unit.unit
                        $0.attempt = unit.attempt
                        $0.bytes = Data(text.utf8)
                    }
                ]
            }
        }
        try await run { coordinator in
            let (executor, client) = (try coordinator.peer(key: work), try coordinator.peer(key: submit))
            _ = try executor.attach(.executor, incarnation: 3)
            _ = try client.attach(.client, incarnation: 1)
            let id = try client.submit(.group([.noop("a")]))
            let unit = try executor.assignments(1)[0]
            let forger = try coordinator.peer(key: submit)
            try forger.hello(.executor, incarnation: 9, operations: [], isSubmitter: true)
            _ = try forger.expect { if case .welcome(let welcome) = $0.body { welcome } else { nil } }
            try forger.send(output(unit, "forged"))
            _ = try log.waits(for: "strayOutput: here at 127.0.0.1: output of an attempt that it does not hold")
            try executor.send(output(unit, "real"))
            try executor.succeed(unit)
            var texts: [String] = []
            while texts.isEmpty {
                let response = try client.request(
                    7,
                    .output(
                        .with {
                            $0.submission = id
                            $0.wait = true
                        }))
                guard case .output(let page)? = response.body else { throw Timeout(what: "no output: \(response)") }
                texts = page.records.map { String(decoding: $0.bytes, as: UTF8.self) }
            }
            #expect(texts == ["real"])
            for peer in [executor, client, forger] { peer.close() }
        }
    }

    @Test func limits_ofWorkers_takeTypesAway_andRefuseLabels() async throws {
        let (worker, admin) = (try keys.key("w", [.work], operations: ["noop"], labels: ["zone=a"]), try keys.key("a", [.admin]))
        let log = log
        try await run { coordinator in
            let peer = try coordinator.peer(key: worker)
            try peer.hello(.executor, incarnation: 2, operations: ["noop", "shell"], labels: ["zone=a"])
            _ = try peer.expect { if case .welcome(let welcome) = $0.body { welcome } else { nil } }
            _ = try log.waits(for: "`w` (work) on here at 127.0.0.1 may not run shell")
            let refused = try coordinator.peer(key: worker)
            try refused.hello(.executor, incarnation: 1, operations: ["noop"], labels: ["zone=a", "fast"])
            #expect(try self.refusal(refused).message.hasPrefix("`w` (work) may not have the label `fast` as a worker"))
            let client = try coordinator.peer(key: admin)
            _ = try client.attach(.client, incarnation: 3)
            guard case .workers(let list)? = try client.request(1, .workers(WireListWorkers())).body else {
                throw Timeout(what: "no workers")
            }
            #expect(list.workers.map(\.operations) == [["noop"]])
            for peer in [refused, peer, client] { peer.close() }
        }
    }

    @Test func revocation_endsLiveConnections_andNothingMoreIsTaken() async throws {
        let (ann, bob, keys) = (try keys.key("ann", [.submit]), try keys.key("bob", [.submit]), keys)
        let log = log
        try await run { coordinator in
            let (peer, other) = (try coordinator.peer(key: ann), try coordinator.peer(key: bob))
            _ = try peer.attach(.client, incarnation: 1)
            _ = try other.attach(.client, incarnation: 2)
            try keys.revoke("ann")
            let refusal = try self.refusal(peer)
            #expect(refusal.code == .revoked && !refusal.isFinal)
            #expect(refusal.message.contains("the key \(ann.publicKey) is not authorised any more"))
            _ = try log.waits(for: "the key of `ann` (submit) was revoked; its connection is ended")
            // The connection itself may last: nothing comes of it.
            try peer.send(.with { $0.request = .with { $0.id = 5 } })
            try peer.hello(.client, incarnation: 1)
            #expect(try self.refusal(peer).code == .revoked)
            #expect(try other.request(1, .list(WireListSubmissions())).request == 1)
            let again = try coordinator.peer(key: ann)
            _ = try log.waits(for: "denied: the key \(ann.publicKey)")
            for peer in [peer, other, again] { peer.close() }
        }
    }

    @Test func keysThatChange_areSeenWhereNobodyIsConnected() async throws {
        _ = try keys.key("ann", [.submit])
        let (log, keys) = (log, keys)
        try await run { _ in
            try keys.revoke("ann")
            _ = try log.waits(for: "the authorised keys have changed: removed `ann`")
        }
    }

    @Test func rolesThatChange_countAtOnce() async throws {
        let (ann, keys) = (try keys.key("ann", [.submit]), keys)
        try await run { coordinator in
            let peer = try coordinator.peer(key: ann)
            _ = try peer.attach(.client, incarnation: 1)
            try AuthorizedKeys.change(at: keys.authorizedPath) { all throws(KeyError) in
                try all.authorize(Principal(name: "ann", key: ann.publicKey, roles: [.observe]))
            }
            _ = try peer.expect { if case .helloWanted(let wanted) = $0.body { wanted } else { nil } }
            _ = try peer.attach(.client, incarnation: 1)
            guard case .workers? = try peer.request(1, .workers(WireListWorkers())).body else { throw Timeout(what: "no workers") }
            peer.close()
        }
    }

    @Test func fileThatCannotBeRead_letsNobodyNewIn_andThoseWhoAreIn_stay() async throws {
        let (ann, bob, keys) = (try keys.key("ann", [.submit]), try keys.key("bob", [.submit]), keys)
        let log = log
        try await run { coordinator in
            let peer = try coordinator.peer(key: ann)
            _ = try peer.attach(.client, incarnation: 1)
            chmod(keys.authorizedPath, 0o644)
            _ = try log.waits(for: "has mode 0644, and must have 0600")
            let late = try coordinator.peer(key: bob)
            _ = try log.waits(for: "127.0.0.1 was not let in: \(keys.authorizedPath) cannot be read")
            #expect(try peer.request(1, .list(WireListSubmissions())).request == 1)
            chmod(keys.authorizedPath, 0o600)
            let later = try coordinator.peer(key: bob)
            _ = try later.attach(.client, incarnation: 2)
            _ = try log.waits(for: "the authorised keys can be read again")
            #expect(log.lines.count { $0.contains("nobody new is let in") } == 1, "\(log.lines)")
            for peer in [peer, late, later] { peer.close() }
        }
    }

    /// It is looked at with every handshake, and every second.
    @Test func fileThatCannotBeRead_isToldOnceForEachReason_andAgainWhenItCan() throws {
        _ = try keys.key("ann", [.submit])
        let gatekeeper = try Gatekeeper(keys.keys, context: try ZMQContext())
        func told() -> String {
            switch gatekeeper.refresh(at: 0) {
            case .none: "nothing"
            case .changed(let changes): "changed: \(changes)"
            case .unreadable(let error): "unreadable: \(error)"
            case .readableAgain: "readable again"
            }
        }
        chmod(keys.authorizedPath, 0o644)
        #expect(told().hasPrefix("unreadable: the list of authorised keys \(keys.authorizedPath) has mode 0644"))
        #expect(told() == "nothing" && !gatekeeper.isReadable)
        chmod(keys.authorizedPath, 0o640)
        #expect(told().contains("has mode 0640"))
        chmod(keys.authorizedPath, 0o600)
        #expect(told() == "readable again" && gatekeeper.isReadable)
        #expect(told() == "nothing")
        try FileManager.default.moveItem(atPath: keys.authorizedPath, toPath: keys.authorizedPath + ".away")
        #expect(told().contains("the list of authorised keys \(keys.authorizedPath) is missing"))
        #expect(told() == "nothing")
        try FileManager.default.moveItem(atPath: keys.authorizedPath + ".away", toPath: keys.authorizedPath)
        try keys.revoke("ann")
        #expect(told().contains("removed `ann`"))
    }

    /// Who saves it with an editor empties it first, and may have a pause in between.
    @Test func fileThatIsWrittenInItsPlace_countsWhenItHasSettled_andAnEmptyOneTakesNobodyAway() throws {
        let ann = try keys.key("ann", [.submit])
        let gatekeeper = try Gatekeeper(keys.keys, context: try ZMQContext())
        func write(_ text: String) throws {
            let handle = try #require(FileHandle(forWritingAtPath: keys.authorizedPath))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        }
        func isNothing(at time: Int64) -> Bool {
            if case .none = gatekeeper.refresh(at: time) { true } else { false }
        }
        let whole = try String(contentsOfFile: keys.authorizedPath, encoding: .utf8)
        try write("")
        #expect(isNothing(at: 0) && isNothing(at: 499))
        try write(whole)
        #expect(isNothing(at: 500) && isNothing(at: 999) && isNothing(at: 1000))
        #expect(gatekeeper.principal(of: ann.publicKey) != nil && gatekeeper.isReadable)
        try write("")
        #expect(isNothing(at: 2000))
        guard case .unreadable(let error) = gatekeeper.refresh(at: 2500) else { return #expect(Bool(false), "it is taken") }
        #expect("\(error)".contains("is empty; put back what was in it"))
        #expect(gatekeeper.principal(of: ann.publicKey) != nil && gatekeeper.verdict(on: ann.publicKey, at: 0) == .unavailable)
        try write("# nobody\n")
        #expect(isNothing(at: 3000))
        guard case .changed = gatekeeper.refresh(at: 3500) else { return #expect(Bool(false), "it is not taken") }
        #expect(gatekeeper.principal(of: ann.publicKey) == nil)
    }

    /// The last key of a file without comments.
    @Test func lastKeyThatIsRevoked_isOut() throws {
        let ann = try keys.key("ann", [.submit])
        let all = try String(contentsOfFile: keys.authorizedPath, encoding: .utf8)
        let bare = all.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
        let handle = try #require(FileHandle(forWritingAtPath: keys.authorizedPath))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bare.utf8))
        try handle.close()
        let gatekeeper = try Gatekeeper(keys.keys, context: try ZMQContext())
        for principal in try AuthorizedKeys(contentsOf: keys.authorizedPath).principals { try keys.revoke(principal.name) }
        guard case .changed = gatekeeper.refresh(at: 0) else { return #expect(Bool(false), "it is not taken") }
        #expect(gatekeeper.principal(of: ann.publicKey) == nil)
    }

    /// It was let in, and is away when its key is revoked, or comes back with too few rights.
    @Test(arguments: [false, true]) func workerThatIsAway_isListedWithWhatBecameOfItsKey(isRevoked: Bool) async throws {
        let (worker, admin, keys) = (try keys.key("w", [.work]), try keys.key("a", [.admin]), keys)
        let log = log
        try await run { coordinator in
            let client = try coordinator.peer(key: admin)
            _ = try client.attach(.client, incarnation: 3)
            func states(_ request: UInt64) throws -> [String] {
                guard case .workers(let list)? = try client.request(request, .workers(WireListWorkers())).body else { return [] }
                return list.workers.map(\.state)
            }
            let first = try coordinator.peer(key: worker)
            _ = try first.attach(.executor, incarnation: 42)
            #expect(try states(1) == ["attached"])
            if isRevoked {
                first.close()
                try keys.revoke("w")
                _ = try log.waits(for: "the authorised keys have changed")
                #expect(try states(2) == ["revoked"])
                client.close()
                return
            }
            try AuthorizedKeys.change(at: keys.authorizedPath) { all throws(KeyError) in
                try all.authorize(Principal(name: "w", key: worker.publicKey, roles: [.observe]))
            }
            _ = try first.expect { if case .helloWanted(let wanted) = $0.body { wanted } else { nil } }
            try first.hello(.executor, incarnation: 42)
            #expect(try self.refusal(first).code == .notPermitted)
            #expect(try states(2) == ["limited"])
            for peer in [first, client] { peer.close() }
        }
    }

    /// Nobody takes another's work away by saying to be its worker.
    @Test func workerOfAnotherKey_isNotBarred_byWhomIsRefusedInItsName() async throws {
        let (worker, eve, admin) = (try keys.key("w", [.work]), try keys.key("eve", [.submit]), try keys.key("a", [.admin]))
        try await run { coordinator in
            let first = try coordinator.peer(key: worker)
            _ = try first.attach(.executor, incarnation: 42)
            first.close()
            let other = try coordinator.peer(key: eve)
            try other.hello(.executor, incarnation: 42)
            #expect(try self.refusal(other).code == .notPermitted)
            let client = try coordinator.peer(key: admin)
            _ = try client.attach(.client, incarnation: 3)
            guard case .workers(let list)? = try client.request(1, .workers(WireListWorkers())).body else { throw Timeout(what: "workers") }
            #expect(list.workers.map(\.state) == ["attached"])
            for peer in [other, client] { peer.close() }
        }
    }

    @Test func garbageOnThePort_doesNotStopAnAuthorisedClient() async throws {
        let ann = try keys.key("ann", [.submit])
        try await run { coordinator in
            let port = try #require(coordinator.endpoint.port)
            let descriptors = (0..<100).map { number in Self.throwGarbage(at: port, seed: UInt8(number)) }
            defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
            #expect(descriptors.allSatisfy { $0 >= 0 })
            let peer = try coordinator.peer(key: ann)
            _ = try peer.attach(.client, incarnation: 1)
            #expect(try peer.request(1, .list(WireListSubmissions())).request == 1)
            peer.close()
        }
    }

    /// A connection that speaks no ZMTP, or begins to: its descriptor.
    private static func throwGarbage(at port: UInt16, seed: UInt8) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else { return -1 }
        // Every second one has the greeting of a ZMTP peer with CURVE, and garbage behind it.
        var bytes: [UInt8] = seed % 2 == 0 ? [] : [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0] + Array("CURVE".utf8)
        bytes += (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        return descriptor
    }

    @Test func coordinatorWithoutItsList_doesNotStart() async throws {
        unlink(keys.authorizedPath)
        let error = try await #require(throws: CoordinatorError.self) { try await run { _ in } }
        #expect(
            "\(error)"
                == "the list of authorised keys \(keys.authorizedPath) is missing; `aop keys authorize NAME --role ROLE --dir \(keys.directory)` makes it"
        )
    }

    @Test func coordinatorWhoseOwnKeyIsInItsList_doesNotStart_andTakesNoSuchList() async throws {
        let own = keys.keys.pair.publicKey
        let ann = try keys.key("ann", [.submit])
        let gatekeeper = try Gatekeeper(keys.keys, context: try ZMQContext())
        try AuthorizedKeys.change(at: keys.authorizedPath) { all throws(KeyError) in
            try all.authorize(Principal(name: "eve", key: own, roles: [.admin]))
        }
        let listed = KeyError.listsOwnKey(own, name: "eve", path: keys.authorizedPath)
        guard case .unreadable(listed) = gatekeeper.refresh(at: 0) else { return #expect(Bool(false), "it is taken") }
        #expect(gatekeeper.principal(of: own) == nil && gatekeeper.principal(of: ann.publicKey) != nil)
        let error = try await #require(throws: CoordinatorError.self) { try await run { _ in } }
        #expect("\(error)" == "\(listed)")
    }

    @Test(arguments: [false, true]) func listThatLetsNobodyIn_isAWarningAtTheStart(isOpen: Bool) async throws {
        if isOpen { _ = try keys.token("host2") }
        try await run { _ in }
        let warnings = log.lines.filter { $0.hasPrefix("warning") }
        let text =
            "warning no key is in \(keys.authorizedPath), so that nobody is let in; "
            + "`aop keys authorize NAME --role ROLE --dir \(keys.directory)`"
        #expect(isOpen ? warnings.isEmpty : warnings.count == 1 && warnings[0].hasPrefix(text), "\(warnings)")
    }
}
