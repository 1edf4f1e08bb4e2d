import Foundation
import Testing

extension SystemTests {
    /// `conditions` with real processes.
    @Suite struct Conditions {
        @Test func failedCondition_failsTheCommand_withoutRunning_andIsShown() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "conditions.yaml",
                    """
                    group:
                      - {id: a, run: exit 1}
                      - {id: b, after: a, run: touch ran, cwd: '\(harness.directory)', conditions: [{noFailedDependencies: true}]}
                      - {id: c, after: a, run: 'true', conditions: [{noFailedDependencies: true, negated: true}]}

                    """)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let errors = try JSON(parsing: finished.text)["errors"].elements
                #expect(errors.map { $0["path"].string } == ["a", "b"])
                #expect(errors.last?["code"].string == "condition")
                #expect(errors.last?["state"].string == "condition")
                #expect(errors.last?["publisher"].string == "NoFailedDependencies")
                #expect(!FileManager.default.fileExists(atPath: "\(harness.directory)/ran"))
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                #expect(shown.map { $0["conditions"][0]["verdict"].string } == [nil, "failed", "satisfied"])
                #expect(shown.last?["conditions"][0]["evaluator"].string == "coordinator")
            }
        }

        @Test func anyAndAll_comeToWhatTheyShould_withOneErrorForSeveral() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let graph = try harness.write(
                    "made.yaml",
                    """
                    group:
                      - {id: a, run: exit 1}
                      - id: either
                        after: a
                        run: 'true'
                        conditions: [{any: [{noFailedDependencies: true}, {command: 'exit 3'}, {fileExists: /}]}]
                      - id: neither
                        after: a
                        run: 'true'
                        conditions:
                          - any:
                              - {noFailedDependencies: true}
                              - {all: [{fileExists: /}, {fileExists: /nothing-there}]}
                      - id: contrary
                        run: 'true'
                        conditions: [{negated: true, all: [{fileExists: /}, {fileExists: /, negated: true}]}]
                      - id: made
                        run: 'true'
                        conditions:
                          - any:
                              - {fileExists: '\(harness.directory)/made', operation: {run: 'touch \(harness.directory)/made'}}
                              - {fileExists: /nothing-there}

                    """)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let errors = try JSON(parsing: finished.text)["errors"].elements
                #expect(errors.map { $0["path"].string } == ["a", "neither"])
                #expect(errors.last?["publisher"].string == "OrCondition" && errors.last?["state"].string == "condition")
                #expect(
                    errors.last?["message"].string
                        == "None of the alternative conditions holds: NoFailedDependencies: not all dependencies succeeded; failed: a;"
                        + " FileExists: there is no /nothing-there")
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                let either = shown.first { $0["path"].string == "either" }
                #expect(either?["conditions"].elements.map { $0["verdict"].string } == ["failed", "failed", "satisfied"])
                let explained = try await harness.aop("explain", "last/neither")
                #expect(explained.text.contains("None of the alternative conditions holds"), "\(explained)")
            }
        }

        @Test func closedTimeWindow_isShown_andSurvivesARestart() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker()
                // Around now it is certainly open, and negated closed.
                let hour = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date()).hour ?? 0
                let window = "\((hour + 23) % 24):00-\((hour + 2) % 24):00"
                let graph = try harness.write(
                    "window.yaml",
                    """
                    group:
                      - {id: open, run: 'true', conditions: [{timeWindow: '\(window)', zone: Etc/UTC}]}
                      - {id: closed, run: 'true', conditions: [{timeWindow: '\(window)', negated: true}]}

                    """)
                let submitted = try await harness.aop("submit", graph, "-o", "quiet")
                #expect(submitted.status == 0, "\(submitted)")
                func states() async throws -> [String?] {
                    try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                        .map { $0["state"].string }
                }
                try await eventually("the open one has run") { try await states() == ["succeeded", "evaluating"] }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                let text = try await harness.aop("show", "last").text
                #expect(text.contains("evaluating") && text.contains("it is \(window.count == 9 ? "0" : "")"), "\(text)")
                #expect(text.contains("asked again at"), "\(text)")
                _ = try await harness.aop("cancel", "last", "--wait")
                #expect(try await states() == ["succeeded", "cancelled"])
            }
        }

        @Test func dependentOperations_runFirst_underTheLock_anewForEachAttempt_andTheirFailureIsTheConditions() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "4")
                let graph = try harness.write(
                    "dependent.yaml",
                    """
                    vars: {dir: '\(harness.directory)'}
                    group:
                      - id: a
                        exclusive: db
                        retry: {attempts: 1, backoff: {initial: 1ms}}
                        run: 'echo run $AOP_FENCE_DB >> "$dir/log"; rm "$dir/there"; test $AOP_ATTEMPT = 2'
                        conditions:
                          - fileExists: '${dir}/there'
                            operation: {run: 'echo make $AOP_FENCE_DB >> "$dir/log"; touch "$dir/there"', exclusive: db}
                      - {id: b, run: touch "$dir/ran", conditions: [{fileExists: '${dir}', operation: {run: 'echo oops >&2; exit 3'}}]}
                      - {id: c, run: 'true', conditions: [{fileExists: '${dir}', silent: true, operation: {run: touch "$dir/never"}}]}

                    """)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let outcome = try JSON(parsing: finished.text)
                #expect(outcome["errors"].elements.map { $0["path"].string } == ["b", "b/?FileExists.0"])
                #expect(outcome["errors"][0]["state"] == "condition")
                #expect(outcome["errors"][0]["origin"] == "b/?FileExists.0")
                #expect(outcome["errors"][0]["exitCode"] == 3)
                #expect(outcome["value"].elements.count == 3)
                #expect(!FileManager.default.fileExists(atPath: "\(harness.directory)/ran"))
                #expect(!FileManager.default.fileExists(atPath: "\(harness.directory)/never"))
                let log = harness.lines(of: "log").map { $0.split(separator: " ") }
                #expect(log.map { $0[0] } == ["make", "run", "make", "run"])
                let tokens = log.compactMap { UInt64($0[1]) }
                #expect(tokens.count == 4 && tokens == tokens.sorted() && Set(tokens).count == 4)
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                #expect(shown.map { $0["path"].string } == ["a", "a/?FileExists.0", "b", "b/?FileExists.0", "c"])
                let verdict = try #require(shown.first?["conditions"][0])
                #expect(verdict["verdict"] == "satisfied" && verdict["at"].string?.hasSuffix("Z") == true)
                let text = try await harness.aop("show", "last").text
                #expect(text.contains(try #require(verdict["at"].string)), "\(text)")
            }
        }

        @Test func workersEvaluateConditions_andWaitingOnesAreAskedAgain() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1")
                let graph = try harness.write(
                    "probes.yaml",
                    """
                    vars: {dir: '\(harness.directory)'}
                    group:
                      - {id: there, run: echo ran, conditions: [{command: test -d "$dir"}, {fileExists: '${dir}'}]}
                      - {id: missing, run: 'true', conditions: [{fileExists: '${dir}/no'}, {command: "echo oops >&2; exit 3"}]}
                      - {id: opposite, run: 'true', conditions: [{fileExists: '${dir}/no', negated: true}]}
                      - {id: dead, run: 'true', conditions: [{reachable: 'tcp://127.0.0.1:1'}]}
                      - {id: later, run: 'true', conditions: [{fileExists: '${dir}/ready', wait: true}]}
                      - {id: group, conditions: [{fileExists: '${dir}/no'}], group: [{run: 'true'}]}

                    """)
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                func operations() async throws -> [String: JSON] {
                    let shown = try await harness.aop("show", "last", "-o", "json")
                    guard shown.status == 0 else { return [:] }
                    return Dictionary(
                        try JSON(parsing: shown.text)["operations"].elements.map { ($0["path"].string ?? "", $0) }, uniquingKeysWith: { $1 }
                    )
                }
                try await eventually("all but one have ended") {
                    let states = try await operations().mapValues { $0["state"].string }
                    return states["later"] == "evaluating"
                        && states.values.count { ["succeeded", "failed", "cancelled"].contains($0) } == 6
                }
                _ = try harness.write("ready", "")
                let finished = try await submit.finish()
                #expect(finished.status == 2, "\(finished)")
                let all = try await operations()
                #expect(
                    all.mapValues { $0["state"].string } == [
                        "there": "succeeded", "missing": "failed", "opposite": "succeeded", "dead": "failed", "later": "succeeded",
                        "group": "failed", "group/run0": "cancelled",
                    ])
                let errors = try #require(all["missing"])["errors"].elements
                #expect(errors.map { $0["publisher"].string } == ["FileExists", "Command"])
                #expect(errors.first?["message"].string == "there is no \(harness.directory)/no")
                #expect(errors.last?["message"].string?.contains("3") == true)
                #expect(errors.allSatisfy { $0["code"].string == "condition" && $0["state"].string == "condition" })
                #expect(all["missing"]?["attempts"].number == 0)
                #expect(all["dead"]?["conditions"][0]["evaluator"].string?.contains("/0") == true)
            }
        }

        @Test func lostEvaluator_isReplaced() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1")
                let executors = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "lost.yaml",
                    """
                    group:
                      - run: echo ran
                        conditions: [{command: "echo x >> '\(harness.directory)/asked'; [ -e '\(harness.directory)/again' ] || sleep 600"}]

                    """)
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("the condition is evaluated") { harness.lines(of: "asked").count == 1 }
                _ = try harness.write("again", "")
                kill(executors[0], SIGKILL)
                let finished = try await submit.finish()
                #expect(finished.status == 0, "\(finished)")
                #expect(harness.lines(of: "asked").count == 2)
            }
        }

        @Test func rateLimit_holdsAcrossSubmissions() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "4")
                _ = try await harness.waitForExecutors(2)
                let graph = try harness.write(
                    "rate.yaml",
                    """
                    group:
                      - forEach: [1, 2, 3, 4]
                        run: 'true'
                        conditions: [{rateLimit: {key: api, count: 2, per: 1s}}]

                    """)
                _ = try await harness.aop("submit", graph, "-o", "quiet")
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let shown = try JSON(parsing: try await harness.aop("show", "last", "-o", "json").text)["operations"].elements
                // Four had to start before these, two in each second.
                let waited = shown.compactMap { $0["conditions"][0]["verdict"].string }
                #expect(waited == ["satisfied", "satisfied", "satisfied", "satisfied"])
                let duration = try #require(try JSON(parsing: finished.text)["duration"].number)
                #expect(duration >= 2.5)
            }
        }
    }
}
