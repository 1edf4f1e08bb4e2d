import Foundation
import Testing

extension SystemTests {
    /// `requires` over real workers.
    @Suite struct Placement {
        /// Each command says which GPU it has when it begins and when it ends.
        private func graph(_ harness: ProcessHarness, commands: Int) throws -> String {
            let log = "'\(harness.directory)/log'"
            let line = "echo in $AOP_RESOURCE_GPUS $CUDA_VISIBLE_DEVICES >> \(log); sleep 0.02; echo out $AOP_RESOURCE_GPUS x >> \(log)"
            let node = "  - {run: \"\(line)\", requires: {gpus: 1}}\n"
            return try harness.write("gpus.yaml", "group:\n" + String(repeating: node, count: commands))
        }

        @Test func resources_areShared_andNeverGivenOutTwice_alsoAcrossARestartOfTheCoordinator() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "4", "--resource", "gpus=3")
                _ = try await harness.waitForExecutors(2)
                let submit = harness.startAOP("submit", try graph(harness, commands: 60), "--wait", "-o", "json")
                try await eventually("some have run") { harness.lines(of: "log").count >= 30 }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                let finished = try await submit.finish()
                #expect(finished.status == 0, "\(finished)")
                var inside: Set<String> = []
                var most = 0
                for line in harness.lines(of: "log") {
                    let words = line.split(separator: " ").map(String.init)
                    guard words.count == 3 else {
                        Issue.record("\(line)")
                        continue
                    }
                    if words[0] == "in" {
                        #expect(["0", "1", "2"].contains(words[1]) && words[1] == words[2], "\(line)")
                        #expect(inside.insert(words[1]).inserted, "two have GPU \(words[1])")
                    } else {
                        inside.remove(words[1])
                    }
                    most = max(most, inside.count)
                }
                #expect(most > 1)
                let workers = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)["workers"]
                #expect(workers[0]["resources"]["gpus"]["amount"] == 3 && workers[0]["resources"]["gpus"]["taken"] == 0)
                #expect(workers[1]["resources"]["memory"]["amount"].number ?? 0 > 0)
            }
        }

        @Test func killedExecutor_givesBackWhatItsCommandsHad() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "4", "--resource", "gpus=1")
                let executors = try await harness.waitForExecutors(2)
                let graph = try harness.write(
                    "g.yaml",
                    "group: [{id: a, run: 'echo x >> \"\(harness.directory)/log\"; test $AOP_ATTEMPT -gt 1 || sleep 100', requires: {gpus: 1}}]\n"
                )
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("it runs") { harness.lines(of: "log").count == 1 }
                for executor in executors { kill(executor, SIGKILL) }
                #expect(try await submit.finish().status == 0)
            }
        }

        @Test func labels_sayWhere_showSaysWhatIsMissing_andWhatNobodyHasIsRefused() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let graph = try harness.write(
                    "labels.yaml",
                    "requires: {label: fast}\ngroup: [{id: a, run: 'echo $AOP_WORKER'}, {id: b, run: echo, requires: {cpus: 1}}]\n")
                // Nobody was ever there: everything counts as satisfiable.
                let early = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let waiting = try JSON(parsing: try await harness.aop("show", early, "-o", "json").text)["operations"][0]["waiting"]
                #expect(waiting["kind"] == "worker" && waiting["text"] == "no worker is there")
                let plain = harness.startWorker("--processes", "1")
                _ = try await harness.waitForExecutors(1)
                let shown = try await harness.aop("show", early)
                #expect(shown.text.contains("no worker that is there has the label `fast`"), "\(shown)")
                let refused = try await harness.aop("submit", graph)
                #expect(refused.status == 6)
                #expect(
                    refused.stderr.contains(
                        "labels.yaml:1:1: requires the label `fast`, and no worker that was ever there has it: none has the label `fast`; ask for less,"
                            + " start a worker with `--label fast`, or submit with --wait-for-workers"), "\(refused)")
                #expect(try await harness.aop("check", graph).status == 6)
                let later = try await harness.aop("submit", graph, "--wait-for-workers", "-o", "quiet").text
                    .trimmingCharacters(in: .newlines)
                _ = harness.startWorker("--label", "fast", "--label", "zone=a")
                for id in [early, later] { #expect(try await harness.aop("wait", id, "-o", "quiet").status == 0) }
                #expect(try await harness.aop("check", graph).status == 0)
                try await plain.send(SIGTERM)
            }
        }

        @Test func run_refusesWhatThisMachineHasNot_andTakesFlags() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "run.yaml", "group: [{run: 'echo $AOP_RESOURCE_GPUS', requires: {gpus: 2, label: fast}}]\n")
                let refused = try await harness.aop("run", graph)
                #expect(refused.status == 6 && refused.stderr.contains("requires 2 gpus and the label `fast`"), "\(refused)")
                let run = try await harness.aop("run", graph, "--resource", "gpus=2", "--label", "fast", "-o", "json")
                #expect(run.status == 0, "\(run)")
                #expect(try JSON(parsing: run.text)["value"][0] == "0,1")
                let wrong = try await harness.aop("run", graph, "--resource", "gpus")
                #expect(wrong.status == 64 && wrong.stderr.contains("--resource is `gpus`; write it as gpus=2"), "\(wrong)")
            }
        }
    }
}
