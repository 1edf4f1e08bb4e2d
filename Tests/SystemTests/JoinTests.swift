import Foundation
import Testing
import Wire

extension SystemTests {
    /// Hosts that join a cluster with a token.
    @Suite struct Joining {
        /// A host of its own: a directory for its key.
        private struct Host {
            let cluster: Security.Cluster
            let directory: String

            init(_ name: String, of cluster: Security.Cluster) {
                (self.cluster, directory) = (cluster, "\(cluster.harness.directory)/\(name)")
            }

            var key: String { "\(directory)/worker.key" }
            var files: [String] {
                get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
            }

            func join(_ token: String, _ arguments: String...) async throws -> Finished {
                try await cluster.harness.start(BuiltProducts.aop, ["keys", "join", token, "--dir", directory] + arguments).finish()
            }

            func startWorker(_ arguments: String...) -> RunningProcess {
                cluster.harness.start(BuiltProducts.aop, ["worker", "--connect", cluster.endpoint, "--key-file", key] + arguments)
            }
        }

        private func token(_ cluster: Security.Cluster, _ name: String = "host2", _ arguments: String...) async throws -> String {
            let made = try await cluster.harness.start(
                BuiltProducts.aop, ["keys", "token", name, "--endpoint", cluster.endpoint, "--dir", cluster.keys] + arguments
            ).finish()
            #expect(made.status == 0, "\(made)")
            return made.text.trimmingCharacters(in: .newlines)
        }

        private func publicKey(in path: String) throws -> String {
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            return String(try #require(lines.first { $0.hasPrefix("public-key ") }).dropFirst(11))
        }

        private let words = """
            name: words
            ordered:
              - {id: one, run: "printf 'a b c'"}
              - {id: count, receives: one, run: "wc -w | tr -d ' '", output: json}

            """

        // MARK: Once

        @Test func hostThatJoins_works_andNobodyIsToldAnySecret() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let made = try await harness.aop(
                    "keys", "token", "host2", "--endpoint", cluster.endpoint, "--dir", cluster.keys, "--label", "zone=b", "-o", "json")
                let answer = try JSON(parsing: made.text)
                #expect(answer.keys == ["schema", "token", "name", "publicKey", "roles", "operations", "labels", "until"])
                let token = try #require(answer["token"].string)
                let listed = try JSON(parsing: try await cluster.keysTool("list", "-o", "json").text)
                #expect(listed["tokens"].elements.map { $0["name"] } == ["host2"])
                #expect(listed["tokens"][0]["until"] == answer["until"] && listed["tokens"][0]["labels"] == ["zone=b"])
                let shown = try await cluster.keysTool("list").text
                let until = try #require(answer["until"].string)
                #expect(shown.contains("JOIN TOKEN FOR") && shown.contains(until), "\(shown)")

                let host = Host("host2", of: cluster)
                let file = try harness.write("token", "\(token)\n")
                let joined = try await harness.start(
                    "/bin/sh", ["-c", "exec \"$0\" keys join - --dir \"$1\" <\"$2\"", BuiltProducts.aop, host.directory, file]
                ).finish()
                #expect(joined.status == 0, "\(joined)")
                let key = try publicKey(in: host.key)
                #expect(joined.text == "\(host.key)\njoined as host2 (work), public key \(key)\n")
                #expect(joined.stderr.contains("next: aop worker --connect \(cluster.endpoint) --key-file \(host.key)"))
                #expect(try host.files == ["worker.key"])
                let mode = try FileManager.default.attributesOfItem(atPath: host.key)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o600)
                try await eventually("the coordinator logs it", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("`host2` (work) has joined from 127.0.0.1: the key \(key), for the join token")
                }
                let after = try JSON(parsing: try await cluster.keysTool("list", "-o", "json").text)
                #expect(after["tokens"].elements.isEmpty)
                #expect(after["authorized"].elements.map { $0["name"].string } == ["worker", "submit", "admin", "host2"])
                #expect(after["authorized"][3]["publicKey"] == .string(key) && after["authorized"][3]["labels"] == ["zone=b"])

                _ = host.startWorker("--shell", "on", "--label", "zone=b")
                try await cluster.waitForExecutors(1)
                let graph = try harness.write("words.yaml", words)
                let submitted = try await cluster.aop(as: "submit", "submit", graph, "--wait", "-o", "json")
                #expect(submitted.status == 0, "\(submitted)")
                #expect(try JSON(parsing: submitted.text)["value"][1] == 3)

                let secret = try String(contentsOfFile: host.key, encoding: .utf8).split(separator: "\n").first {
                    $0.hasPrefix("secret-key ")
                }
                var told = [joined.text, joined.stderr, cluster.coordinator.stderr, cluster.coordinator.stdout]
                for directory in [cluster.keys, "\(harness.directory)/data"] {
                    for case let path as String in try #require(FileManager.default.enumerator(atPath: directory)) {
                        told.append(String(decoding: FileManager.default.contents(atPath: "\(directory)/\(path)") ?? Data(), as: UTF8.self))
                    }
                }
                for secret in [token, String(try #require(secret).dropFirst(11))] { #expect(!told.contains { $0.contains(secret) }) }
            }
        }

        /// A key that may do both is one file, and it is said how each finds it.
        @Test(arguments: [(["work", "submit"], "worker.key"), (["work", "admin"], "admin.key"), (["submit", "observe"], "submit.key")])
        func tokenWithTwoRoles_makesOneKeyForBoth(roles: [String], file: String) async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let flags = roles.flatMap { ["--role", $0] }
                let token = try await harness.start(
                    BuiltProducts.aop,
                    ["keys", "token", "both", "--endpoint", cluster.endpoint, "--dir", cluster.keys, "-o", "quiet"] + flags
                ).finish()
                let directory = "\(harness.directory)/both"
                let joined = try await harness.aop("keys", "join", token.text.trimmingCharacters(in: .newlines), "--dir", directory)
                #expect(joined.status == 0, "\(joined)")
                let key = "\(directory)/\(file)"
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [file])
                let lines = joined.stderr.split(separator: "\n").filter { $0.hasPrefix("next: ") }
                let submits = "next: aop submit FILE --wait --coordinator \(cluster.endpoint) --key-file \(key)"
                let works = "next: aop worker --connect \(cluster.endpoint) --key-file \(key)"
                #expect(lines.count == (roles.contains("work") ? 2 : 1), "\(joined)")
                #expect(lines.contains { $0 == submits }, "\(joined)")
                #expect(lines.contains { $0.hasPrefix(works) } == roles.contains("work"), "\(joined)")
                if roles.contains("work") {
                    _ = harness.start(BuiltProducts.aop, ["worker", "--connect", cluster.endpoint, "--key-file", key, "--shell", "on"])
                    try await cluster.waitForExecutors(1)
                }
                let submitted = try await harness.start(
                    BuiltProducts.aop,
                    ["submit", try harness.write("words.yaml", words), "--coordinator", cluster.endpoint, "--key-file", key, "-o", "json"]
                        + (roles.contains("work") ? ["--wait"] : ["--wait-for-workers"])
                ).finish()
                #expect(submitted.status == 0, "\(submitted)")
            }
        }

        @Test func secondUse_isRefused_andTheSameJoinAgainIsNone() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let token = try await token(cluster)
                let (first, second) = (Host("first", of: cluster), Host("second", of: cluster))
                #expect(try await first.join(token).status == 0)
                let key = try publicKey(in: first.key)
                let again = try await first.join(token)
                #expect(again.status == 0 && again.text.contains(key), "\(again)")
                let refused = try await second.join(token)
                #expect(refused.status == 77, "\(refused)")
                #expect(refused.stderr.contains("has been used, for the key \(key); `aop keys token host2` on the coordinator's host"))
                #expect(!FileManager.default.fileExists(atPath: second.key))
                try await eventually("the coordinator logs it", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("notPermitted: 127.0.0.1, with the key")
                }
                // The key that it has made waits for the next token.
                #expect(try await second.join(try await self.token(cluster, "host3")).status == 0)
                #expect(try second.files == ["worker.key"])

                // As if the answer had been lost.
                try FileManager.default.moveItem(atPath: first.key, toPath: "\(first.key).joining")
                let repeated = try await first.join(token)
                #expect(repeated.status == 0, "\(repeated)")
                #expect(try publicKey(in: first.key) == key)
                let used = try await cluster.keysTool("revoke", try #require(try tokenKey(in: first.key)))
                #expect(used.status == 1 && used.stderr.contains("has been used; what it was exchanged for is revoked with"), "\(used)")
            }
        }

        private func tokenKey(in path: String) throws -> String? {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").first { $0.hasPrefix("token ") }
                .map { String($0.dropFirst(6)) }
        }

        @Test func joinersAtOnce_withOneToken_areOne() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let token = try await token(cluster)
                let hosts = (0..<4).map { Host("host\($0)", of: cluster) }
                let ends = try await withThrowingTaskGroup(of: Finished.self) { group in
                    for host in hosts { group.addTask { try await host.join(token) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(ends.map(\.status).sorted() == [0, 77, 77, 77], "\(ends)")
                #expect(hosts.count { FileManager.default.fileExists(atPath: $0.key) } == 1)
                let listed = try JSON(parsing: try await cluster.keysTool("list", "-o", "json").text)
                #expect(listed["authorized"].elements.count { $0["name"] == "host2" } == 1)
            }
        }

        // MARK: Refused

        @Test func expiredToken_andOneThatWasTakenBack_areRefused() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let expired = try await token(cluster)
                let path = "\(cluster.keys)/authorized"
                let text = try String(contentsOfFile: path, encoding: .utf8)
                let late = text.replacing(/until=\S+/, with: "until=2026-01-01T00:00:00Z")
                #expect(late != text)
                try late.write(toFile: path, atomically: false, encoding: .utf8)
                let host = Host("host2", of: cluster)
                let refused = try await host.join(expired)
                #expect(refused.status == 77, "\(refused)")
                #expect(
                    refused.stderr.contains("has been used, was revoked, or has expired")
                        && refused.stderr.contains("`aop keys token host2`"))
                try await eventually("the coordinator logs it", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("for `host2`, from 127.0.0.1, has expired: it was valid until 2026-01-01T00:00:00Z")
                }
                #expect(try JSON(parsing: try await cluster.keysTool("list", "-o", "json").text)["tokens"].elements.isEmpty)

                let withdrawn = try await token(cluster, "host3")
                let revoked = try await cluster.keysTool("revoke", "host3")
                #expect(revoked.status == 0 && revoked.text.hasPrefix("revoked the join token for host3 "), "\(revoked)")
                let second = try await host.join(withdrawn)
                #expect(second.status == 77 && second.stderr.contains("was revoked"), "\(second)")
                #expect(try host.files == ["worker.key.joining"])
            }
        }

        @Test func keyOfAToken_neitherSubmits_norWorks() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let server = try #require(PublicKey(try publicKey(in: cluster.key("coordinator"))))
                let pair = try KeyPair()
                try KeyFile(name: "token", pair: pair, serverKey: server).write(to: cluster.key("token"))
                let now = WallClock.milliseconds()
                try AuthorizedKeys.change(at: "\(cluster.keys)/authorized") { keys throws(KeyError) in
                    keys.offer(Enrolment(name: "host2", token: pair.publicKey, roles: [.admin], until: now + 3_600_000), at: now)
                }
                let graph = try harness.write("words.yaml", words)
                let worker = try await cluster.startWorker(key: "token").finish()
                for ended in [
                    worker, try await cluster.aop(as: "token", "submit", graph), try await cluster.aop(as: "token", "list"),
                    try await cluster.aop(as: "token", "workers"), try await cluster.aop(as: "token", "locks", "release", "db", "--force"),
                ] {
                    #expect(
                        ended.status == 77 && ended.stderr.contains("enrols a host (`aop keys join`) and may do nothing else"), "\(ended)")
                }
                #expect(try JSON(parsing: try await cluster.aop(as: "admin", "list", "-o", "json").text)["submissions"].elements.isEmpty)
                try await eventually("the coordinator logs it", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("notPermitted: 127.0.0.1, with the key \(pair.publicKey)")
                }
            }
        }

        @Test func otherCoordinators_none_andOneThatCannot_areSaid() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Security.Cluster.start(harness)
                let token = try await token(cluster)
                let host = Host("host2", of: cluster)
                let other = "\(harness.directory)/other"
                #expect(try await harness.aop("keys", "init", "--dir", other).status == 0)
                let foreign = try await harness.aop("keys", "token", "host2", "--dir", other, "-o", "quiet")
                    .text.trimmingCharacters(in: .newlines)
                let wrong = try await Host("wrong", of: cluster).join(foreign, "--connect", cluster.endpoint)
                #expect(wrong.status == 77 && wrong.stderr.contains("is not the coordinator that the token is for"), "\(wrong)")

                let keyless = harness.start(
                    BuiltProducts.aop,
                    ["coordinator", "--listen", "tcp://127.0.0.1:0", "--no-http", "--data", "\(harness.directory)/keyless"])
                let endpoint = try await eventually("it listens", last: { keyless.stderr }) {
                    keyless.stdout.split(separator: "\n").first { $0.hasPrefix("listening on ") }.map { String($0.dropFirst(13)) }
                }
                let without = try await host.join(token, "--connect", endpoint)
                // Which side sees first that the other one has no key is a matter of time.
                #expect(
                    without.status == 77
                        && (without.stderr.contains("uses no keys") || without.stderr.contains("is not the coordinator that")), "\(without)"
                )

                try await keyless.send(SIGKILL)
                _ = try await keyless.finish()
                let nobody = try await host.join(token, "--connect", endpoint, "--connect-timeout", "2s")
                #expect(nobody.status == 69 && nobody.stderr.contains("nobody listens there"), "\(nobody)")
                #expect(nobody.stderr.contains("The same command may be run again"))

                chmod("\(cluster.keys)/authorized", 0o644)
                let later = try await host.join(token, "--connect-timeout", "3s")
                #expect(later.status == 75 && later.stderr.contains("its log names the file and what mends it"), "\(later)")
                chmod("\(cluster.keys)/authorized", 0o600)
                #expect(try await host.join(token).status == 0)
            }
        }

        @Test func wrongInput_isRefusedWithARemedy_andWithoutTheToken() async throws {
            try await ProcessHarness.with { harness in
                let keys = "\(harness.directory)/keys"
                let unmade = try await harness.aop("keys", "token", "host2", "--dir", keys)
                #expect(unmade.status == 1 && unmade.stderr.contains("`aop keys init --dir \(keys)`"), "\(unmade)")
                #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                for (arguments, text) in [
                    (["two words"], "cannot name a key"), (["enrol"], "the lines of join tokens begin with it"),
                    (["host2", "--valid", "1s"], "2s to 30d"),
                    (["host2", "--valid", "1500ms"], "2s to 30d"), (["host2", "--valid", "2.5s"], "--valid 2.5s: say it in whole seconds"),
                    (["host2", "--valid", "31d"], "2s to 30d"), (["host2", "--endpoint", "ipc:///tmp/x"], "write tcp://COORDINATOR:7600"),
                    (["host2", "--endpoint", "tcp://0.0.0.0:7600"], "write tcp://COORDINATOR:7600"),
                    (["host2", "--operation", "a,b"], "cannot be listed"), (["host2", "--role", "root"], "root"),
                ] {
                    let refused = try await harness.start(BuiltProducts.aop, ["keys", "token"] + arguments + ["--dir", keys]).finish()
                    #expect(refused.status == 64 && refused.stderr.contains(text), "\(refused)")
                }
                let authorized = try String(contentsOfFile: "\(keys)/authorized", encoding: .utf8)
                #expect(!authorized.contains("\nenrol "))

                let token = try await harness.aop("keys", "token", "host2", "--dir", keys, "-o", "quiet").text.trimmingCharacters(
                    in: .newlines)
                let directory = "\(harness.directory)/new"
                for (arguments, text) in [
                    ([token], "--connect tcp://COORDINATOR:7600"), (["\(token)x"], "some of the join token is missing, or was changed"),
                    (["host2"], "one begins with `aopj1.`"), ([String(token.dropLast(9))], "copy all of it"),
                    (["-"], "the join token is empty"),
                    ([token, "--connect", "ipc:///tmp/x"], "write tcp://COORDINATOR:7600"),
                    ([token, "--connect", "tcp://127.0.0.1:0"], "write tcp://COORDINATOR:7600"),
                ] {
                    let refused = try await harness.start(BuiltProducts.aop, ["keys", "join"] + arguments + ["--dir", directory]).finish()
                    #expect(refused.status == 64 && refused.stderr.contains(text), "\(refused)")
                    #expect(!refused.stderr.contains(token.dropFirst(6).prefix(30)))
                }
                #expect(!FileManager.default.fileExists(atPath: directory))
                // A key that is there is looked at before anybody is asked.
                let there = try await harness.aop("keys", "join", token, "--connect", "tcp://127.0.0.1:1", "--dir", keys)
                #expect(
                    there.status == 1 && there.stderr.contains("worker.key is there already, and keys are never written over"), "\(there)")
            }
        }

        @Test(.enabled(if: Namespaces.areThere, "this machine lets nobody make network namespaces"))
        func hostElsewhere_joins_andWorks() async throws {
            try await ProcessHarness.with { harness in
                let hosts = try Namespaces()
                defer { hosts.remove() }
                let (keys, there) = ("\(harness.directory)/keys", "\(harness.directory)/there")
                #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                let endpoint = "tcp://\(Namespaces.address(ofHubFor: 1)):7600"
                let coordinator = hosts.start(
                    harness, on: 0,
                    ["coordinator", "--listen", "tcp://0.0.0.0:7600", "--no-http", "--data", "\(harness.directory)/data", "--keys", keys])
                try await eventually("the coordinator listens", last: { coordinator.stderr }) { coordinator.stdout.contains("listening") }
                for (name, role) in [("host2", "work"), ("ann", "submit")] {
                    let token = try await harness.aop(
                        "keys", "token", name, "--role", role, "--endpoint", endpoint, "--dir", keys, "-o", "quiet")
                    let joined = try await hosts.start(
                        harness, on: 1, ["keys", "join", token.text.trimmingCharacters(in: .newlines), "--dir", there]
                    ).finish()
                    #expect(joined.status == 0, "\(joined)")
                }
                #expect(coordinator.stderr.contains("has joined from \(Namespaces.address(of: 1))"), "\(coordinator.stderr)")
                _ = hosts.start(harness, on: 1, ["worker", "--connect", endpoint, "--keys", there, "--shell", "on"])
                let file = try harness.write("words.yaml", words)
                let submitted = try await hosts.start(
                    harness, on: 1, ["submit", file, "--wait", "-o", "json", "--coordinator", endpoint, "--keys", there]
                ).finish()
                #expect(submitted.status == 0, "\(submitted)")
                #expect(try JSON(parsing: submitted.text)["value"][1] == 3)
            }
        }
    }
}
