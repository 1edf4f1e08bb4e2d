import AOperation
import Cluster
import Foundation
import Testing

extension SystemTests.Chaos {
    /// Who is killed.
    private enum Victim: String, CaseIterable {
        /// One process that runs operations; its supervisor says so.
        case executor
        /// The supervisor alone.
        case supervisor
        /// All of a worker at once: nobody says so.
        case host

        /// Milliseconds after which what it ran is meant to run again: at once with proof of its end, else when the lease is over, or that of
        /// locks. Who waits in line for a lock, or is given to somebody who is killed next, waits longer.
        func aim(isLocked: Bool) -> Double {
            switch self {
            case .executor: 300
            case .supervisor, .host: isLocked ? 20_500 : 3_500
            }
        }

        /// Milliseconds after which it has to run again. A kill meanwhile may have hit it where it was given out anew, before it began: it has
        /// the time of a lost host once more then.
        func limit(isLocked: Bool, isHitAgain: Bool, slack: Double) -> Double {
            aim(isLocked: isLocked) + slack + (isHitAgain ? Victim.host.aim(isLocked: isLocked) + slack : 0)
        }
    }

    /// An execution that was open where somebody was killed.
    private struct Loss {
        let execution: ChaosHistory.Execution
        let victim: Victim
        let at: UInt64
    }

    private static let hosts = 3

    /// A command under the key "db" with a child in a session of its own, until there is the file `go`. Each line of its log says whether
    /// anything was left of the one before, since that keeps the lock of the kernel.
    private static func lockedCommand(_ harness: ProcessHarness) throws -> String {
        let directory = harness.directory
        return try harness.write(
            "locked.yaml",
            """
            group:
              - id: a
                exclusive: db
                crashLimit: 1000
                run: >-
                  exec 9>>'\(directory)/lock'; flock -n 9 && how=alone || how=beside; echo "$how $PPID" >> '\(directory)/log';
                  setsid sleep 46000 & until [ -e '\(directory)/go' ]; do sleep 0.05; done

            """)
    }

    /// Every operation ends, once, with the value of the execution that counts; nobody is inside under a key twice; no process is left.
    @Test func workersKilledAgainAndAgain_everythingEnds_andNoProcessIsLeft() async throws {
        let scale = ChaosScale.current
        try await ProcessHarness.with { harness in
            var dice = Dice(seed: scale.seed &+ 1)
            let coordinator = try await Self.startCoordinator(harness)
            var hosts: [ChaosHost] = []
            for _ in 0..<Self.hosts { hosts.append(try await ChaosHost.start(harness, processes: 4, slots: 1)) }
            _ = try await harness.waitForExecutors(Self.hosts * 4)
            let cluster = try await harness.connect()
            // Fewer are open than there are slots, so that there is room for what is lost.
            let load = ChaosLoad(in: harness.directory, seed: scale.seed, isOrdered: true, operationsPerGraph: 6, milliseconds: 200...900)
            let running = Task { try await load.run(on: cluster, atOnce: 5) }
            let command = try await harness.aop("submit", Self.lockedCommand(harness), "-o", "quiet").text.trimmingCharacters(in: .newlines)
            var (losses, kills): ([Loss], [UInt64]) = ([], [])
            var dead: Set<Int32> = []
            for number in 0..<scale.workerKills {
                // Not faster than work gets done.
                try await eventually("operations have ended before kill \(number)", within: scale.patience) {
                    load.log.read().ended >= number
                }
                let place = try await eventually("something runs on a worker", last: { coordinator.stderr }) { () -> (Int, Int32)? in
                    let open = Set(load.log.read().open.map(\.process)).subtracting(dead)
                    let places = hosts.indices.flatMap { index in
                        hosts[index].executors.filter(open.contains).map { (index, $0) }
                    }
                    return places.randomElement(using: &dice)
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &dice)))
                let draw = Int.random(in: 0..<20, using: &dice)
                // Each at least once.
                let victim: Victim =
                    number < Victim.allCases.count ? Victim.allCases[number] : draw < 13 ? .executor : draw < 17 ? .supervisor : .host
                let host = hosts[place.0]
                let at = monotonicNanoseconds()
                kills.append(at)
                let killed: [Int32]
                switch victim {
                case .executor:
                    killed = [place.1]
                    host.send(SIGKILL, to: killed)
                case .supervisor:
                    killed = host.executors
                    host.send(SIGKILL, to: [host.supervisor])
                case .host: killed = host.vanish()
                }
                dead.formUnion(killed)
                losses += load.log.read().open.filter { killed.contains($0.process) }.map { Loss(execution: $0, victim: victim, at: at) }
                guard victim != .executor else { continue }
                _ = try await host.process.finish()
                hosts[place.0] = try await ChaosHost.start(harness, processes: 4, slots: 1)
            }
            load.stop()
            try await running.value
            try await Self.waitForEnds(of: load)
            _ = try harness.write("go", "")
            #expect(try await harness.aop("wait", command).status == 0)
            let log = harness.lines(of: "log")
            #expect(!log.isEmpty && log.allSatisfy { $0.hasPrefix("alone ") }, "\(log)")
            let known = hosts.map(\.supervisor) + [try await coordinator.pid()]
            try await eventually("no process is left", last: { "\(ProcessTable.remains(of: harness, besides: known))" }) {
                ProcessTable.remains(of: harness, besides: known).isEmpty
            }
            let check = ChaosCheck(history: load.log.read(), acknowledged: load.acknowledgements)
            let violations = check.ends() + check.repetitions { dead.contains($0.process) } + check.overlaps()
            #expect(violations.isEmpty, "\(violations.count): \(violations.prefix(20).joined(separator: "\n"))")
            #expect(!losses.isEmpty)
            await cluster.close()
            for host in hosts { host.send(SIGTERM, to: [host.supervisor]) }
            for host in hosts { _ = try await host.process.finish() }
            try await coordinator.send(SIGTERM)
            _ = try await coordinator.finish()
            #expect(harness.processes().isEmpty, "\(harness.processes())")
            print("chaos: \(scale.workerKills) kills during \(check.acknowledged.plans.count) operations")
            var late: [String] = []
            for victim in Victim.allCases {
                for isLocked in [false, true] {
                    var times = ChaosTimes()
                    for loss in losses where loss.victim == victim && (loss.execution.key != nil) == isLocked {
                        let next = check.history.executions(of: loss.execution.name).first { $0.began > loss.at }
                        guard let next else { continue }
                        let isHitAgain = kills.contains { $0 > loss.at && $0 < next.began }
                        times.add(from: loss.at, to: next.began, isHitAgain: isHitAgain)
                        let took = Double(next.began - loss.at) / 1e6
                        let limit = victim.limit(isLocked: isLocked, isHitAgain: isHitAgain, slack: scale.slackMilliseconds)
                        guard took > limit else { continue }
                        late.append(
                            "\(loss.execution.name): \(victim.rawValue) killed, \(isLocked ? "under a key" : "no key"), "
                                + "\(isHitAgain ? "another kill meanwhile" : "no other kill meanwhile"): it ran again after \(Int(took)) ms, and "
                                + "had \(Int(limit)) ms")
                    }
                    let title = "\(victim.rawValue) killed, \(isLocked ? "under a key" : "no key"): it runs again after"
                    print("  ", times.text(title, aim: victim.aim(isLocked: isLocked)))
                    // Who waits in line for a key waits longer.
                    if !isLocked { late += times.violations(title, aim: victim.aim(isLocked: isLocked), scale) }
                }
            }
            #expect(late.isEmpty, "\(late.count) late: \(late.prefix(20).joined(separator: "\n"))")
        }
    }

    /// It goes on without the process that should end it: the supervisor ends both before the lock is another's.
    @Test func commandOfAFrozenExecutor_isGone_beforeItsLockIsAnothers() async throws {
        try await ProcessHarness.with { harness in
            _ = try await Self.startCoordinator(harness)
            let worker = harness.startWorker("--processes", "2", "--slots", "1")
            _ = try await harness.waitForExecutors(2)
            let id = try await harness.aop("submit", Self.lockedCommand(harness), "-o", "quiet").text.trimmingCharacters(in: .newlines)
            let first: String = try await eventually("it runs") { harness.lines(of: "log").first }
            let frozen = try #require(first.split(separator: " ").last.flatMap { Int32($0) }, "\(first)")
            Foundation.kill(frozen, SIGSTOP)
            let second: String = try await eventually("it runs again", last: { worker.stderr }) {
                harness.lines(of: "log").dropFirst().first
            }
            #expect(first.hasPrefix("alone ") && second.hasPrefix("alone "), "\(first), \(second)")
            #expect(second != first && worker.stderr.contains("has been silent for too long and is killed"), "\(second) \(worker.stderr)")
            _ = try harness.write("go", "")
            #expect(try await harness.aop("wait", id).status == 0)
        }
    }

    /// Nobody of the worker is left who could end it, and nobody can say that it is dead: what runs under the key is gone all the same before
    /// the lease of locks is over.
    @Test func commandOfAWorkerThatIsKilledAsAWhole_isGone_beforeItsLockIsAnothers() async throws {
        try await ProcessHarness.with { harness in
            _ = try await Self.startCoordinator(harness)
            let worker = harness.startWorker("--slots", "1")
            let executors = try await harness.waitForExecutors(1)
            let supervisor = try await worker.pid()
            let id = try await harness.aop("submit", Self.lockedCommand(harness), "-o", "quiet").text.trimmingCharacters(in: .newlines)
            try await eventually("it runs, and its child", last: { worker.stderr }) {
                !harness.lines(of: "log").isEmpty && harness.processes(with: "sleep 46000").values.contains { $0.hasPrefix("sleep") }
            }
            // The supervisor must not see that its executor is gone.
            Foundation.kill(supervisor, SIGSTOP)
            for process in executors + [supervisor] { Foundation.kill(process, SIGKILL) }
            try await eventually("nothing is left of it", within: .seconds(10), last: { "\(harness.processes())" }) {
                harness.processes(with: "sleep").isEmpty && harness.processes(with: "guardian").isEmpty
            }
            #expect(harness.lines(of: "log").count == 1)
            _ = harness.startWorker("--slots", "1")
            try await eventually("it runs again") { harness.lines(of: "log").count == 2 }
            _ = try harness.write("go", "")
            #expect(try await harness.aop("wait", id).status == 0)
            let log = harness.lines(of: "log")
            #expect(log.allSatisfy { $0.hasPrefix("alone ") }, "\(log)")
        }
    }

    /// Whoever is frozen for longer than its lease is given up, and what it says when it goes on does not count.
    @Test func processesFrozenBeyondTheirLease_everythingEnds_andNothingOfTheirsCounts() async throws {
        let scale = ChaosScale.current
        try await ProcessHarness.with { harness in
            var dice = Dice(seed: scale.seed &+ 2)
            let coordinator = try await Self.startCoordinator(harness)
            var hosts: [ChaosHost] = []
            for _ in 0..<2 { hosts.append(try await ChaosHost.start(harness, processes: 2, slots: 2)) }
            _ = try await harness.waitForExecutors(4)
            let cluster = try await harness.connect()
            let load = ChaosLoad(in: harness.directory, seed: scale.seed, isOrdered: true, operationsPerGraph: 6, milliseconds: 200...900)
            let running = Task { try await load.run(on: cluster, atOnce: 4) }
            var freezes: [(processes: Set<Int32>, from: UInt64, to: UInt64)] = []
            for number in 0..<scale.freezes {
                let place = try await eventually("something runs on a worker", last: { coordinator.stderr }) { () -> (Int, Int32)? in
                    let open = Set(load.log.read().open.map(\.process))
                    return hosts.indices.flatMap { index in hosts[index].executors.filter(open.contains).map { (index, $0) } }
                        .randomElement(using: &dice)
                }
                let host = hosts[place.0]
                // One executor, or the whole worker; longer than the lease, or longer than that of locks.
                let executors = number.isMultiple(of: 2) ? [place.1] : host.executors
                let frozen = number.isMultiple(of: 2) ? executors : executors + [host.supervisor]
                let from = monotonicNanoseconds()
                host.send(SIGSTOP, to: frozen)
                try await Task.sleep(for: .milliseconds(number % 4 < 2 ? 4_500 : 22_000))
                host.send(SIGCONT, to: frozen)
                freezes.append((Set(executors), from, monotonicNanoseconds()))
            }
            load.stop()
            try await running.value
            try await Self.waitForEnds(of: load)
            let check = ChaosCheck(history: load.log.read(), acknowledged: load.acknowledgements)
            func wasFrozen(_ execution: ChaosHistory.Execution, until time: UInt64) -> Bool {
                freezes.contains { $0.processes.contains(execution.process) && $0.from < time && $0.to > execution.began }
            }
            // What counts did not begin before a freeze of its process in which it was begun elsewhere.
            let violations =
                check.ends { execution, all in
                    !freezes.contains { freeze in
                        freeze.processes.contains(execution.process) && execution.began < freeze.to
                            && all.contains { $0.process != execution.process && $0.began > execution.began && $0.began < freeze.to }
                    }
                }
                // What had ended is told a moment later.
                + check.repetitions { wasFrozen($0, until: $0.ended == 0 ? .max : $0.ended + 1_000_000_000) }
                // Of somebody who is frozen inside others cannot know but by their tokens.
                + check.overlaps { begun in
                    check.history.executions.contains {
                        $0.key == begun.key && $0.isOpen(at: begun.began) && wasFrozen($0, until: begun.began)
                    }
                }
            #expect(violations.isEmpty, "\(violations.count): \(violations.prefix(20).joined(separator: "\n"))")
            let again = check.history.byName.values.count { $0.count > 1 }
            print("chaos: \(scale.freezes) freezes during \(check.acknowledged.plans.count) operations; \(again) began more than once")
            await cluster.close()
        }
    }
}
