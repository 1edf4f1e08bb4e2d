import Foundation
import Testing

extension SystemTests {
    /// `aop run`: one command, and nothing afterwards.
    @Suite struct Run {
        @Test func wordCount_viaRun_isTheRealCount() async throws {
            try await ProcessHarness.with { harness in
                let texts = "\(harness.directory)/texts"
                try FileManager.default.createDirectory(atPath: texts, withIntermediateDirectories: true)
                var expected = 0
                for number in 1...12 {
                    let words = (0..<(number * 7)).map { "word\($0)" }
                    expected += words.count
                    _ = try harness.write("texts/file \(number).txt", words.joined(separator: number % 2 == 0 ? "\n" : "  "))
                }
                let graph = try harness.write("word-count.yaml", Graphs.wordCount)
                let finished = try await harness.aop("run", graph, "--set", "dir=\(texts)", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let result = try JSON(parsing: finished.text)
                #expect(result["value"][2] == .number(Double(expected)))
                #expect(result["counts"]["succeeded"] == 14)
                #expect(result["value"][1].elements.count == 12)
                #expect(harness.processes().isEmpty, "\(harness.processes())")
                #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
            }
        }

        @Test func textOfAnOrderedRoot_isItsLastValue_thenTheSummary() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("two.yaml", "ordered:\n  - run: echo first\n  - run: echo second\n")
                let finished = try await harness.aop("run", graph)
                #expect(finished.status == 0, "\(finished)")
                let lines = finished.text.split(separator: "\n")
                #expect(lines.count == 2)
                #expect(lines.first == "second")
                #expect(lines.last?.hasPrefix("succeeded: 2 operations in") == true)
                let quiet = try await harness.aop("run", graph, "-o", "quiet")
                #expect(quiet.text == "second\n")
                #expect(quiet.stderr.isEmpty)
            }
        }

        @Test func textOfAGroup_isATableOfItsChildrensValues() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("group.yaml", "group:\n  - {id: one, run: echo 1}\n  - {id: three, run: echo 3}\n")
                let finished = try await harness.aop("run", graph)
                #expect(finished.text.hasPrefix("one    1\nthree  3\n"), "\(finished)")
            }
        }

        /// A pipe gets the values as they are.
        @Test func valuesInATable_cannotSteerTheTerminal() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "wild.yaml",
                    "group:\n  - {id: a, run: 'printf \"\\033]0;title\\007x\"'}\n  - {id: b, run: 'printf \"one\\n\\033[31mtwo\"'}\n")
                let terminal = Terminal(harness, "wild", columns: 100, rows: 20, "run", graph, "--color", "never")
                let shown = try await terminal.process.finish()
                #expect(shown.status == 0 && terminal.text.contains("a  ␛]0;title␇x"), "\(terminal.text.debugDescription)")
                #expect(terminal.text.contains("    ␛[31mtwo"), "\(terminal.text.debugDescription)")
                #expect(!terminal.text.contains("\u{1B}]0;") && !terminal.text.contains("\u{1B}[31m"), "\(terminal.text.debugDescription)")
                let piped = try await harness.aop("run", graph)
                #expect(piped.text.contains("a  \u{1B}]0;title\u{07}x") && piped.text.contains("    \u{1B}[31mtwo"), "\(piped)")
            }
        }

        @Test func callersEnvironmentAndDirectory_reachCommands() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("env.yaml", "ordered:\n  - run: echo \"$MINE $PWD\"\n")
                let finished = try await harness.aop("run", graph, "-o", "quiet", environment: ["MINE": "of the caller"])
                #expect(finished.text == "of the caller \(harness.directory)\n", "\(finished)")
            }
        }

        @Test func commandThatExitsWith3_givesExitCode2_andSaysWhereAndWhy() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("failing.yaml", Graphs.failing)
                let text = try await harness.aop("run", graph)
                #expect(text.status == 2, "\(text)")
                #expect(text.stderr.contains("bad: exited with 3 on "))
                #expect(text.stderr.contains("oops"))
                let json = try await harness.aop("run", graph, "-o", "json")
                #expect(json.status == 2)
                let result = try JSON(parsing: json.text)
                #expect(result["state"] == "failed")
                #expect(result["value"] == ["fine", .null])
                let error = result["errors"][0]
                #expect(error["path"] == "bad")
                #expect(error["code"] == "exit")
                #expect(error["exitCode"] == 3)
                #expect(error["state"] == "execution")
                #expect(error["stderr"].string?.contains("oops") == true)
                #expect(error["host"].string?.isEmpty == false)
            }
        }

        @Test func timeoutOfAChild_isAFailure() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("slow.yaml", "group:\n  - {id: slow, run: sleep 600, timeout: 200ms}\n")
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                #expect(try JSON(parsing: finished.text)["errors"][0]["code"] == "timeout")
            }
        }

        @Test func valuesOfEveryForm_appearInJSON() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("nested.yaml", Graphs.nested)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let value = try JSON(parsing: finished.text)["value"]
                #expect(value[0] == ["A", .object(["x": 1]), "aGk=", .null])
                #expect(value[1] == ["A", .object(["x": 1]), "aGk=", .null])
            }
        }

        @Test func refusedFile_listsEveryErrorWithItsPlace_exit6() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("wrong.yaml", Graphs.wrong)
                let text = try await harness.aop("run", graph)
                #expect(text.status == 6)
                #expect(text.stderr.contains("wrong.yaml:5:5: a: unknown key `retrie`"))
                #expect(text.stderr.contains("wrong.yaml:6:9: a: duplicate id"))
                #expect(text.stderr.contains("wrong.yaml:8:14: a: `timeout`: bad duration `5x`"))
                #expect(text.stderr.contains("nothing"))
                #expect(text.stdout.isEmpty)
                let json = try await harness.aop("run", graph, "-o", "json")
                #expect(json.status == 6)
                #expect(try JSON(parsing: json.text)["error"]["code"] == "refused")
                let error = try JSON(parsing: json.stderr)
                #expect(error["code"] == "refused")
                #expect(error["errors"].elements.count >= 4)
                #expect(error["errors"][0].keys == ["file", "line", "column", "path", "message"])
                let missing = try await harness.aop("run", "no-such-file.yaml")
                #expect(missing.status == 6)
                #expect(missing.stderr.contains("no-such-file.yaml"))
            }
        }

        /// The values alone, as they are; of failures nothing but the errors.
        @Test func quiet_printsTheBareResults() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "values.yaml",
                    """
                    group:
                      - {id: a, run: echo A}
                      - {id: inner, group: [{id: b, run: "printf 'two\\nlines'"}, {id: none, run: 'true', output: none}]}
                      - {id: bad, run: exit 3}

                    """)
                let finished = try await harness.aop("run", graph, "-o", "quiet")
                #expect(finished.status == 2 && finished.text == "A\ntwo\nlines\n", "\(finished)")
                #expect(finished.stderr.contains("bad"), "\(finished)")
            }
        }

        /// Operations are counted, and none has failed.
        @Test func forEachThatFails_isInTheErrors_andInTheSummary() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "each.yaml",
                    "group:\n  - {id: text, run: \"echo '{}'\", output: json}\n  - {id: each, forEach: text, run: echo $item}\n")
                let text = try await harness.aop("run", graph)
                #expect(text.status == 2 && text.stderr.contains("each: forEach needs a list"), "\(text)")
                #expect(text.text.contains("failed: 1 operation, none of them failed, but a group or forEach in "), "\(text)")
                let json = try JSON(parsing: try await harness.aop("run", graph, "-o", "json").text)
                #expect(json["state"] == "failed" && json["counts"]["failed"] == 0 && json["errors"][0]["path"] == "each", "\(json)")
            }
        }

        @Test func unknownOperation_isRefusedWithItsPlace() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("unknown.yaml", "group:\n  - run: echo hi\n  - op: NoSuchOperation\n")
                let finished = try await harness.aop("run", graph)
                #expect(finished.status == 6, "\(finished)")
                #expect(finished.stderr.contains("unknown.yaml:3:"))
                #expect(finished.stderr.contains("NoSuchOperation"))
            }
        }

        @Test func largeOutput_reachesReceiverAndSubmitterWhole() async throws {
            try await ProcessHarness.with { harness in
                let bytes = 50_000_000
                let graph = try harness.write(
                    "large.yaml",
                    """
                    ordered:
                      - {id: big, run: "yes 0123456789abcde | head -c \(bytes)"}
                      - {id: size, receives: big, run: wc -c, output: json}

                    """)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 0, "\(finished.stderr)")
                let value = try JSON(parsing: finished.text)["value"]
                // Its last line break is the one that `output: text` removes.
                #expect(value[0].string?.utf8.count == bytes - 1)
                #expect(value[1] == .number(Double(bytes - 1)))
                #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
            }
        }

        @Test func outputAboveItsLimit_failsAndNamesLimitSizeAndKey() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "limit.yaml", "group:\n  - {id: big, run: head -c 5000000 /dev/zero, output: bytes, maxOutput: 1MiB}\n")
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let error = try JSON(parsing: finished.text)["errors"][0]
                #expect(error["code"] == "limit")
                #expect(error["message"].string?.contains("maxOutput (1 MiB)") == true, "\(error)")
            }
        }

        @Test(arguments: [SIGINT, SIGTERM]) func signal_cancelsTheWork_andLeavesNothing(_ signal: Int32) async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "long.yaml", "group:\n  - run: touch '\(harness.directory)/started'; sleep 600 & sleep 600; wait\n")
                let run = harness.startAOP("run", graph, "-o", "json")
                try await eventually("the command runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/started") }
                try await run.send(signal)
                let finished = try await run.finish()
                #expect(finished.status == 130, "\(finished)")
                #expect(try JSON(parsing: finished.text)["state"] == "cancelled")
                #expect(harness.processes().isEmpty, "\(harness.processes())")
                #expect(harness.temporaryFiles.isEmpty, "\(harness.temporaryFiles)")
            }
        }

        @Test func kill9OfRun_endsItsProcesses_andRemovesItsFiles() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("long.yaml", "group:\n  - run: touch '\(harness.directory)/started'; sleep 600\n")
                let run = harness.startAOP("run", graph)
                try await eventually("the command runs") { FileManager.default.fileExists(atPath: "\(harness.directory)/started") }
                try await run.send(SIGKILL)
                try await eventually("no process is left") { harness.processes().isEmpty }
                try await eventually("no file is left") { harness.temporaryFiles.isEmpty }
            }
        }

        @Test func deadlines_endTheWork_exit3ForTheWhole_exit2ForAMember() async throws {
            try await ProcessHarness.with { harness in
                let whole = try harness.write("whole.yaml", "group:\n  - {id: slow, run: sleep 600}\ndeadline: 700ms\n")
                let finished = try await harness.aop("run", whole, "-o", "json")
                #expect(finished.status == 3, "\(finished)")
                let result = try JSON(parsing: finished.text)
                #expect(result["errors"][0]["code"] == "deadline")
                #expect(result["errors"][0]["message"] == "did not end within 700 ms")
                #expect(result["counts"]["cancelled"] == 1)
                let member = try harness.write(
                    "member.yaml",
                    "ordered:\n  - {run: 'true', delay: 200ms}\n  - {id: slow, run: sleep 600, deadline: 900ms}\n")
                let failed = try await harness.aop("run", member, "-o", "json")
                #expect(failed.status == 2, "\(failed)")
                #expect(try JSON(parsing: failed.text)["errors"][0]["path"] == "slow")
                #expect(harness.processes().isEmpty, "\(harness.processes())")
            }
        }

        @Test func timeoutOfTheClient_cancelsARun_withExit124() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("long.yaml", "group:\n  - run: sleep 600\n")
                let finished = try await harness.aop("run", graph, "--timeout", "1s")
                #expect(finished.status == 124, "\(finished)")
                #expect(harness.processes().isEmpty, "\(harness.processes())")
            }
        }

        @Test func manyOperations_inOneGroup() async throws {
            try await ProcessHarness.with { harness in
                let nodes = String(repeating: "  - exec: [\"true\"]\n", count: 400)
                let graph = try harness.write("many.yaml", "group:\n" + nodes)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 0, "\(finished.stderr.suffix(2000))")
                #expect(try JSON(parsing: finished.text)["counts"]["succeeded"] == 400)
            }
        }

        @Test func dataDirectory_isKept() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write("one.yaml", "group:\n  - run: echo kept\n")
                let finished = try await harness.aop("run", graph, "--data", "kept")
                #expect(finished.status == 0, "\(finished)")
                #expect(FileManager.default.fileExists(atPath: "\(harness.directory)/kept"))
                #expect(harness.temporaryFiles.isEmpty)
            }
        }
    }
}

/// The built programs as a user starts them. One test at a time: each starts several processes.
@Suite(.serialized) enum SystemTests {}
