import Foundation
import Testing

extension SystemTests {
    /// Several hosts, each with a network of its own: a coordinator on the first one, workers on the next two, a submitter on the
    /// fourth.
    @Suite(.enabled(if: Namespaces.areThere, "this machine lets nobody make network namespaces"))
    struct HostTests {
        private struct Hosts {
            static let submitter = 3

            let harness: ProcessHarness
            let network: Namespaces
            let coordinator: RunningProcess
            let keys: String

            static func with(_ body: (Hosts) async throws -> Void) async throws {
                try await ProcessHarness.with { harness in
                    let network = try Namespaces(4)
                    defer { network.remove() }
                    let keys = "\(harness.directory)/keys"
                    #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                    let coordinator = network.start(
                        harness, on: 0,
                        [
                            "coordinator", "--listen", "tcp://0.0.0.0:7600", "--no-http", "--data", "\(harness.directory)/data", "--keys",
                            keys,
                        ])
                    try await eventually("the coordinator listens", last: { coordinator.stderr }) {
                        coordinator.stdout.contains("listening")
                    }
                    try await body(Hosts(harness: harness, network: network, coordinator: coordinator, keys: keys))
                }
            }

            /// Arguments for a peer on this host.
            private func endpoint(_ host: Int) -> String { "tcp://\(Namespaces.address(ofHubFor: host)):7600" }

            func startWorker(on host: Int, _ arguments: String...) -> RunningProcess {
                network.start(
                    harness, on: host,
                    [
                        "worker", "--connect", endpoint(host), "--keys", keys, "--shell", "on", "--label",
                        "host\(host)",
                    ]
                        + arguments)
            }

            func aop(_ arguments: String...) async throws -> Finished {
                try await network.start(
                    harness, on: Self.submitter,
                    arguments + ["--coordinator", endpoint(Self.submitter), "--key-file", "\(keys)/admin.key"]
                ).finish()
            }

            func json(_ arguments: String...) async throws -> JSON {
                let finished = try await network.start(
                    harness, on: Self.submitter,
                    arguments + ["-o", "json", "--coordinator", endpoint(Self.submitter), "--key-file", "\(keys)/admin.key"]
                ).finish()
                return try JSON(parsing: finished.text)
            }

            func waitForExecutors(_ count: Int) async throws {
                try await eventually("\(count) executors are attached", last: { coordinator.stderr }) {
                    try await json("workers")["workers"].elements.count { $0["state"].string == "attached" } == count
                }
            }

            /// - Returns: its id.
            func submit(_ graph: String) async throws -> String {
                let file = try harness.write("graph-\(UUID()).yaml", graph)
                let submitted = try await aop("submit", file, "--wait-for-workers", "-o", "quiet")
                #expect(submitted.status == 0, "\(submitted)")
                return submitted.text.trimmingCharacters(in: .newlines)
            }

            func operation(_ path: String, of id: String) async throws -> JSON {
                try #require(try await json("show", id)["operations"].elements.first { $0["path"].string == path })
            }

            /// The whole of `explain` of an operation, as a text.
            func explanation(of reference: String) async throws -> String { try await aop("explain", reference).text }
        }

        /// Works under a key until a file is there, and writes its name and its token again and again.
        private func locked(_ harness: ProcessHarness, id: String, key: String, label: String = "", go: String) -> String {
            """
            - id: \(id)
              exclusive: \(key)
              \(label.isEmpty ? "" : "requires: {label: \(label)}")
              run: >-
                echo "\(id) $AOP_FENCE_\(key.uppercased())" >> '\(harness.directory)/\(key)';
                while [ ! -e '\(harness.directory)/\(go)' ]; do
                sleep 0.05; echo "\(id) $AOP_FENCE_\(key.uppercased())" >> '\(harness.directory)/\(key)'; done
            """
        }

        /// Who was under a key, one after the other, and that nobody was after somebody with a higher token.
        private func holders(_ key: String, _ harness: ProcessHarness) -> [String] {
            var holders: [(name: String, token: UInt64)] = []
            for line in harness.lines(of: key) {
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 2, let token = UInt64(words[1]) else {
                    Issue.record("a line of the log is broken: \(line)")
                    continue
                }
                guard let last = holders.last else {
                    holders.append((words[0], token))
                    continue
                }
                #expect(token >= last.token, "\(line) comes after \(last): the lock is held twice")
                if token != last.token { holders.append((words[0], token)) } else { #expect(words[0] == last.name) }
            }
            return holders.map(\.name)
        }

        /// Both at once, since what is tried is time: a host is gone for less than the lock's lease, another one for longer.
        @Test func partitionsOfTenAndFortySeconds_theLockIsNeverHeldTwice_theWorkEnds_andExplainTellsTheStory() async throws {
            try await Hosts.with { hosts in
                _ = hosts.startWorker(on: 2, "--slots", "4")
                try await hosts.waitForExecutors(1)
                let other = try await hosts.submit(
                    """
                    group:
                    \(locked(hosts.harness, id: "long", key: "forty", go: "go-forty"))
                    \(locked(hosts.harness, id: "heir", key: "forty", go: "go-forty"))
                    """)
                try await eventually("the first of forty runs") { holders("forty", hosts.harness) == ["long"] }
                _ = hosts.startWorker(on: 1, "--slots", "4")
                try await hosts.waitForExecutors(2)
                let id = try await hosts.submit(
                    """
                    group:
                    \(locked(hosts.harness, id: "short", key: "ten", label: "host1", go: "go-ten"))
                    \(locked(hosts.harness, id: "next", key: "ten", go: "go-ten"))
                    """)
                try await eventually("the first of ten runs") { holders("ten", hosts.harness) == ["short"] }
                try await eventually("all that runs is known to run") {
                    let states = [try await hosts.operation("short", of: id), try await hosts.operation("long", of: other)]
                    return states.allSatisfy { $0["state"] == "running" }
                }

                try hosts.network.cut(1)
                try hosts.network.cut(2)
                let clock = ContinuousClock()
                let begin = clock.now
                try await eventually("it is known that nobody hears of the holder") {
                    try await hosts.explanation(of: "\(id)/next").contains("not heard")
                }
                try await clock.sleep(until: begin + .seconds(10))
                // It still had its lock, and nobody else got it.
                #expect(holders("ten", hosts.harness) == ["short"])
                try hosts.network.heal(1)
                try await hosts.waitForExecutors(1)
                #expect(try await hosts.operation("short", of: id)["attempts"] == 1)
                #expect(try await hosts.operation("short", of: id)["state"] == "running")
                _ = try hosts.harness.write("go-ten", "")
                let ten = try await hosts.aop("wait", id)
                #expect(ten.status == 0, "\(ten)")

                // Its host has ended it by then; it has its lock still, and goes on elsewhere.
                try await eventually("the other one has begun again") { holders("forty", hosts.harness) == ["long", "long"] }
                let story = try await hosts.explanation(of: "\(other)/long")
                #expect(story.contains("was not heard for the lock lease"), "\(story)")
                #expect(try await hosts.operation("long", of: other)["history"].elements.contains { $0["event"] == "lost" })
                let heir = try await hosts.explanation(of: "\(other)/heir")
                #expect(heir.contains("held by \(other)/long on "), "\(heir)")
                try await clock.sleep(until: begin + .seconds(40))
                try hosts.network.heal(2)
                try await hosts.waitForExecutors(2)
                // What came back has nothing to say any more.
                #expect(holders("forty", hosts.harness) == ["long", "long"])
                _ = try hosts.harness.write("go-forty", "")
                let forty = try await hosts.aop("wait", other)
                #expect(forty.status == 0, "\(forty)")
                #expect(try await hosts.operation("long", of: other)["attempts"] == 2)
                #expect(holders("ten", hosts.harness) == ["short", "next"])
                #expect(holders("forty", hosts.harness) == ["long", "long", "heir"])
            }
        }

        @Test func hostWithAnotherAddress_comesBackWithWhatItRuns() async throws {
            try await Hosts.with { hosts in
                let worker = hosts.startWorker(on: 1, "--log-level", "info")
                try await hosts.waitForExecutors(1)
                let id = try await hosts.submit("group:\n\(locked(hosts.harness, id: "one", key: "db", go: "go"))\n")
                try await eventually("it runs") { holders("db", hosts.harness) == ["one"] }
                try hosts.network.readdress(1)
                try await eventually("the worker has come from its new address", last: { worker.stderr }) {
                    worker.stderr.split(separator: "\n").count { $0.contains("attached to tcp://") && $0.contains(" as ") } == 2
                }
                try await hosts.waitForExecutors(1)
                _ = try hosts.harness.write("go", "")
                let ended = try await hosts.aop("wait", id)
                #expect(ended.status == 0, "\(ended)")
                #expect(try await hosts.operation("one", of: id)["attempts"] == 1)
                #expect(holders("db", hosts.harness) == ["one"])
            }
        }

        /// Packets are lost and no connection ends: only heartbeats say that nobody is there, on both sides.
        @Test(.enabled(if: Namespaces.whyNotSilent == nil, "\(Namespaces.whyNotSilent ?? "")"))
        func silentLoss_isNoticedByBothSides_theLockGoesOnOnce_andTheWorkerComesBack() async throws {
            try await Hosts.with { hosts in
                let deaf = hosts.startWorker(on: 1, "--log-level", "info")
                try await hosts.waitForExecutors(1)
                let id = try await hosts.submit(
                    """
                    group:
                    \(locked(hosts.harness, id: "one", key: "db", go: "go"))
                    """)
                try await eventually("it runs") { holders("db", hosts.harness) == ["one"] }
                try await eventually("it is known to run") { try await hosts.operation("one", of: id)["state"] == "running" }
                _ = hosts.startWorker(on: 2)
                try await hosts.waitForExecutors(2)
                try hosts.network.silence(1)
                try await eventually("the coordinator has noticed", last: { hosts.coordinator.stderr }) {
                    try await hosts.explanation(of: "\(id)/one").contains("not heard")
                }
                try await eventually("the supervisor and its executor have noticed", last: { deaf.stderr }) {
                    deaf.stderr.contains("nothing was heard from the coordinator for 3000 ms")
                        && deaf.stderr.contains("the coordinator has not answered within the lease")
                }
                // Nobody is refused there: whoever tries hears nothing at all.
                let lost = try await hosts.network.start(
                    hosts.harness, on: 1,
                    [
                        "list", "--coordinator", "tcp://\(Namespaces.address(ofHubFor: 1)):7600", "--key-file", "\(hosts.keys)/admin.key",
                        "--connect-timeout", "1s",
                    ]
                ).finish()
                #expect(lost.status == 69 && !lost.stderr.contains("refused"), "\(lost)")
                // The command is ended there, and then goes on elsewhere with a higher token.
                try await eventually("it runs on the other host", last: { deaf.stderr }) {
                    let one = try await hosts.operation("one", of: id)
                    return one["attempts"] == 2 && one["state"] == "running"
                }
                #expect(deaf.stderr.contains("is stopped before the lock lease is over"), "\(deaf.stderr)")
                try hosts.network.endSilence(1)
                try await hosts.waitForExecutors(2)
                try await eventually("tokens of both attempts are in the log") {
                    Set(hosts.harness.lines(of: "db").compactMap { $0.split(separator: " ").last }).count == 2
                }
                _ = try hosts.harness.write("go", "")
                let ended = try await hosts.aop("wait", id)
                #expect(ended.status == 0, "\(ended)")
                #expect(holders("db", hosts.harness) == ["one", "one"])
                #expect(try await hosts.operation("one", of: id)["attempts"] == 2)
            }
        }

        @Test func hostThatIsGoneForEver_itsWorkGoesToOthers_andNoSlotIsKept() async throws {
            try await Hosts.with { hosts in
                let lost = hosts.startWorker(on: 1, "--processes", "2")
                try await hosts.waitForExecutors(2)
                let id = try await hosts.submit(
                    """
                    group:
                      - {id: a, run: 'hostname > /dev/null; echo a >> "\(hosts.harness.directory)/log"; while [ ! -e "\(hosts.harness.directory)/go" ]; do sleep 0.05; done'}
                      - {id: b, run: 'echo b >> "\(hosts.harness.directory)/log"; while [ ! -e "\(hosts.harness.directory)/go" ]; do sleep 0.05; done'}
                    """)
                try await eventually("both run") { hosts.harness.lines(of: "log").count == 2 }
                // The wire goes first: nobody can say that the processes are dead.
                try hosts.network.cut(1)
                let pids = hosts.harness.processes(with: "host1").keys
                #expect(!pids.isEmpty)
                for pid in pids { kill(pid, SIGKILL) }
                _ = try await lost.finish()
                _ = hosts.startWorker(on: 2, "--slots", "2")
                try await eventually("both run again") { hosts.harness.lines(of: "log").count == 4 }
                _ = try hosts.harness.write("go", "")
                let ended = try await hosts.aop("wait", id)
                #expect(ended.status == 0, "\(ended)")
                let story = try await hosts.explanation(of: "\(id)/a")
                #expect(story.contains("lost") && story.contains("was not heard for its lease"), "\(story)")
                #expect(try await hosts.json("workers")["workers"].elements.count { $0["state"].string == "attached" } == 1)
            }
        }

        @Test func withoutAKey_withAWrongOne_orARevokedOne_nobodyWorksOrSubmits_fromAnotherHost() async throws {
            try await Hosts.with { hosts in
                let harness = hosts.harness
                let endpoint = "tcp://\(Namespaces.address(ofHubFor: 1)):7600"
                func list(_ arguments: String...) async throws -> Finished {
                    try await hosts.network.start(harness, on: 1, ["list", "--coordinator", endpoint] + arguments).finish()
                }
                let none = try await list()
                #expect(none.status == 77, "\(none)")
                let strangers = "\(harness.directory)/strangers"
                #expect(try await harness.aop("keys", "init", "--dir", strangers).status == 0)
                let wrong = try await list("--key-file", "\(strangers)/admin.key")
                #expect(wrong.status == 77, "\(wrong)")

                let worker = hosts.startWorker(on: 1)
                try await hosts.waitForExecutors(1)
                #expect(try await harness.aop("keys", "revoke", "worker", "--dir", hosts.keys).status == 0)
                try await hosts.waitForExecutors(0)
                try await eventually("the worker says so") { worker.stderr.contains("is not authorised any more") }
                #expect(try await harness.aop("keys", "revoke", "submit", "--dir", hosts.keys).status == 0)
                let revoked = try await list("--key-file", "\(hosts.keys)/submit.key")
                #expect(revoked.status == 77, "\(revoked)")
                #expect(hosts.coordinator.stderr.contains("denied"), "\(hosts.coordinator.stderr)")
                _ = try await hosts.aop("list")
            }
        }
    }
}
