import AOperation
import Cluster
import Foundation
import Testing
import TrialOperations

extension SystemTests {
    /// `exclusive` over several workers: what real commands write while they hold a key.
    @Suite struct Locks {
        @Test func holdersOfOneKey_neverOverlap_acrossWorkers_andTokensRise() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "4")
                _ = harness.startWorker("--slots", "4")
                _ = try await harness.waitForExecutors(3)
                let graph = try LockLog.graph(in: harness, commands: 40, keys: [("a", 1), ("b", 1), ("c", 2)])
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let log = try LockLog(harness)
                #expect(log.lines.count == 80)
                #expect(log.mostInside("c") == 2)
                log.check(keys: ["a", "b"], commands: 40)
            }
        }

        @Test func holdersOfOneKey_neverOverlap_whileExecutorsAreKilled_andTheCoordinatorIsRestarted() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--processes", "2", "--slots", "4")
                _ = harness.startWorker("--processes", "2", "--slots", "4")
                let executors = try await harness.waitForExecutors(4)
                let keys = (0..<10).map { "k\($0)" }
                let graph = try LockLog.graph(in: harness, commands: 200, keys: keys.map { ($0, 1) })
                let submit = harness.startAOP("submit", graph, "--wait", "-o", "json")
                try await eventually("some have entered") { harness.lines(of: "log").count >= 40 }
                kill(executors[0], SIGKILL)
                try await eventually("work goes on") { harness.lines(of: "log").count >= 120 }
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                try await eventually("work goes on after the restart") { harness.lines(of: "log").count >= 200 }
                kill(executors[3], SIGKILL)
                let finished = try await submit.finish()
                #expect(finished.status == 0, "\(finished)")
                try LockLog(harness).check(keys: keys, commands: 200)
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

        @Test func whatCouldWaitForItself_endsAllTheSame() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "crossed.yaml",
                    """
                    group:
                      - {run: 'true', exclusive: [a, b]}
                      - {run: 'true', exclusive: [b, a]}
                      - {group: [{run: 'true', exclusive: b}, {run: 'true', exclusive: a}], exclusive: a}
                      - {group: [{run: 'true', exclusive: a}, {run: 'true', exclusive: b}], exclusive: b}
                      - {ordered: [{run: 'true', exclusive: {key: a, limit: 2}}], exclusive: a}

                    """)
                let finished = try await harness.aop("run", graph, "--workers", "2", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                #expect(try JSON(parsing: finished.text)["counts"]["succeeded"] == 7)
            }
        }

        /// What is produced names a key that the other group holds, which waits for one of this group's.
        @Test func circleThatArisesAtRunTime_failsTheOneThatClosesIt_byName_andTheOtherGoesOn() async throws {
            try await ProcessHarness.with { harness in
                let coordinator = try await harness.startCoordinator()
                _ = harness.startTrialWorker()
                _ = harness.startTrialWorker()
                _ = try await harness.waitForExecutors(2)
                let cluster = try await harness.connect()
                let log = "\(harness.directory)/log"
                func group(_ name: String, holding key: String, then other: String) -> GroupOperation {
                    let sprout = Sprout(name, log: log) { parameters in
                        parameters.makes = [.init("after-\(name)", log: log)]
                        parameters.makes[0].key = other
                        parameters.until = "\(harness.directory)/go-\(name)"
                    }
                    sprout.name = name
                    let group = GroupOperation(sprout).exclusive(key)
                    group.name = "of-\(name)"
                    return group
                }
                let (first, second) = (group("one", holding: "k", then: "l"), group("two", holding: "l", then: "k"))
                let submission = try await cluster.submit(GroupOperation(first, second))
                try await eventually("both run") { harness.lines(of: "log").count == 2 }
                _ = try harness.write("go-one", "")
                try await eventually("the first one waits for the other's key") {
                    let locks = try JSON(parsing: try await harness.aop("locks", "-o", "json").text)["locks"].elements
                    return locks.contains { $0["key"].string == "l" && $0["waiting"].elements.count == 1 }
                }
                // Whoever asks after a restart closes it all the same.
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                _ = try await harness.startCoordinator()
                _ = try harness.write("go-two", "")
                let outcome = try await submission.outcome()
                #expect(!outcome.isSuccess && first.outcome?.isSuccess == true, "\(outcome.errors)")
                let error = try #require(outcome.errors.first?.publishedError as? AOperationError.LockCycle)
                #expect(outcome.errors.count == 1 && error.keys == ["k"] && error.holders.count == 1, "\(outcome.errors)")
                let lines = harness.lines(of: "log")
                #expect(lines.contains("-after-one") && lines.contains("-two") && !lines.contains("+after-two"), "\(lines)")
                await cluster.close()
            }
        }

        @Test func twoKeysInBothOrders_aThousandTimes_allEnd() async throws {
            try await ProcessHarness.with { harness in
                let pair = "  - {op: noop, exclusive: [a, b]}\n  - {op: noop, exclusive: [b, a]}\n"
                let graph = try harness.write("crossed.yaml", "group:\n" + String(repeating: pair, count: 1_000))
                let finished = try await harness.aop("run", graph, "--workers", "2", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                #expect(try JSON(parsing: finished.text)["counts"]["succeeded"] == 2_000)
            }
        }

        @Test func memberThatWaitsForAHolderOutside_isRefused_byName() async throws {
            try await ProcessHarness.with { harness in
                let graph = try harness.write(
                    "refused.yaml",
                    """
                    group:
                      - {id: other, run: 'true', exclusive: a}
                      - {id: g, exclusive: a, group: [{id: member, after: other, run: 'true'}]}

                    """)
                let refused = try await harness.aop("run", graph)
                #expect(refused.status == 6, "\(refused)")
                #expect(refused.stderr.contains("g/member: waits for `other`, which needs the key `a`"), "\(refused)")
            }
        }

        @Test func locks_areShownWithHolderTokenAndLine_andTheOperationThatWaitsNamesItsHolder() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                let go = "\(harness.directory)/go"
                let graph = try harness.write(
                    "two.yaml",
                    """
                    group:
                      - {id: a, exclusive: db, run: "mkfifo '\(go)'; echo $AOP_FENCE_DB > '\(harness.directory)/token'; cat '\(go)'"}
                      - {id: b, exclusive: db, run: 'true'}

                    """)
                let id = try await harness.aop("submit", graph, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let token: String = try await eventually("a runs") { harness.lines(of: "token").first }

                let locks = try JSON(parsing: try await harness.aop("locks", "-o", "json").text)["locks"]
                #expect(locks.elements.count == 1)
                #expect(locks[0]["key"] == "db" && locks[0]["limit"] == 1)
                #expect(locks[0]["holders"][0].keys == ["operation", "worker", "token", "since"])
                #expect(locks[0]["holders"][0]["operation"] == JSON.string("\(id)/a"))
                #expect(locks[0]["holders"][0]["token"] == JSON.string(token))
                #expect(locks[0]["waiting"][0]["operation"] == JSON.string("\(id)/b"))

                let one = try await harness.aop("locks", "show", "db")
                #expect(one.text.contains(token) && one.text.contains("\(id)/b"), "\(one)")
                let none = try await harness.aop("locks", "show", "other")
                #expect(none.status == 5 && none.stderr.contains("no operation holds the lock `other` or waits for it"), "\(none)")
                let noValue = try await harness.aop("locks", "show", "other", "-o", "json")
                #expect(noValue.status == 5 && noValue.text.contains("\"locks\":[]"), "\(noValue)")

                let shown = try await harness.aop("show", id)
                #expect(shown.text.contains("waits for the key `db`, held by \(id)/a on "), "\(shown)")
                #expect(shown.text.contains(" with the token \(token) since "), "\(shown)")
                let operations = try JSON(parsing: try await harness.aop("show", id, "-o", "json").text)["operations"]
                #expect(operations[1]["state"] == "locking")
                #expect(operations[1]["locks"][0]["holders"][0]["operation"] == JSON.string("\(id)/a"))

                close(open(go, O_WRONLY))
                #expect(try await harness.aop("wait", id, "-o", "quiet").status == 0)
                let empty = try await harness.aop("locks")
                #expect(empty.text == "no operation holds a lock or waits for one\n", "\(empty)")
            }
        }

        @Test func deadlineOfAWaiter_endsItInLine_andThatOfAHolderPassesItsLockOn() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "4")
                let command = "echo yes >> '\(harness.directory)/began'; exec sleep 600"
                let long = try harness.write("long.yaml", "group:\n  - {run: \"\(command)\", exclusive: db}\n")
                let short = try harness.write("short.yaml", "group:\n  - {run: 'true', exclusive: db}\n")
                let first = try await harness.aop("submit", long, "-o", "quiet").text.trimmingCharacters(in: .newlines)
                try await eventually("the first holder runs") { !harness.lines(of: "began").isEmpty }
                let waiter = try await harness.aop("submit", short, "--wait", "--deadline", "200ms", "-o", "json")
                #expect(waiter.status == 3, "\(waiter)")
                #expect(try JSON(parsing: waiter.text)["counts"]["cancelled"] == 1)
                let locks = try JSON(parsing: try await harness.aop("locks", "-o", "json").text)["locks"]
                #expect(locks[0]["holders"].elements.count == 1 && locks[0]["waiting"].elements.isEmpty)
                #expect(try await harness.aop("cancel", first).status == 0)

                let second = try await harness.aop("submit", long, "--deadline", "2s", "-o", "quiet").text.trimmingCharacters(in: .newlines)
                let next = try await harness.aop("submit", short, "--wait", "-o", "json")
                #expect(next.status == 0, "\(next)")
                #expect(try await harness.aop("wait", second, "-o", "quiet").status == 3)
                #expect(harness.processes(with: "sleep 600").isEmpty, "\(harness.processes())")
            }
        }
    }
}

/// What commands wrote when they entered and left, with the key that they held and their token.
struct LockLog {
    struct Line {
        let isEntry: Bool
        /// Of an entry under a key that lets one in: nothing of those who were inside before was there any more, as the kernel says.
        let isAlone: Bool
        let key: String
        let token: UInt64
        let path: String
    }

    let lines: [Line]

    init(_ harness: ProcessHarness) throws {
        lines = try harness.lines(of: "log").map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 4, "\(line)")
            return Line(
                isEntry: words[0] != "leave", isAlone: words[0] == "alone", key: words[1],
                token: try #require(UInt64(words[2]), "\(line)"), path: words[3])
        }
    }

    /// A group of commands that take the keys in turn and stay inside for a moment.
    static func graph(in harness: ProcessHarness, commands: Int, keys: [(name: String, limit: Int)]) throws -> String {
        let file = "\(harness.directory)/log"
        let nodes = (0..<commands).map { number in
            let key = keys[number % keys.count]
            let words = "\(key.name) $AOP_FENCE_\(key.name.uppercased()) $AOP_PATH"
            // Held as long as the shell or its child lives: also by those who are killed, and not a moment longer.
            let entry = key.limit == 1 ? "exec 9>>'\(file).\(key.name)'; flock -n 9 && how=alone || how=beside; " : "how=enter; "
            return "  - {exclusive: {key: \(key.name), limit: \(key.limit)}, "
                + "run: \"\(entry)echo $how \(words) >> '\(file)'; sleep 0.05; echo leave \(words) >> '\(file)'\"}\n"
        }
        return try harness.write("locks.yaml", "group:\n" + nodes.joined())
    }

    /// The most that were inside at once under the key. Who was killed has not left, and was inside until another one found itself alone.
    func mostInside(_ key: String) -> Int {
        var inside: Set<UInt64> = []
        var most = 0
        for line in lines where line.key == key {
            if line.isAlone { inside = [] }
            if line.isEntry { inside.insert(line.token) } else { inside.remove(line.token) }
            most = max(most, inside.count)
        }
        return most
    }

    /// The most that were inside at once under all keys, without those who were killed: nobody says when these ended.
    private var mostInsideTogether: Int {
        let left = Set(lines.filter { !$0.isEntry }.map { "\($0.key) \($0.token)" })
        var inside = 0
        return lines.reduce(0) { most, line in
            guard left.contains("\(line.key) \(line.token)") else { return most }
            inside += line.isEntry ? 1 : -1
            return max(most, inside)
        }
    }

    /// - Parameter keys: those that let one in.
    func check(keys: [String], commands: Int) {
        for key in keys {
            #expect(mostInside(key) == 1, "\(key)")
            let tokens = lines.filter { $0.isEntry && $0.key == key }.map(\.token)
            #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 }, "\(key): \(tokens)")
            // The epoch is a time in seconds.
            #expect(tokens.allSatisfy { $0 >> 32 > 1_600_000_000 })
        }
        #expect(mostInsideTogether > 2, "different keys do not wait for each other")
        #expect(Set(lines.filter { !$0.isEntry }.map(\.path)).count == commands)
    }
}
