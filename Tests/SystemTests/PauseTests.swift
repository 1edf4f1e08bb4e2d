import Foundation
import Testing

extension SystemTests {
    /// `aop pause` and `aop resume`.
    @Suite struct Pause {
        @Test func pausedSubmission_startsNothingMore_survivesARestart_andGoesOn() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1")
                _ = try await harness.waitForExecutors(1)
                let log = "\(harness.directory)/log"
                let go = "\(harness.directory)/go"
                let graph = try harness.write(
                    "pause.yaml",
                    """
                    ordered:
                      - {id: first, run: "mkfifo '\(go)'; echo first >> '\(log)'; cat '\(go)'"}
                      - id: g
                        group:
                          - {id: a, run: "echo a >> '\(log)'", exclusive: k}
                          - {id: b, run: "echo b >> '\(log)'"}

                    """)
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the first runs") { harness.lines(of: "log") == ["first"] }
                let paused = try await harness.aop("pause", id)
                #expect(paused.status == 0 && paused.text == "\(id): paused\n", "\(paused)")
                #expect(try await harness.aop("pause", id).text == "\(id): was paused already\n")
                #expect(try await harness.aop("list").text.contains("paused"))
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                _ = try await harness.waitForExecutors(1)
                _ = try await harness.aop("pause", "\(id)/g/b")
                try "x".write(toFile: go, atomically: false, encoding: .utf8)
                try await eventually("the first has ended") {
                    let shown = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)
                    return shown["operations"][0]["state"] == "succeeded"
                }
                let shown = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)
                #expect(shown["state"] == "paused")
                #expect(shown["operations"][1]["state"] == "paused" && shown["operations"][1]["waiting"]["kind"] == "paused")
                #expect(try await harness.aop("show", id).text.contains("paused; `aop resume \(id)` lets it go on"))
                #expect(harness.lines(of: "log") == ["first"])
                let inner = try await harness.aop("resume", "\(id)/g/b")
                #expect(inner.text == "\(id)/g/b: resumed; it waits on, because \(id) is paused\n")
                _ = try await harness.aop("pause", "\(id)/g/b")
                #expect(try JSON(parsing: try await harness.aop("resume", id, "-o", "json").text)["changed"] == .bool(true))
                try await eventually("a has run") { harness.lines(of: "log") == ["first", "a"] }
                _ = try await harness.aop("resume", "\(id)/g/b")
                #expect(try await harness.aop("wait", id, "-o", "quiet").status == 0)
                #expect(harness.lines(of: "log") == ["first", "a", "b"])
                let late = try await harness.aop("pause", id)
                #expect(late.status == 0 && late.text == "\(id): it had already ended\n")
            }
        }

        @Test func whatIsNotThere_isNotFound_andWhatIsPausedCanBeCancelled() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let graph = try harness.write("g.yaml", "group: [{id: a, run: echo}]\n")
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                for arguments in [["pause", "zzzz"], ["resume", "zzzz"], ["pause", "\(id)/nope"], ["resume", "\(id)/nope"]] {
                    let finished = try await harness.start(BuiltProducts.aop, arguments).finish()
                    #expect(finished.status == 5 && finished.stderr.contains("`aop "), "\(finished)")
                }
                _ = try await harness.aop("pause", id)
                #expect(try await harness.aop("cancel", id, "--wait").status == 4)
            }
        }
    }
}
