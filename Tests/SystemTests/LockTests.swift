import Foundation
import Testing

extension SystemTests {
    /// `exclusive` over several workers: what real commands write while they hold a key.
    @Suite struct Locks {
        /// Commands that say when they enter and leave, with their token. Keys `a` and `b` let one in, `c` two.
        private func graph(_ harness: ProcessHarness, each: Int) throws -> String {
            func node(_ id: String, _ key: String, _ exclusive: String) -> String {
                let fence = "$AOP_FENCE_\(key.uppercased())"
                let file = "\(harness.directory)/log"
                return "  - {id: \(id), exclusive: \(exclusive), run: \"echo enter \(key) \(fence) >> '\(file)'; sleep 0.1; "
                    + "echo leave \(key) \(fence) >> '\(file)'\"}\n"
            }
            var text = "group:\n"
            for number in 0..<each {
                text += node("a\(number)", "a", "a") + node("b\(number)", "b", "[b]")
                text += node("c\(number)", "c", "{key: c, limit: 2}")
            }
            return try harness.write("locks.yaml", text)
        }

        private struct Line {
            let isEntry: Bool
            let key: String
            let token: UInt64
        }

        private func log(_ harness: ProcessHarness) throws -> [Line] {
            try harness.lines(of: "log").map { line in
                let words = line.split(separator: " ").map(String.init)
                try #require(words.count == 3, "\(line)")
                return Line(isEntry: words[0] == "enter", key: words[1], token: try #require(UInt64(words[2]), "\(line)"))
            }
        }

        /// The most that were inside at once. Those that never left were killed; `keys`: of which.
        private func mostInside(_ log: [Line], _ keys: Set<String>) -> Int {
            let left = Set(log.filter { !$0.isEntry }.map { "\($0.key) \($0.token)" })
            var inside = 0
            var most = 0
            for line in log where keys.contains(line.key) && left.contains("\(line.key) \(line.token)") {
                inside += line.isEntry ? 1 : -1
                most = max(most, inside)
            }
            return most
        }

        private func check(_ log: [Line]) {
            #expect(mostInside(log, ["a"]) == 1)
            #expect(mostInside(log, ["b"]) == 1)
            #expect(mostInside(log, ["c"]) == 2)
            #expect(mostInside(log, ["a", "b", "c"]) > 2, "different keys do not wait for each other")
            for key in ["a", "b"] {
                let tokens = log.filter { $0.isEntry && $0.key == key }.map(\.token)
                #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 }, "\(tokens)")
                #expect(tokens.allSatisfy { $0 >> 32 > 1_600_000_000 })
            }
        }

        @Test func holdersOfOneKey_neverOverlap_acrossWorkers_andTokensRise() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "3")
                _ = harness.startWorker("--slots", "3")
                _ = try await harness.waitForExecutors(3)
                let graph = try graph(harness, each: 10)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let log = try log(harness)
                #expect(log.count == 60)
                check(log)
            }
        }

        @Test func killedExecutorsAndCoordinator_letNoHoldersOverlap() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "3")
                _ = harness.startWorker("--slots", "3")
                let executors = try await harness.waitForExecutors(3)
                let graph = try graph(harness, each: 15)
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("some have entered") { harness.lines(of: "log").count >= 12 }
                kill(executors[0], SIGKILL)
                try await eventually("work goes on") { harness.lines(of: "log").count >= 30 }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                let finished = try await submit.finish()
                #expect(finished.status == 0, "\(finished)")
                let log = try log(harness)
                #expect(log.count >= 90)
                check(log)
            }
        }

        @Test func groupWithAKey_givesItsMembersTheToken() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "group.yaml",
                    """
                    group:
                      - id: g
                        exclusive: db/main
                        group:
                          - {id: a, run: 'echo "$AOP_FENCE_DB_MAIN $AOP_FENCES"'}

                    """)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let text = try #require(try JSON(parsing: finished.text)["value"][0][0].string)
                let token = text.prefix { $0 != " " }
                #expect(text == "\(token) {\"db/main\":\"\(token)\"}")
                #expect(UInt64(token) != nil)
            }
        }
    }
}
