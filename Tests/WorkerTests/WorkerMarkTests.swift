import CLinux
import Foundation
import Testing

@testable import Worker

/// What the processes of a worker have in common, and who is killed for it.
@Suite(.timeLimit(.minutes(2))) struct WorkerMarkTests {
    @Test func text_isReadAsItIsWritten() {
        let mark = WorkerMark(namespace: .init(processes: 4_026_531_836, time: 7), supervisor: 71, startedTicks: 123_456)
        #expect(mark.text == "4026531836.7.71.123456")
        #expect(mark.entry == "AOP_WORKER_PROCESS=4026531836.7.71.123456")
        #expect(WorkerMark(mark.text) == mark)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.9.2.3.4", "1.9..3", "1.9.0.3", "1.9.-2.3", "1.9.+2.3", "01.9.2.3", "1.9.2.3 ", "1.9.2.x", "1.9.4294967297.3",
    ])
    func otherTexts_areNoMarks(_ text: String) { #expect(WorkerMark(text) == nil) }

    @Test func startOfAProcess_isThe22ndField_whateverItsNameIs() {
        let stat = "71 (a ) b (c) S 1 71 71 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10\n"
        #expect(ProcessTable.startedTicks(stat: Array(stat.utf8)) == 123_456)
        #expect(ProcessTable.startedTicks(stat: Array("71 (a) S 1 71".utf8)) == nil)
    }

    /// The first thread of a process may end before the others: what it has started is its own until those have ended as well.
    @Test(arguments: [("Z", 1, true), ("Z", 3, false), ("X", 0, true), ("S", 3, false)])
    func processIsAZombie_whenAllItsThreadsHaveEnded(state: String, threads: Int, isZombie: Bool) throws {
        let stat = "71 (a) b) \(state) 1 71 71 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 \(threads) 0 123456 0 0"
        let entry = try #require(ProcessTable.Entry(id: 71, stat: Array(stat.utf8)))
        #expect(entry.isZombie == isZombie && entry.parent == 1 && entry.group == 71)
        #expect(ProcessTable.Entry(id: 71, stat: Array("71 (a) S 1 71 71".utf8)) == nil)
    }

    @Test func supervisor_livesWithItsNumberAndItsStart() throws {
        let own = try WorkerMark.ofThisProcess()
        #expect(own.supervisor == getpid() && own.isSupervisorAlive)
        // Another process had the number before.
        #expect(!WorkerMark(namespace: own.namespace, supervisor: own.supervisor, startedTicks: own.startedTicks - 1).isSupervisorAlive)
        // Beyond what the kernel gives.
        #expect(!WorkerMark(namespace: own.namespace, supervisor: 1 << 30, startedTicks: 1).isSupervisorAlive)
    }

    @Test func leftOver_isWhatHasADeadSupervisor_ofThisNamespace_andIsNotAboveThisProcess() {
        func mark(_ namespace: UInt64, _ supervisor: pid_t, time: UInt64 = 3) -> WorkerMark {
            WorkerMark(namespace: .init(processes: namespace, time: time), supervisor: supervisor, startedTicks: 5)
        }
        // In another time namespace the same process has another start.
        let marks: Set = [mark(1, 10), mark(1, 11), mark(1, 12), mark(2, 10), mark(1, 13, time: 4)]
        let dead = Leftovers.dead(among: marks, of: .init(processes: 1, time: 3), inherited: mark(1, 12).text) { $0.supervisor == 11 }
        #expect(dead == [mark(1, 10)])
    }

    @Test func command_hasTheMark_andCannotHaveAnotherOne() throws {
        let context = try CommandRunner().context()
        let name = WorkerMark.environmentName
        let parameters = ShellParameters(run: "env", environment: [name: "own"], variables: [name: "variable"])
        for passesEverything in [false, true] {
            let environment = CommandEnvironment(
                passedNames: [name], passesEverything: passesEverything, mark: "1.2.3", inherited: [name: "4.5.6"])
            #expect(try environment.make(for: parameters, context: context)[name] == "1.2.3")
        }
        let command = CommandCondition(run: "env", variables: [name: "variable"]).operation(in: context).parameters
        #expect(try CommandEnvironment(mark: "1.2.3", inherited: [:]).make(for: command, context: context)[name] == "1.2.3")
    }

    // MARK: Killing

    /// Of no namespace that there is: a worker that starts meanwhile does not judge it.
    private let entry = "AOP_WORKER_PROCESS=1.\(getpid()).\(UInt32.random(in: 1 ... .max))"

    /// A process in a session of its own.
    private func start(_ arguments: [String], _ environment: [String]) throws -> pid_t {
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var process: pid_t = 0
        let result = clinux_spawn(arguments[0], argv, envp, null, &process)
        try #require(result == 0, "errno \(result)")
        return process
    }

    private func end(_ processes: [pid_t]) {
        for process in processes {
            kill(-process, SIGKILL)
            var code: Int32 = 0
            _ = clinux_reap(process, &code)
        }
    }

    @Test func whoeverHasTheWholeVariable_isKilled_andNobodyElse() async throws {
        let entry = entry
        // Read in parts of 4096 bytes: it stands across two of them, at their border, and at the end.
        let fillers = [4096 - 20, 4096 - 1 - entry.utf8.count, 4095, 3 * 4096 - 1].map { "A=" + String(repeating: "x", count: $0 - 2) }
        var having: [[String]] = [[entry], ["B=1", entry, "C=2"]]
        for filler in fillers { having.append([filler, entry, "C=2"]) }
        let lacking: [[String]] = [
            [entry + "0"], [String(entry.dropLast())], ["X" + entry], ["B=" + entry], [fillers[0], entry + "0"], [],
        ]
        let marked = try having.map { try start(["/bin/sleep", "600"], $0) }
        let others = try lacking.map { try start(["/bin/sleep", "600"], $0) }
        defer { end(marked + others) }
        let areGone = try await eventually {
            _ = clinux_kill_marked(entry, "AOP_EXECUTOR=", true, nil, 0)
            return marked.allSatisfy { ProcessTable.Entry(id: $0)?.isZombie != false }
        }
        #expect(areGone)
        #expect(clinux_kill_marked(entry, "AOP_EXECUTOR=", true, nil, 0) == 0)
        for other in others { #expect(ProcessTable.Entry(id: other)?.isZombie == false) }
    }

    @Test func executor_isFound_andKilledOnlyWhenItIsNotSpared() async throws {
        let entry = entry
        let executor = try start(["/bin/sleep", "600"], ["AOP_EXECUTOR={}", entry])
        defer { end([executor]) }
        let isFound = try await eventually { clinux_kill_marked(entry, "AOP_EXECUTOR=", true, nil, 0) == 1 }
        #expect(isFound)
        #expect(ProcessTable.Entry(id: executor)?.isZombie == false)
        var found: [pid_t] = [0]
        #expect(clinux_kill_marked(entry, "AOP_EXECUTOR=", false, &found, 1) == 1)
        #expect(found == [executor])
        let isGone = try await eventually { ProcessTable.Entry(id: executor)?.isZombie != false }
        #expect(isGone)
    }

    @Test func whatHasClearedItsEnvironment_endsWithTheLeaderOfItsSession() async throws {
        let entry = entry
        let leader = try start(["/bin/sh", "-c", "env -i sleep 600 & wait"], [entry, "PATH=/usr/bin:/bin"])
        defer { end([leader]) }
        let members: @Sendable () -> [pid_t] = {
            ProcessTable.now().entries.filter { $0.session == leader && $0.id != leader && !$0.isZombie }.map(\.id)
        }
        let isThere = try await eventually {
            members().contains { (try? ProcessTable.variable(WorkerMark.environmentName, of: $0)) == nil }
        }
        #expect(isThere)
        let areGone = try await eventually {
            _ = clinux_kill_marked(entry, "AOP_EXECUTOR=", true, nil, 0)
            return members().isEmpty && ProcessTable.Entry(id: leader)?.isZombie != false
        }
        #expect(areGone)
    }
}
