import Foundation
import Testing

extension SystemTests {
    /// `aop events`.
    @Suite struct Events {
        private static let work = """
            name: work
            ordered:
              - {id: a, run: echo 1}
              - {id: b, run: "exit 3", retry: {attempts: 1, backoff: {initial: 50ms}}}

            """

        private struct Line: Hashable {
            var id: String
            var path: String
            var event: String
            var attempt: Int
        }

        private func lines(_ text: String) throws -> [Line] {
            // The last one may be on its way.
            try text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n").map { line in
                let event = try JSON(parsing: String(line))
                #expect(event.keys.isSuperset(of: ["at", "id", "name", "event", "path", "attempt", "worker", "error"]))
                return Line(
                    id: event["id"].string ?? "", path: event["path"].string ?? "", event: event["event"].string ?? "",
                    attempt: Int(event["attempt"].number ?? 0))
            }
        }

        @Test func past_isToldInOrder() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                let file = try harness.write("work.yaml", Self.work)
                #expect(try await harness.aop("submit", file, "--wait").status == 2)
                let id = try #require(JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"][0]["id"].string)

                let quiet = try await harness.aop("events", "-o", "quiet")
                let told = quiet.text.split(separator: "\n").map(String.init)
                #expect(
                    told.filter { !$0.hasPrefix("worker ") } == [
                        "\(id) submitted", "\(id)/a running", "\(id)/a succeeded", "\(id)/b running", "\(id)/b retrying", "\(id)/b running",
                        "\(id)/b failed", "\(id) failed",
                    ], "\(quiet)")
                #expect(told.filter { $0.hasPrefix("worker ") && $0.hasSuffix("/0 joined") }.count == 1, "\(quiet)")
                let json = try JSON(parsing: try await harness.aop("events", "-o", "json", "--since", "1h").text)
                #expect(json.keys == ["schema", "since", "events"])
                #expect(json["events"].elements.map { $0["event"] }.last == "failed")
                let attempts = json["events"].elements.filter { $0["path"].string == "b" }
                #expect(attempts.map { $0["attempt"].number } == [1, 1, 2, 2])
                #expect(attempts.filter { $0["error"].string?.contains("exited with 3") == true }.count == 2)
                let joined = try #require(json["events"].elements.first { $0["event"] == "joined" })
                #expect(joined["id"] == .null && joined["path"] == .null && joined["worker"].string?.hasSuffix("/0") == true)
                #expect(joined["text"].string?.hasPrefix("with ") == true)
                let text = try await harness.aop("events")
                #expect(text.text.contains("failed     b  attempt 2  ("), "\(text)")
                #expect(try await harness.aop("events", "--since", "2999-01-01T00:00:00Z").text.isEmpty)
            }
        }

        @Test func followed_acrossARestartOfTheCoordinator_everyStartAndEndIsToldOnce() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let slow = try harness.write(
                    "slow.yaml",
                    "ordered:\n  - {id: a, run: echo 1}\n  - {id: b, run: \"until [ -e '\(harness.directory)/go' ]; do sleep 0.05; done\"}\n"
                )
                // One that was there before, and is no news but for its end.
                #expect(try await harness.aop("submit", slow, "-o", "quiet").status == 0)
                try await eventually("b runs") { try await harness.aop("show", "last").text.contains("running") }
                let follower = harness.startAOP("events", "-f", "-o", "jsonl")
                let file = try harness.write("work.yaml", Self.work)
                // It is known to follow when it has told something.
                try await eventually("a submission is told") {
                    _ = try await harness.aop("submit", file, "--wait")
                    return follower.stdout.contains("submitted")
                }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                #expect(try await harness.aop("submit", file, "--wait").status == 2)
                let last = try #require(JSON(parsing: try await harness.aop("list", "-o", "json").text)["submissions"][0]["id"].string)
                _ = try harness.write("go", "")
                try await eventually("all ends are told") {
                    let told = try lines(follower.stdout)
                    let begun = Set(told.filter { $0.event == "submitted" }.map(\.id))
                    let ended = Set(told.filter { $0.path.isEmpty && $0.event != "submitted" }.map(\.id))
                    return begun.contains(last) && ended.isSuperset(of: begun) && ended.count > begun.count
                }
                try await follower.send(SIGINT)
                #expect(try await follower.finish().status == 130)
                let told = try lines(follower.stdout)
                #expect(Set(told).count == told.count, "\(told)")
                for id in Set(told.filter { $0.event == "submitted" }.map(\.id)) {
                    let own = told.filter { $0.id == id }
                    #expect(own.filter { $0.path == "a" }.map(\.event) == ["running", "succeeded"], "\(own)")
                    #expect(own.filter { $0.path == "b" }.map(\.event).suffix(2) == ["running", "failed"], "\(own)")
                    #expect(own.first?.event == "submitted" && own.last == Line(id: id, path: "", event: "failed", attempt: 0), "\(own)")
                }
            }
        }

        @Test func workers_thatComeAndGo_areToldAsItHappens() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                let follower = harness.startAOP("events", "-f")
                let graph = try harness.write("short.yaml", "name: short\ngroup: [{id: a, op: noop}]\n")
                try await eventually("it follows") {
                    _ = try await harness.aop("submit", graph)
                    return follower.stdout.contains("submitted")
                }
                let worker = harness.startWorker()
                let pid = try #require(try await harness.waitForExecutors(1).first)
                let listed = try JSON(parsing: try await harness.aop("workers", "-o", "json").text)
                let name = try #require(listed["workers"][0]["id"].string)
                try await eventually("it joins") { follower.stdout.contains("worker      joined     \(name): with ") }
                #expect(try await harness.aop("workers", "drain", name, "--reason", "new disks").status == 0)
                try await eventually("it is drained") {
                    follower.stdout.contains("worker      draining   \(name): by an operator: new disks")
                }
                #expect(try await harness.aop("workers", "resume", name).status == 0)
                try await eventually("it takes work again") { follower.stdout.contains("worker      resumed    \(name)") }
                kill(pid, SIGKILL)
                try await eventually("its process is lost, and another one joins") {
                    follower.stdout.contains("worker      lost       \(name): its process has died")
                        && follower.stdout.components(separatedBy: " joined ").count == 3
                }
                try await worker.send(SIGTERM)
                _ = try await worker.finish()
                try await eventually("it leaves") { follower.stdout.contains("worker      left ") }
                try await follower.send(SIGINT)
                #expect(try await follower.finish().status == 130)
            }
        }

        @Test func whatCannotBe_isNamed() async throws {
            try await ProcessHarness.with { harness in
                let nobody = try await harness.aop("events", "--connect-timeout", "100ms")
                #expect(nobody.status == 69, "\(nobody)")
                for (arguments, words) in [
                    (["events", "-f", "-o", "json"], "use -o jsonl"), (["events", "--since", "yesterday"], "neither how long ago"),
                ] {
                    let refused = try await harness.start(BuiltProducts.aop, arguments).finish()
                    #expect(refused.status == 64 && (refused.stderr + refused.text).contains(words), "\(refused)")
                }
                _ = try await harness.startCoordinator()
                let late = try await harness.aop("events", "-f", "--timeout", "300ms")
                #expect(late.status == 124, "\(late)")
            }
        }
    }
}
