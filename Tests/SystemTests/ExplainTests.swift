import Foundation
import Testing

extension SystemTests {
    /// `aop explain` with real processes.
    @Suite struct Explaining {
        private func explain(_ harness: ProcessHarness, _ reference: String) async throws -> JSON {
            let finished = try await harness.aop("explain", reference, "-o", "json")
            #expect(finished.status == 0, "\(finished)")
            return try JSON(parsing: finished.text)
        }

        /// One that runs under a lock, and those that wait for it, for their turn, for a worker and to be resumed.
        private func stage(_ harness: ProcessHarness) async throws -> String {
            let graph = try harness.write(
                "waits.yaml",
                """
                group:
                  - {id: load, run: "echo x >> '\(harness.directory)/log'; sleep 600", exclusive: db}
                  - {id: report, run: echo, exclusive: db}
                  - {id: sum, run: cat, receives: load}
                  - {id: train, run: echo, requires: {label: fast}}
                  - {id: later, run: echo, delay: 2h}
                  - id: steps
                    after: load
                    ordered: [{id: one, run: echo}, {id: two, run: echo}]

                """)
            let id = try await harness.aop("submit", graph, "--wait-for-workers", "-o", "quiet").text.trimmingCharacters(in: .newlines)
            try await eventually("the first runs") { harness.lines(of: "log") == ["x"] }
            try await eventually("the coordinator knows") {
                try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["operations"][0]["state"] == "running"
            }
            return id
        }

        @Test func whatWaits_isExplained_inJSON_alsoAfterARestartOfTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let id = try await stage(harness)
                let report = try await explain(harness, "\(id)/report")
                #expect(
                    report.keys == [
                        "schema", "id", "operation", "type", "state", "since", "blockers", "moreBlockers", "causes", "history", "waiting",
                        "moreWaiting", "waitingIsPartial", "at",
                    ])
                #expect(report["schema"] == 1 && report["operation"] == .string("\(id)/report") && report["state"] == "locking")
                let lock = report["blockers"][0]
                #expect(lock["kind"] == "lock" && lock["position"] == 1 && lock["lock"]["key"] == "db")
                #expect(lock["lock"]["holders"][0]["operation"] == .string("\(id)/load"))
                #expect(lock["lock"]["holders"][0]["token"].string.flatMap { UInt64($0) } != nil)
                #expect(lock["text"].string?.contains("held by \(id)/load on ") == true, "\(lock)")
                #expect(report["history"].elements.map { $0["event"] } == ["submitted", "queued", "locksAsked"])
                func blocker(_ path: String) async throws -> JSON { try await explain(harness, "\(id)/\(path)")["blockers"][0] }
                let sum = try await blocker("sum")
                #expect(sum["kind"] == "delivery" && sum["operation"] == .string("\(id)/load") && sum["state"] == "running")
                let train = try await blocker("train")
                #expect(train["kind"] == "worker" && train["missing"] == "requirements")
                #expect(train["remedy"] == "start one with `aop worker --label fast`")
                let delay = try await blocker("later")
                #expect(delay["kind"] == "delay" && delay["until"].string?.hasSuffix("Z") == true)
                let steps = try await explain(harness, "\(id)/steps/two")["blockers"].elements
                #expect(steps.map { $0["kind"] } == ["group", "order"] && steps[0]["operation"] == .string("\(id)/steps"))
                _ = try await harness.aop("pause", "\(id)/train")
                #expect(try await blocker("train")["kind"] == "paused")
                let whole = try await explain(harness, id)
                #expect(whole["state"] == "running" && whole["operation"] == .string(id) && whole["blockers"] == [])
                #expect(whole["waiting"].elements.map { $0["kind"] } == ["lock", "paused", "delay", "group", "delivery", "dependency"])

                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                _ = try await harness.waitForExecutors(1)
                let again = try await explain(harness, "\(id)/report")["blockers"][0]
                #expect(again["lock"]["holders"] == lock["lock"]["holders"] && again["position"] == 1)
                _ = try await harness.aop("cancel", id, "--now", "--wait")
            }
        }

        @Test func whatWaits_isExplained_inWords_withWhatToDo() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1")
                _ = try await harness.waitForExecutors(1)
                let id = try await stage(harness)
                let report = try await harness.aop("explain", "\(id)/report").text
                #expect(report.hasPrefix("\(id)/report is locking since "), "\(report)")
                #expect(
                    report.contains(": one thing is in its way.\n\n  lock  waits for the lock `db`, held by \(id)/load on "), "\(report)")
                #expect(
                    report.contains("\n        → `aop explain \(id)/load` says how far that is; `aop locks show db` has the line"),
                    "\(report)")
                #expect(report.contains("locksAsked"))
                let load = try await harness.aop("explain", "\(id)/load").text
                #expect(load.contains("/load is running since ") && load.contains("nothing is in its way"), "\(load)")
                let whole = try await harness.aop("explain", id).text
                #expect(whole.contains("in it wait.\n\nIn it wait:\n  1  lock  waits for the lock `db`"), "\(whole)")
                #expect(try await harness.aop("explain", "\(id)/report", "-o", "quiet").text == "lock\n")
                let wrong = try await harness.aop("explain", "\(id)/reprt")
                #expect(wrong.status == 5 && wrong.stderr.contains("did you mean `report`?"), "\(wrong)")
                #expect(try await harness.aop("explain", "zzzz").status == 5)
                _ = try await harness.aop("cancel", id, "--now", "--wait")
            }
        }

        @Test func failureThroughTwoDeliveries_andAFailedCondition_areExplainedToTheirOrigins() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let graph = try harness.write(
                    "past.yaml",
                    """
                    group:
                      - {id: fetch, run: "echo no route >&2; exit 7"}
                      - {id: parse, run: cat, receives: fetch}
                      - {id: load, run: cat, receives: parse}
                      - {id: gated, run: echo, conditions: [{fileExists: '\(harness.directory)/never'}]}

                    """)
                #expect(try await harness.aop("submit", graph, "--wait", "-o", "quiet").status == 2)
                let load = try await explain(harness, "last/load")
                let id = try #require(load["id"].string)
                #expect(load["state"] == "failed" && load["blockers"] == [])
                #expect(load["causes"].elements.map { $0["operation"] } == ["load", "parse", "fetch"].map { .string("\(id)/\($0)") })
                #expect(load["causes"].elements.map { $0["link"] } == ["itself", "producer", "producer"])
                #expect(load["causes"][2]["error"]["exitCode"] == 7 && load["causes"][2]["error"]["code"] == "exit")
                let text = try await harness.aop("explain", "last/load").text
                #expect(
                    text.contains("has failed ") && text.contains("because of \(id)/fetch.") && text.contains("    no route\n"), "\(text)")
                let gated = try await explain(harness, "last/gated")
                let condition = gated["causes"][0]["condition"]
                #expect(condition["condition"] == "FileExists" && condition["verdict"] == "failed" && condition["at"].string != nil)
                #expect(condition["evaluator"].string?.hasSuffix("/0") == true, "\(condition)")
                #expect(gated["history"].elements.map { $0["event"] } == ["submitted", "queued", "verdict", "ended"])
                #expect(try await explain(harness, "last")["causes"].elements.map { $0["link"] } == ["itself", "child"])
            }
        }
    }
}
