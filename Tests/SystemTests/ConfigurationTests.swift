import Foundation
import Testing

extension SystemTests {
    @Suite struct Configuration {
        @Test func aCoordinatorAndAWorker_takeWhatTheFileSays_andFlagsAndVariablesOutrankIt() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write(
                    "config.yaml",
                    """
                    listen: [\(harness.endpoint)]
                    http: "off"
                    data: \(harness.directory)/journal
                    connect: \(harness.endpoint)
                    processes: 2
                    slots: 3
                    labels: [fast, zone=a]
                    resources: [gpus=2]
                    """)
                let coordinator = harness.startAOP("coordinator", environment: ["AOP_CONFIG": file])
                try await eventually("the coordinator listens") { coordinator.stdout.contains("listening on \(harness.endpoint)") }
                #expect(FileManager.default.fileExists(atPath: "\(harness.directory)/journal"))
                _ = harness.startAOP("worker", "--config", file, "--label", "slow", environment: ["AOP_SLOTS": "1"])
                _ = try await harness.waitForExecutors(2)
                let listed = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"].elements
                #expect(listed.allSatisfy { $0["slots"].number == 1 && $0["labels"].elements.compactMap(\.string) == ["slow"] })
                #expect(listed.allSatisfy { $0["resources"]["gpus"]["amount"].number == 2 })
            }
        }

        @Test func show_tellsEachValueAndItsOrigin_andWrongOnesAreRefusedByFileLineAndSetting() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write("config.yaml", "# of this host\nslots: 3\nlabels: [fast]\n")
                let shown = try await harness.aop("config", "show", "--config", file, "-o", "json", environment: ["AOP_GRACE": "5s"])
                #expect(shown.status == 0)
                let json = try JSON(parsing: shown.text)
                func setting(_ name: String) throws -> JSON {
                    try #require(json["settings"].elements.first { $0["name"].string == name })
                }
                #expect(try setting("slots")["value"].string == "3")
                #expect(try setting("slots")["file"].string == file)
                #expect(try setting("slots")["line"].number == 2)
                #expect(try setting("labels")["value"].elements.compactMap(\.string) == ["fast"])
                #expect(try setting("grace")["from"].string == "environment")
                #expect(try setting("http")["from"].string == "default")
                #expect(try setting("http")["value"].string == "127.0.0.1:7601")
                let text = try await harness.aop("config", "show", "--config", file)
                #expect(text.text.contains("\(file):2"))

                let wrong = try harness.write("wrong.yaml", "slots: 3\nslotz: 4\n")
                for command in [["list"], ["config", "show"], ["worker"], ["coordinator"]] {
                    let refused = try await harness.start(BuiltProducts.aop, command + ["--config", wrong]).finish()
                    #expect(refused.status == 64)
                    #expect(refused.stderr.contains("\(wrong):2: unknown setting `slotz`, did you mean `slots`?"))
                }
                let resource = try harness.write("resource.yaml", "resources:\n  - gpus\n")
                let refused = try await harness.aop("config", "show", "--config", resource)
                #expect(refused.status == 64)
                #expect(refused.stderr.contains("\(resource):1: resources is `gpus`; write it as gpus=2"))
            }
        }

        @Test func show_refusesEveryValueThatACommandWouldRefuse_allAtOnce() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write(
                    "config.yaml",
                    """
                    http: nonsense
                    pass-env: [HOME, "A=b"]
                    secrets: /no/such/place
                    labels: [\(String(repeating: "x", count: 300))]
                    listen: [tcp://127.0.0.1:7600, tcp://127.0.0.1:7600]
                    """)
                for command in [["config", "show"], ["config", "show", "-o", "json"]] {
                    let refused = try await harness.start(
                        BuiltProducts.aop, command + ["--config", file], environment: ["AOP_CONNECT_TIMEOUT": "999999999d"]
                    ).finish()
                    #expect(refused.status == 64, "\(refused)")
                    for problem in [
                        "AOP_CONNECT_TIMEOUT is `999999999d`; write a duration as 30s, 1m30s or 500ms",
                        "\(file):1: http is `nonsense`; write HOST:PORT, e.g. 127.0.0.1:7601",
                        "\(file):2: pass-env is `A=b`; give the name of a variable, without its value",
                        "\(file):3: secrets is `/no/such/place`, and there is no such directory; make it (mode 0700), or leave the setting out",
                        "\(file):4: labels is `xxx", "\(file):5: listen names `tcp://127.0.0.1:7600` twice; give each once",
                    ] { #expect(refused.stderr.replacing("\\/", with: "/").contains(problem), "\(problem): \(refused)") }
                }
                let nonsense = try await harness.aop("config", "show", environment: ["AOP_HTTP": "0.0.0.0"])
                #expect(nonsense.status == 64 && nonsense.stderr.contains("AOP_HTTP is `0.0.0.0`; write HOST:PORT"))
                let worker = try await harness.aop("worker", "--config", file)
                #expect(worker.status == 64 && worker.stderr.contains("\(file):4: labels is `xxx"), "\(worker)")
            }
        }

        /// Of flags, variables and the file, with where each was said, by every kind of command that has settings.
        @Test func everythingThatIsWrong_isToldAtOnce_withWhereItWasSaid() async throws {
            try await ProcessHarness.with { harness in
                let file = try harness.write(
                    "config.yaml",
                    """
                    http: nonsense
                    slotz: 4
                    resources: [gpus, GPU=1]
                    worker: {slots: 1}
                    secrets: /no/such/place
                    """)
                let environment = ["AOP_GRACE": "soon", "AOP_CONFIG": file]
                let said = [
                    "AOP_GRACE is `soon`; write a duration as 30s, 1m30s or 500ms", "\(file):1: http is `nonsense`; write HOST:PORT",
                    "\(file):2: unknown setting `slotz`, did you mean `slots`?", "\(file):3: resources is `gpus`; write it as gpus=2",
                    "\(file):3: resources is `GPU=1`; `GPU` cannot name a resource",
                    "\(file):4:9: worker: expected a value or a list, found a map",
                ]
                let missing = "\(file):5: secrets is `/no/such/place`, and there is no such directory; make it (mode 0700)"
                let workerFlags = ["--slots", "0", "--label", "", "--resource", "gpus", "--connect", "hub:7600", "--log-level", "loud"]
                let workerTexts = [
                    "--slots is `0`; it must be a whole number from 1 to 4096", "--label is empty",
                    "--resource is `gpus`; write it as gpus=2",
                    "--connect is `hub:7600`; write tcp://hub:7600", "--log-level is `loud`; it must be one of trace, debug", missing,
                ]
                let coordinatorFlags = ["--http", "7601", "--disk-reserve=-1", "--listen", "tcp://h:1", "--listen", "tcp://h:1"]
                let coordinatorTexts = [
                    "--http is `7601`; write HOST:PORT", "--disk-reserve is `-1`; it must be a whole number from 0",
                    "--listen names `tcp://h:1` twice; give each once",
                ]
                // Where the parser ends at a flag that it cannot read, what it did not come to is told as well.
                let unread = "The value 'many' is invalid for '--slots <n>'"
                for (program, arguments, texts) in [
                    (BuiltProducts.aop, ["list"], []), (BuiltProducts.aop, ["config", "show"], [missing]),
                    (BuiltProducts.aop, ["worker"] + workerFlags, workerTexts), (BuiltProducts.trialWorker, workerFlags, workerTexts),
                    (BuiltProducts.aop, ["coordinator"] + coordinatorFlags, coordinatorTexts),
                    (BuiltProducts.aop, ["worker", "--slots", "many"], [unread]),
                    (BuiltProducts.trialWorker, ["--slots", "many"], [unread]),
                    (BuiltProducts.aop, ["list", "--coordinator", "hub:7600"], ["has no scheme; write tcp://hub:7600"]),
                    (BuiltProducts.aop, ["list", "--coordinator", "inproc://x"], ["reached from within its own process only; write tcp:"]),
                    (BuiltProducts.aop, ["worker", "--connect", "inproc://x"], [missing, "only its own process reaches it; write tcp:"]),
                    (BuiltProducts.aop, ["list", "--coordinator", "hub:7600", "-o", "json"], ["has no scheme; write tcp:"]),
                ] as [(String, [String], [String])] {
                    let refused = try await harness.start(program, arguments, environment: environment).finish()
                    let stderr = refused.stderr.replacing("\\/", with: "/")
                    #expect(refused.status == 64, "\(refused)")
                    for text in said + texts {
                        #expect(stderr.components(separatedBy: text).count == 2, "\(text): \(refused)")
                    }
                    #expect(texts.contains(missing) || !stderr.contains("/no/such/place"), "\(refused)")
                }
                let json = try await harness.start(BuiltProducts.aop, ["list", "-o", "json"], environment: environment).finish()
                #expect(json.status == 64 && [json.text, json.stderr].allSatisfy { $0.split(separator: "\n").count == 1 }, "\(json)")
            }
        }

        @Test func show_saysThatAWorkerConnectsWhereClientsDo_andByWhat() async throws {
            try await ProcessHarness.with { harness in
                let shown = try await harness.aop("config", "show", "-o", "json", environment: ["AOP_COORDINATOR": "tcp://hub:1"])
                let connect = try #require(try JSON(parsing: shown.text)["settings"].elements.first { $0["name"].string == "connect" })
                #expect(connect["value"].string == "tcp://hub:1")
                #expect(connect["from"].string == "environment" && connect["by"].string == "AOP_COORDINATOR")
                let lines = try await harness.aop("config", "show", environment: ["AOP_COORDINATOR": "tcp://hub:1"]).text.split(
                    separator: "\n")
                for name in ["coordinator ", "connect "] {
                    let line = try #require(lines.first { $0.hasPrefix(name) })
                    #expect(line.contains("tcp://hub:1") && line.hasSuffix("AOP_COORDINATOR"), "\(line)")
                }
            }
        }

        /// What depends on who uses it, and on other settings, is shown as it is used.
        @Test func show_saysWhatShellLogLevelAndKeyFileComeTo_andWhy() async throws {
            try await ProcessHarness.with { harness in
                let keys = "\(harness.directory)/keys"
                #expect(try await harness.aop("keys", "init", "--dir", keys).status == 0)
                func effective(_ name: String, _ environment: [String: String]) async throws -> [JSON] {
                    let shown = try await harness.aop("config", "show", "-o", "json", environment: environment)
                    let settings = try JSON(parsing: shown.text)["settings"].elements
                    return try #require(settings.first { $0["name"].string == name }, "\(shown)")["effective"].elements
                }
                func values(_ name: String, _ environment: [String: String] = [:]) async throws -> [String] {
                    try await effective(name, environment).map { "\($0["for"].string ?? "?"): \($0["value"].string ?? "none")" }
                }
                let hub = ["AOP_COORDINATOR": "tcp://hub:1"]
                #expect(try await values("shell") == [": on"])
                #expect(try await values("shell", hub) == [": off"])
                #expect(try await effective("shell", hub).first?["because"].string == "default, as tcp://hub:1 is not on this host")
                #expect(try await values("shell", ["AOP_SHELL": "on"]).isEmpty, "what is said holds as it is")
                #expect(try await values("log-level") == ["coordinator: info", "workers: notice", "clients: warning"])
                #expect(try await values("log-level", ["AOP_LOG_LEVEL": "info"]).isEmpty)
                // In a directory that is named each has its own; nobody has one over ipc.
                let here = ["AOP_COORDINATOR": "tcp://127.0.0.1:7600"]
                let named = here.merging(["AOP_KEYS": keys]) { $1 }
                #expect(try await values("key-file", named) == ["clients: \(keys)/admin.key", "workers: \(keys)/worker.key"])
                #expect(try await effective("key-file", named).first?["because"].string == "keys: AOP_KEYS")
                #expect(try await values("key-file", named.merging(["AOP_COORDINATOR": "ipc:///tmp/c"]) { $1 }) == [": none"])
                #expect(try await values("key-file", here.merging(["AOP_KEY": "\(keys)/submit.key"]) { $1 }) == [": \(keys)/submit.key"])
                // Off loopback it is missing, and the remedy is told.
                let missing = try await effective("key-file", hub.merging(["XDG_CONFIG_HOME": harness.directory]) { $1 })
                if geteuid() != 0 {
                    #expect(
                        missing.allSatisfy { $0["value"] == .null && $0["because"].string?.contains("aop keys join") == true }, "\(missing)"
                    )
                }
                let text = try await harness.aop("config", "show", environment: named).text
                #expect(text.contains("key-file (workers)") && text.contains("\(keys)/worker.key") && text.contains("log-level (clients)"))
            }
        }

        @Test func logs_asJSON_areAnObjectALine_ofCoordinatorSupervisorAndExecutor() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator("--log-format", "json", "--log-level", "debug")
                let worker = harness.start(
                    BuiltProducts.aop, ["worker", "--connect", harness.endpoint, "--log-level", "debug"],
                    environment: ["AOP_LOG_FORMAT": "json"])
                _ = try await harness.waitForExecutors(1)
                func events(_ process: RunningProcess) throws -> [JSON] {
                    let lines = process.stderr.split(separator: "\n")
                    // The last one may be on its way.
                    return try lines.dropLast(process.stderr.hasSuffix("\n") ? 0 : 1).map { try JSON(parsing: String($0)) }
                }
                let listening = try await eventually("the coordinator says that it listens") {
                    try events(coordinator).first { $0["message"].string == "listening" }
                }
                #expect(listening.keys == ["at", "level", "logger", "message", "metadata"])
                #expect(listening["logger"].string == "aop.coordinator")
                #expect(listening["metadata"]["endpoints"].string?.contains(harness.endpoint) == true, "\(listening)")
                try await eventually("the worker's processes log") { try events(worker).contains { $0["logger"].string == "aop.worker" } }
                try await worker.send(SIGTERM)
                _ = try await worker.finish()
                #expect(worker.stderr.split(separator: "\n").allSatisfy { $0.hasPrefix("{") }, "\(worker.stderr)")
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                // What is said to people as well: where data is, what to do next, progress, usage, errors.
                let data = try await eventually("the coordinator has said all") {
                    try events(coordinator).first { $0["message"].string?.hasPrefix("data in ") == true }
                }
                #expect(data.keys == ["at", "level", "logger", "message", "metadata"])
                let file = try harness.write("bad.yaml", "group:\n  - {id: a, run: exit 3}\n  - {id: b, run: echo hi}\n")
                for (arguments, status) in [
                    (["run", file, "--log-format", "json"], 2), (["submit", file, "--wait", "--log-format=json"], 2),
                    (["show", "none", "--log-format", "json"], 5), (["show", "--log-format", "json"], 64),
                    (["run", file, "--workers", "0", "--log-format", "json"], 64), (["submit", file, "--log-format", "json"], 0),
                    (["worker", "--slots", "0", "--log-format", "json"], 64),
                ] {
                    var environment: [String: String] = ["OTEL_EXPORTER_OTLP_ENDPOINT": "nowhere"]
                    environment["AOP_COORDINATOR"] = harness.endpoint
                    let ended = try await harness.start(BuiltProducts.aop, arguments, environment: environment).finish()
                    #expect(ended.status == status, "\(ended)")
                    #expect(!ended.stderr.isEmpty)
                    for line in ended.stderr.split(separator: "\n") {
                        #expect(throws: Never.self, "\(arguments): \(line)") { try JSON(parsing: String(line)) }
                        #expect(line.hasPrefix("{"), "\(arguments): \(line)")
                    }
                }
                let refused = try await harness.aop("list", environment: ["AOP_LOG_FORMAT": "xml"])
                #expect(refused.status == 64, "\(refused)")
                #expect(refused.stderr.contains("AOP_LOG_FORMAT is `xml`; it must be one of text, json"))
            }
        }

        @Test func misspeltVariables_areToldOnceByEveryCommand_andAreNoErrors() async throws {
            try await ProcessHarness.with { harness in
                let misspelt = ["AOP_COORDINATR": "tcp://hub:1", "AOP_FENCE_DB": "7", "AOP_LISTN": "x"]
                let warnings = [
                    "AOP_COORDINATR is no setting, and counts for nothing; did you mean AOP_COORDINATOR?",
                    "AOP_LISTN is no setting, and counts for nothing; did you mean AOP_LISTEN?",
                ]
                let file = try harness.write("one.yaml", "group:\n  - {id: one, run: 'echo $AOP_LISTN'}\n")
                let run = try await harness.aop("run", file, environment: misspelt)
                #expect(run.status == 0 && run.text.contains("x"), "\(run)")
                let worker = try await harness.aop("worker", "--slots", "0", environment: misspelt)
                let list = try await harness.aop("list", environment: misspelt.merging(["AOP_CONNECT_TIMEOUT": "10ms"]) { $1 })
                #expect(list.status == 69, "\(list)")
                for told in [run, worker, list] {
                    for warning in warnings {
                        #expect(told.stderr.components(separatedBy: "warning: \(warning)\n").count == 2, "\(told)")
                    }
                    #expect(!told.stderr.contains("AOP_FENCE_DB") && !told.stderr.contains("AOP_TEST_MARK"))
                }
                let json = try await harness.aop("config", "show", "-o", "json", environment: misspelt)
                let line = try #require(json.stderr.split(separator: "\n").first)
                #expect(json.status == 0)
                #expect(try JSON(parsing: String(line))["warning"].string == warnings[0])
            }
        }

        @Test func anAddressWithoutAScheme_orTwice_isRefusedWithARemedy() async throws {
            try await ProcessHarness.with { harness in
                for command in [
                    ["list", "--coordinator", "hub:7600"], ["coordinator", "--listen", "hub:7600"],
                    ["keys", "token", "a", "--endpoint", "hub:7600"], ["keys", "join", "-", "--connect", "hub:7600"],
                ] {
                    let refused = try await harness.start(BuiltProducts.aop, command).finish()
                    #expect(refused.status == 64 && refused.stderr.contains("has no scheme; write tcp://hub:7600"), "\(refused)")
                }
                let twice = try await harness.aop("coordinator", "--listen", harness.endpoint, "--listen", harness.endpoint)
                #expect(
                    twice.status == 64 && twice.stderr.contains("--listen names `\(harness.endpoint)` twice; give each once"), "\(twice)")
            }
        }
    }
}
