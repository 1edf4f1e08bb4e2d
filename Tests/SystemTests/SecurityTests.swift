import Foundation
import Testing
import Wire

extension SystemTests {
    /// A cluster with keys, of real processes.
    @Suite struct Security {
        /// Where everybody connects: tcp, with keys in a directory of the test.
        struct Cluster {
            let harness: ProcessHarness
            let coordinator: RunningProcess
            let endpoint: String

            static func start(_ harness: ProcessHarness, listen: String = "tcp://127.0.0.1:0") async throws -> Cluster {
                let keys = "\(harness.directory)/keys"
                if !FileManager.default.fileExists(atPath: keys) {
                    let made = try await harness.aop("keys", "init", "--dir", keys)
                    #expect(made.status == 0, "\(made)")
                }
                let coordinator = harness.start(
                    BuiltProducts.aop,
                    ["coordinator", "--listen", listen, "--no-http", "--data", "\(harness.directory)/data", "--keys", keys])
                let endpoint = try await eventually("the coordinator listens", last: { coordinator.stderr }) {
                    coordinator.stdout.split(separator: "\n").first { $0.hasPrefix("listening on ") }.map { String($0.dropFirst(13)) }
                }
                return Cluster(harness: harness, coordinator: coordinator, endpoint: endpoint)
            }

            var keys: String { "\(harness.directory)/keys" }

            func key(_ name: String) -> String { "\(keys)/\(name).key" }

            func aop(as name: String, _ arguments: String...) async throws -> Finished {
                try await harness.start(BuiltProducts.aop, arguments + ["--coordinator", endpoint, "--key-file", key(name)]).finish()
            }

            func keysTool(_ arguments: String...) async throws -> Finished {
                try await harness.start(BuiltProducts.aop, ["keys"] + arguments + ["--dir", keys]).finish()
            }

            func authorize(_ name: String, _ rights: [String]) async throws -> Finished {
                try await harness.start(BuiltProducts.aop, ["keys", "authorize", name, "--dir", keys] + rights).finish()
            }

            func startWorker(key name: String = "worker", _ arguments: String...) -> RunningProcess {
                harness.start(BuiltProducts.aop, ["worker", "--connect", endpoint, "--key-file", key(name)] + arguments)
            }

            func waitForExecutors(_ count: Int) async throws {
                try await eventually("\(count) executors are attached") {
                    let listed = try await aop(as: "admin", "workers", "-o", "json")
                    return try JSON(parsing: listed.text)["workers"].elements.count { $0["state"].string == "attached" } == count
                }
            }
        }

        private let words = """
            name: words
            ordered:
              - {id: one, run: "printf 'a b c'"}
              - {id: count, receives: one, run: "wc -w | tr -d ' '", output: json}

            """

        @Test func init_makesKeysOfOneUserAlone_neverWritesOver_andSaysWhatIsNext() async throws {
            try await ProcessHarness.with { harness in
                let keys = "\(harness.directory)/keys"
                let made = try await harness.aop("keys", "init", "--dir", keys)
                #expect(made.status == 0)
                for word in [
                    "worker.key", "scp -p", "aop coordinator --keys \(keys) --listen tcp://0.0.0.0:7600", "aop worker --connect tcp://",
                ] {
                    #expect(made.text.contains(word), "\(made)")
                }
                let names = ["admin.key", "authorized", "coordinator.key", "submit.key", "worker.key"]
                #expect(try FileManager.default.contentsOfDirectory(atPath: keys).sorted() == names)
                for name in names {
                    let mode = try FileManager.default.attributesOfItem(atPath: "\(keys)/\(name)")[.posixPermissions] as? NSNumber
                    #expect(mode?.intValue == 0o600, "\(name)")
                }
                let before = try names.map { try String(contentsOfFile: "\(keys)/\($0)", encoding: .utf8) }
                let again = try await harness.aop("keys", "init", "--dir", keys)
                #expect(again.status == 1)
                #expect(again.stderr.contains("coordinator.key is there already, and keys are never written over"))
                #expect(try names.map { try String(contentsOfFile: "\(keys)/\($0)", encoding: .utf8) } == before)

                let generated = try await harness.aop("keys", "generate", "ci", "--dir", keys, "-o", "json")
                let key = try #require(try JSON(parsing: generated.text)["publicKey"].string)
                let authorized = try await harness.aop(
                    "keys", "authorize", "ci", "--role", "submit", "--role", "observe", "--operation", "noop", "--dir", keys)
                #expect(authorized.text == "ci (submit, observe) \(key)\n")
                let listed = try JSON(parsing: try await harness.aop("keys", "list", "--dir", keys, "-o", "json").text)
                #expect(listed["authorized"].elements.map { $0["name"].string } == ["worker", "submit", "admin", "ci"])
                #expect(listed["authorized"][3]["operations"] == ["noop"])
                #expect(try await harness.aop("keys", "revoke", key, "--dir", keys).text == "revoked ci \(key)\n")
                let unknown = try await harness.aop("keys", "revoke", "ci", "--dir", keys)
                #expect(unknown.status == 1 && unknown.stderr.contains("is `ci`, or is called so; `aop keys list --dir \(keys)`"))
            }
        }

        /// What is copied works on the same keys, and what was copied without its `--dir` makes none elsewhere.
        @Test func commandsThatAreNext_nameTheDirectory_andAnotherOneIsNoCoordinators() async throws {
            try await ProcessHarness.with { harness in
                let keys = "\(harness.directory)/keys"
                let made = try await harness.aop("keys", "init", "--dir", keys)
                #expect(
                    made.text.contains("`aop keys list --dir \(keys)`") && made.text.contains("aop keys token WORKER --dir \(keys)\n"),
                    "\(made)")
                let generated = try await harness.aop("keys", "generate", "ci", "--dir", keys)
                #expect(generated.stderr.contains(" --role submit --dir \(keys)\n"), "\(generated)")
                let key = String(try #require(generated.text.split(separator: "\n").last).dropFirst("public key ".count))
                let other = try harness.folders("other")[0]
                let elsewhere = try await harness.aop("keys", "authorize", "ci", key, "--role", "submit", "--dir", other)
                #expect(elsewhere.status == 1 && elsewhere.stderr.contains("there is no coordinator.key in \(other)"), "\(elsewhere)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: other) == [])
                let nowhere = try await harness.aop("keys", "init", "--dir", "")
                #expect(nowhere.status == 64 && nowhere.stderr.contains("--dir is empty; name the directory of the keys"), "\(nowhere)")
            }
        }

        /// Of the list that is missing, and of keys and directories that no coordinator takes, by the commands that a person has at hand.
        @Test func keysThatNoCoordinatorTakes_areRefusedWithWhatToDo() async throws {
            try await ProcessHarness.with { harness in
                let keys = "\(harness.directory)/keys"
                #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                func coordinator() async throws -> Finished {
                    try await harness.start(
                        BuiltProducts.aop,
                        ["coordinator", "--listen", "tcp://0.0.0.0:0", "--no-http", "--data", "\(harness.directory)/data", "--keys", keys]
                    ).finish()
                }
                let own = try await harness.aop("keys", "authorize", "coordinator", "--role", "admin", "--dir", keys)
                #expect(own.status == 1 && own.stderr.contains("is the coordinator's own key, which no peer may have"), "\(own)")
                #expect(chmod(keys, 0o770) == 0)
                let mode =
                    "the directory of keys \(keys) has mode 0770, so that others than its owner could change what is in it; chmod go-w \(keys)"
                for command in [["keys", "list"], ["keys", "init"], ["keys", "revoke", "worker"], ["keys", "token", "host2"]] {
                    let refused = try await harness.start(BuiltProducts.aop, command + ["--dir", keys]).finish()
                    #expect(refused.status == 1 && refused.stderr.contains(mode), "\(refused)")
                }
                let open = try await coordinator()
                #expect(open.status == 77 && open.stderr.contains(mode), "\(open)")
                #expect(chmod(keys, 0o700) == 0 && unlink("\(keys)/authorized") == 0)
                let missing =
                    "the list of authorised keys \(keys)/authorized is missing; `aop keys authorize NAME --role ROLE --dir \(keys)` makes it"
                let listed = try await harness.aop("keys", "list", "--dir", keys)
                #expect(listed.status == 1 && listed.stderr.contains(missing), "\(listed)")
                let refused = try await coordinator()
                #expect(refused.status == 77 && refused.stderr.contains(missing), "\(refused)")
                #expect(try await harness.aop("keys", "authorize", "worker", "--role", "work", "--dir", keys).status == 0)
                #expect(try await harness.aop("keys", "list", "--dir", keys).status == 0)
            }
        }

        /// Whatever it had come to.
        @Test func anInterruptedInit_isDoneAgainWithTheSameCommand() async throws {
            try await ProcessHarness.with { harness in
                let (made, keys) = ("\(harness.directory)/made", "\(harness.directory)/keys")
                #expect(try await harness.aop("keys", "init", "--dir", made).status == 0)
                let names = ["admin.key", "authorized", "coordinator.key", "submit.key", "worker.key"]
                let files = FileManager.default
                func plant(_ staged: [String], named: [String]) throws {
                    if files.fileExists(atPath: keys) { try files.removeItem(atPath: keys) }
                    try files.createDirectory(atPath: "\(keys)/init.unfinished", withIntermediateDirectories: true)
                    for name in staged { try files.copyItem(atPath: "\(made)/\(name)", toPath: "\(keys)/init.unfinished/\(name)") }
                    for name in named { try files.linkItem(atPath: "\(keys)/init.unfinished/\(name)", toPath: "\(keys)/\(name)") }
                }
                func texts(_ directory: String) throws -> [String] {
                    try names.map { try String(contentsOfFile: "\(directory)/\($0)", encoding: .utf8) }
                }
                // Nothing has got its name: all is made anew.
                try plant(["worker.key", "submit.key"], named: [])
                try files.copyItem(atPath: "\(made)/admin.key", toPath: "\(keys)/init.unfinished/admin.key.17.abc")
                let anew = try await harness.aop("keys", "init", "--dir", keys)
                #expect(anew.status == 0, "\(anew)")
                #expect(try files.contentsOfDirectory(atPath: keys).sorted() == names)
                #expect(Set(try texts(keys)).isDisjoint(with: try texts(made)))
                // All was made, and some of it may be in use.
                for named in [[], ["worker.key"], ["worker.key", "submit.key", "admin.key", "authorized"], names] {
                    try plant(names, named: named)
                    let goneOn = try await harness.aop("keys", "init", "--dir", keys)
                    #expect(goneOn.status == 0, "\(goneOn)")
                    #expect(try files.contentsOfDirectory(atPath: keys).sorted() == names)
                    #expect(try texts(keys) == texts(made))
                }
                // It was over but for its removal.
                try plant(["worker.key"], named: [])
                for name in names { try files.copyItem(atPath: "\(made)/\(name)", toPath: "\(keys)/\(name)") }
                let over = try await harness.aop("keys", "init", "--dir", keys)
                #expect(over.status == 1 && over.stderr.contains("coordinator.key is there already"), "\(over)")
                #expect(try files.contentsOfDirectory(atPath: keys).sorted() == names && texts(keys) == texts(made))
                // A key of whom nobody knows is left alone, and it is said what to do.
                for name in names where name != "worker.key" { try files.removeItem(atPath: "\(keys)/\(name)") }
                let foreign = try await harness.aop("keys", "init", "--dir", keys)
                #expect(foreign.status == 1 && foreign.stderr.contains("worker.key is there already, without the coordinator's key"))
                #expect(foreign.stderr.contains("move it away if nobody uses it"))
                #expect(try files.contentsOfDirectory(atPath: keys) == ["worker.key"])
            }
        }

        @Test func aKilledInit_leavesNothingInTheWay() async throws {
            try await ProcessHarness.with { harness in
                for round in 0..<5 {
                    let keys = "\(harness.directory)/keys\(round)"
                    let killed = harness.startAOP("keys", "init", "--dir", keys)
                    let files = FileManager.default
                    try await eventually("it has begun") {
                        files.fileExists(atPath: "\(keys)/init.unfinished") || files.fileExists(atPath: "\(keys)/coordinator.key")
                    }
                    try await killed.send(SIGKILL)
                    _ = try await killed.finish()
                    let again = try await harness.aop("keys", "init", "--dir", keys)
                    let wasOver = again.status == 1 && again.stderr.contains("coordinator.key is there already")
                    #expect(again.status == 0 || wasOver, "\(again)")
                    #expect(try files.contentsOfDirectory(atPath: keys).count == 5)
                    #expect(try await harness.aop("keys", "list", "--dir", keys).status == 0)
                }
            }
        }

        @Test func graphRuns_throughCurve_andNoSecretIsToldAnywhere() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                let worker = cluster.startWorker("--shell", "on", "--log-level", "trace")
                try await cluster.waitForExecutors(1)
                let file = try harness.write("words.yaml", words)
                let submitted = try await cluster.aop(as: "submit", "submit", file, "--wait", "-o", "json")
                #expect(submitted.status == 0, "\(submitted)")
                #expect(try JSON(parsing: submitted.text)["value"][1] == 3)
                let shown = try JSON(parsing: try await cluster.aop(as: "submit", "show", "last", "-o", "json").text)
                #expect(shown["principal"] == "submit")

                let secrets = try ["coordinator", "worker", "submit", "admin"].map { name in
                    let lines = try String(contentsOfFile: cluster.key(name), encoding: .utf8).split(separator: "\n")
                    return String(try #require(lines.first { $0.hasPrefix("secret-key ") }).dropFirst(11))
                }
                var told = [worker.stderr, worker.stdout, cluster.coordinator.stderr, cluster.coordinator.stdout, submitted.stderr]
                for pid in harness.processes().keys {
                    for file in ["cmdline", "environ"] {
                        told.append(String(decoding: FileManager.default.contents(atPath: "/proc/\(pid)/\(file)") ?? Data(), as: UTF8.self))
                    }
                }
                for case let path as String in try #require(FileManager.default.enumerator(atPath: "\(harness.directory)/data")) {
                    told.append(
                        String(decoding: FileManager.default.contents(atPath: "\(harness.directory)/data/\(path)") ?? Data(), as: UTF8.self)
                    )
                }
                for secret in secrets { #expect(!told.contains { $0.contains(secret) }) }
            }
        }

        @Test func offLoopback_withoutAKey_everybodySaysSo_with77() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.aop(
                    "coordinator", "--listen", "tcp://0.0.0.0:0", "--no-http", "--data", "\(harness.directory)/d")
                #expect(coordinator.status == 77 && coordinator.stderr.contains("run `aop keys init`"), "\(coordinator)")
                let empty = try harness.folders("empty")[0]
                let file = try harness.write("words.yaml", words)
                // A network that is for documentation: nobody is there, and nobody is asked.
                for keys in [[], ["--keys", empty]] {
                    let worker = try await harness.start(BuiltProducts.aop, ["worker", "--connect", "tcp://192.0.2.1:7600"] + keys).finish()
                    #expect(worker.status == 77 && worker.stderr.contains("worker.key"), "\(worker)")
                    let submit = try await harness.start(
                        BuiltProducts.aop, ["submit", file, "--coordinator", "tcp://192.0.2.1:7600"] + keys
                    )
                    .finish()
                    #expect(submit.status == 77 && submit.stderr.contains("admin.key or submit.key"), "\(submit)")
                }
                let missing = try await harness.aop("coordinator", "--keys", empty, "--no-http", "--data", "\(harness.directory)/d")
                #expect(missing.status == 77 && missing.stderr.contains("`aop keys init --dir \(empty)`"), "\(missing)")
            }
        }

        @Test func unknownKey_endsSubmittersWith77_andWorkersGoOnTrying_untilItIsAuthorised() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                let key = try await cluster.keysTool("generate", "host2", "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let listed = try await cluster.aop(as: "host2", "list")
                #expect(listed.status == 77, "\(listed)")
                #expect(listed.stderr.contains("does not let the key \(key)"))
                #expect(listed.stderr.contains("with the --dir that its log names: aop keys authorize host2 '\(key)' --role submit"))
                let worker = cluster.startWorker(key: "host2")
                try await eventually("the worker says so", last: { worker.stderr }) {
                    worker.stderr.contains("aop keys authorize host2 '\(key)' --role work; trying on")
                }
                try await eventually("the coordinator has counted them", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("denied: the key \(key), from 127.0.0.1, is not authorised")
                }
                #expect(try await cluster.keysTool("authorize", "host2", "--role", "work").status == 0)
                try await cluster.waitForExecutors(1)
                #expect(worker.stderr.components(separatedBy: "trying on").count == 2, "said once: \(worker.stderr)")
            }
        }

        /// Who is kept out for that is not told to start a coordinator: there is one.
        @Test func listThatCannotBeRead_isToldToWhoIsNotLetIn_withWhatMendsIt() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                let list = "\(cluster.keys)/authorized"
                chmod(list, 0o644)
                let worker = cluster.startWorker()
                try await eventually("the coordinator has seen it", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("cannot be read: the list of authorised keys \(list) has mode 0644")
                }
                let listed = try await cluster.aop(as: "submit", "list", "--connect-timeout", "2s")
                #expect(listed.status == 75 && !listed.stderr.contains("start one"), "\(listed)")
                #expect(
                    listed.stderr.contains(
                        "the coordinator at \(cluster.endpoint) has not let this process in within 2 s: its list of authorised keys cannot be read"
                    ),
                    "\(listed)")
                #expect(listed.stderr.contains("`aop keys list`, with the --dir that its log names"), "\(listed)")
                try await eventually("the worker says the same", last: { worker.stderr }) {
                    worker.stderr.contains("does not let this worker in now: its list of authorised keys cannot be read")
                }
                let shown = try await cluster.keysTool("list")
                #expect(shown.status != 0 && shown.stderr.contains("chmod 600 \(list)"), "\(shown)")
                chmod(list, 0o600)
                try await cluster.waitForExecutors(1)
            }
        }

        @Test func whatWaitsForAWorkerWhoseKeyWasRevoked_isExplained() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                _ = cluster.startWorker("--shell", "on")
                try await cluster.waitForExecutors(1)
                #expect(try await cluster.keysTool("revoke", "worker").status == 0)
                try await cluster.waitForExecutors(0)
                let file = try harness.write("words.yaml", words)
                let id = try await cluster.aop(as: "submit", "submit", file, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let explained = try await cluster.aop(as: "submit", "explain", "\(id)/one")
                #expect(explained.text.contains("no worker that is there could take it but "), "\(explained)")
                #expect(explained.text.contains(", whose key was revoked since "), "\(explained)")
                #expect(explained.text.contains("`aop keys authorize` lets the key of "), "\(explained)")
                let blocker = try JSON(parsing: try await cluster.aop(as: "submit", "explain", "\(id)/one", "-o", "json").text)["blockers"]
                    .elements.first { $0["kind"].string == "worker" }
                #expect(blocker?["missing"].string == "revoked" && blocker?["worker"].string?.isEmpty == false, "\(explained)")
                #expect(blocker?["since"].string != nil)
                let last = try await cluster.aop(as: "submit", "show", "last")
                #expect(last.status == 0, "\(last)")
            }
        }

        @Test func revokedKey_isOutAtOnce_andInAgainWhenAuthorised() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                let worker = cluster.startWorker("--shell", "on")
                try await cluster.waitForExecutors(1)
                #expect(try await cluster.keysTool("revoke", "worker").status == 0)
                try await cluster.waitForExecutors(0)
                try await eventually("the worker is told", last: { worker.stderr }) {
                    worker.stderr.contains("does not let the key") || worker.stderr.contains("is not authorised any more")
                }
                #expect(try await cluster.keysTool("revoke", "submit").status == 0)
                try await eventually("the submitter is out") { try await cluster.aop(as: "submit", "list").status == 77 }
                #expect(try await cluster.keysTool("authorize", "worker", "--role", "work").status == 0)
                try await cluster.waitForExecutors(1)
            }
        }

        /// Two workers with keys of their own: what one ran without a lock is on the other at once, what it ran under a lock after the
        /// lock lease, and all who look are told that its key was revoked.
        @Test func workOfARevokedWorker_movesAsSoonAsIsSafe_andEverybodyIsToldWhy() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                #expect(try await cluster.keysTool("generate", "second").status == 0)
                #expect(try await cluster.authorize("second", ["--role", "work"]).status == 0)
                let first = cluster.startWorker("--shell", "on", "--slots", "2")
                try await cluster.waitForExecutors(1)
                let gate = "\(harness.directory)/gate"
                let run = "until [ -e \"\(gate)\" ]; do sleep 0.05; done; echo through"
                let file = try harness.write(
                    "two.yaml", "group:\n  - {id: free, run: '\(run)'}\n  - {id: locked, exclusive: db, run: '\(run)'}\n")
                let id = try await cluster.aop(as: "submit", "submit", file, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                func operation(_ path: String) async throws -> JSON {
                    let shown = try JSON(parsing: try await cluster.aop(as: "admin", "show", id, "-o", "json").text)
                    return shown["operations"].elements.first { $0["path"].string == path } ?? shown
                }
                func losses(_ path: String) async throws -> [String] {
                    try await operation(path)["history"].elements.filter { $0["event"].string == "lost" }.compactMap { $0["text"].string }
                }
                try await eventually("both run on the first worker") {
                    let (free, locked) = (try await operation("free"), try await operation("locked"))
                    return free["state"].string == "running" && locked["state"].string == "running"
                }
                let second = cluster.startWorker(key: "second", "--shell", "on", "--slots", "2")
                try await cluster.waitForExecutors(2)
                #expect(try await cluster.keysTool("revoke", "worker").status == 0)
                try await eventually("what has no lock is lost for that", last: { cluster.coordinator.stderr }) {
                    try await losses("free").contains { $0.hasSuffix("its worker's key was revoked") }
                }
                let explained = try await cluster.aop(as: "admin", "explain", "\(id)/locked")
                #expect(explained.text.contains("whose key was revoked"), "\(explained)")
                let workers = try await cluster.aop(as: "admin", "workers")
                #expect(workers.text.contains("revoked"), "\(workers)")
                try await eventually("what has a lock is on the second worker") {
                    try await operation("locked")["attempts"] == 2
                }
                #expect(try await losses("locked").contains { $0.contains("its worker's key was revoked; the lock lease was waited for") })
                _ = try harness.write("gate", "")
                let result = try await cluster.aop(as: "submit", "wait", id, "-o", "json")
                #expect(result.status == 0, "\(result) \(first.stderr) \(second.stderr)")
            }
        }

        /// What runs goes on while the rights of a worker's key are less than it needs, however they became that.
        @Test(arguments: [["--role", "observe"], ["--role", "work", "--label", "slow"]])
        func rightsTakenFromAWorker_areSaidOnce_andItGoesOnWhenTheyAreBack(rights: [String]) async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                let worker = cluster.startWorker("--shell", "on", "--label", "fast")
                try await cluster.waitForExecutors(1)
                let executors = harness.processes(with: "executor").keys.sorted()
                let gate = "\(harness.directory)/gate"
                let file = try harness.write(
                    "long.yaml", "group:\n  - {id: long, run: 'until [ -e \"\(gate)\" ]; do sleep 0.05; done; echo through'}\n")
                let id = try await cluster.aop(as: "submit", "submit", file, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the command runs") { !harness.processes(with: "until [ -e").isEmpty }
                #expect(try await cluster.authorize("worker", rights).status == 0)
                let change = rights.contains("observe") ? "`worker` (observe)" : "`worker` (work; labels slow)"
                try await eventually("the coordinator says what has changed", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("the authorised keys have changed: changed `worker` (work) to \(change)")
                }
                try await eventually("the worker says so", last: { worker.stderr }) {
                    worker.stderr.contains("(`aop keys authorize` on the coordinator's host, with the --dir that its log names); trying on")
                }
                try await cluster.waitForExecutors(0)
                try await eventually("those who look are told why") {
                    try await cluster.aop(as: "admin", "workers").text.contains("limited")
                }
                let explained = try await cluster.aop(as: "admin", "explain", "\(id)/long")
                #expect(explained.text.contains("whose key may not do any more what it needs"), "\(explained)")
                #expect(try await cluster.authorize("worker", ["--role", "work"]).status == 0)
                try await cluster.waitForExecutors(1)
                #expect(Set(harness.processes(with: "executor").keys).isSuperset(of: executors))
                #expect(worker.stderr.components(separatedBy: "log names); trying on").count == 2, "said once: \(worker.stderr)")
                try await eventually("it says that it is let in", last: { worker.stderr }) { worker.stderr.contains("lets this worker in") }
                _ = try harness.write("gate", "")
                let result = try await cluster.aop(as: "submit", "wait", id, "-o", "json")
                #expect(result.status == 0 && result.text.contains("through"), "\(result) \(worker.stderr)")
            }
        }

        @Test func submitOnlyKey_neitherWorks_norSteersOthersWork_alsoAfterARestart() async throws {
            try await ProcessHarness.with { harness in
                var cluster = try await Cluster.start(harness)
                #expect(try await cluster.keysTool("generate", "eve").status == 0)
                #expect(try await cluster.keysTool("authorize", "eve", "--role", "submit", "--operation", "noop").status == 0)
                let worker = try await cluster.startWorker(key: "eve").finish()
                #expect(
                    worker.status == 77 && worker.stderr.contains("`eve` (submit) may not work; that takes the role `work`"), "\(worker)")
                let file = try harness.write("words.yaml", words)
                let id = try await cluster.aop(as: "submit", "submit", file, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await cluster.coordinator.send(SIGKILL)
                _ = try await cluster.coordinator.finish()
                cluster = try await Cluster.start(harness, listen: cluster.endpoint)
                let cancelled = try await cluster.aop(as: "eve", "cancel", id)
                #expect(cancelled.status == 77, "\(cancelled)")
                #expect(cancelled.stderr.contains("`eve` (submit) may not cancel submission \(id), which belongs to `submit`"))
                let refused = try await cluster.aop(as: "eve", "submit", file)
                #expect(refused.status == 6 && refused.stderr.contains("`shell` may not be submitted with the key"), "\(refused)")
                #expect(try await cluster.aop(as: "eve", "workers").status == 77)
                #expect(try await cluster.aop(as: "eve", "locks", "release", "db", "--force").status == 77)
                for verb in ["drain", "resume", "remove"] {
                    let drained = try await cluster.aop(as: "eve", "workers", verb, "h/0")
                    #expect(drained.status == 77, "\(drained)")
                    #expect(drained.stderr.contains("may not \(verb) workers; that takes the role `admin`"), "\(drained)")
                }
                try await eventually("the coordinator logs it", last: { cluster.coordinator.stderr }) {
                    cluster.coordinator.stderr.contains("notPermitted: ")
                }
                #expect(try await cluster.aop(as: "admin", "cancel", id).status == 0)
            }
        }

        @Test func noKey_wrongServerKey_andAKeyOthersCanRead_areSaid() async throws {
            try await ProcessHarness.with { harness in
                let cluster = try await Cluster.start(harness)
                let none = try await harness.aop("list", "--coordinator", cluster.endpoint)
                // Which side sees first that the other one has no key is a matter of time.
                #expect(
                    none.status == 77
                        && (none.stderr.contains("lets nobody in without a key") || none.stderr.contains("does it ask for a key")),
                    "\(none)")
                let other = "\(harness.directory)/other"
                #expect(try await harness.aop("keys", "init", "--dir", other).status == 0)
                let wrong = try await harness.aop(
                    "list", "--coordinator", cluster.endpoint, "--key-file", "\(other)/submit.key")
                #expect(wrong.status == 77 && wrong.stderr.contains("is the `server-key` in \(other)/submit.key"), "\(wrong)")
                chmod(cluster.key("submit"), 0o640)
                let open = try await cluster.aop(as: "submit", "list")
                #expect(open.status == 77 && open.stderr.contains("has mode 0640, and must have 0600"), "\(open)")
                #expect(open.stderr.contains("chmod 600 \(cluster.key("submit"))"))
                #expect(try await cluster.aop(as: "admin", "list").status == 0)
            }
        }

        @Test(.enabled(if: Namespaces.areThere, "this machine lets nobody make network namespaces"))
        func twoHosts_workTogether_andNobodyWithoutAKeyComesIn() async throws {
            try await ProcessHarness.with { harness in
                let hosts = try Namespaces()
                defer { hosts.remove() }
                let keys = "\(harness.directory)/keys"
                #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                let endpoint = "tcp://\(Namespaces.address(ofHubFor: 1)):7600"
                let coordinator = hosts.start(
                    harness, on: 0,
                    ["coordinator", "--listen", "tcp://0.0.0.0:7600", "--no-http", "--data", "\(harness.directory)/data", "--keys", keys])
                try await eventually("the coordinator listens", last: { coordinator.stderr }) { coordinator.stdout.contains("listening") }
                let worker = hosts.start(harness, on: 1, ["worker", "--connect", endpoint, "--keys", keys, "--shell", "on"])
                let file = try harness.write("words.yaml", words)
                let submitted = try await hosts.start(
                    harness, on: 1, ["submit", file, "--wait", "-o", "json", "--coordinator", endpoint, "--key-file", "\(keys)/submit.key"]
                ).finish()
                #expect(submitted.status == 0, "\(submitted) \(worker.stderr)")
                #expect(try JSON(parsing: submitted.text)["value"][1] == 3)
                let stranger = try await hosts.start(harness, on: 1, ["list", "--coordinator", endpoint]).finish()
                #expect(stranger.status == 77, "\(stranger)")
            }
        }
    }
}
