import Foundation
import Testing
import Wire

@testable import Worker

/// What is left of a worker whose supervisor cannot bury anybody: nothing.
@Suite(.serialized, .timeLimit(.minutes(3))) struct GuardianTests {
    let coordinator: FakeCoordinator
    let worker: WorkerProcess
    let directory: String

    init() throws {
        coordinator = try FakeCoordinator()
        directory = try TemporaryDirectory.make()
        worker = try Self.start(coordinator, directory)
    }

    private static func start(_ coordinator: FakeCoordinator, _ directory: String) throws -> WorkerProcess {
        try WorkerProcess(
            ["--connect", coordinator.endpoint.description, "--slots", "2", "--grace", "3s"],
            environment: ["XDG_STATE_HOME": directory, "TMPDIR": directory])
    }

    private func end() {
        worker.end()
        // Executors may be removing their part of it at this moment; what is gone already is no failure.
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A sleep that no other test runs.
    private func sleep(_ number: Int) -> String { "sleep 5\(getpid())\(number)" }

    private func waitFor(_ what: String, within seconds: Double = 60, _ condition: @escaping @Sendable () -> Bool) async throws {
        let holds = try await eventually(within: seconds, condition)
        #expect(holds, "\(what)")
    }

    private func isGone(_ process: pid_t) -> Bool { ProcessTable.Entry(id: process)?.isZombie != false }

    /// The guardian of a supervisor.
    private static func find(of supervisor: pid_t) -> pid_t? {
        ProcessTable.now().children(of: supervisor).map(\.id).first { process in
            FileManager.default.contents(atPath: "/proc/\(process)/comm") == Data("guardian\n".utf8)
        }
    }

    private func guardian(of worker: WorkerProcess) async throws -> pid_t {
        let id = worker.id
        try await waitFor("a guardian") { Self.find(of: id) != nil }
        return try #require(Self.find(of: id))
    }

    /// Runs a command with a child that leaves its session.
    private func run(_ sleep: String, on peer: FakeCoordinator.Peer, of coordinator: FakeCoordinator) async throws {
        coordinator.dispatch([.shell(1, "trap '' TERM HUP; setsid \(sleep) & \(sleep)")], to: peer)
        // The shell has it in its line, too.
        try await waitFor("running") {
            processes(with: sleep).count { FileManager.default.contents(atPath: "/proc/\($0)/comm") == Data("sleep\n".utf8) } >= 2
        }
    }

    /// In one go: the supervisor cannot see that the others are gone.
    private func killAtOnce(_ processes: [pid_t]) {
        worker.signal(SIGSTOP)
        for process in processes { kill(process, SIGKILL) }
        worker.signal(SIGKILL)
    }

    @Test func supervisorAndExecutorKilledAtOnce_nothingIsLeft() async throws {
        defer { end() }
        let peer = try await coordinator.executor()
        let sleep = sleep(1)
        try await run(sleep, on: peer, of: coordinator)
        let guardian = try await guardian(of: worker)
        killAtOnce([pid_t(peer.hello.pid)])
        // Long before the lease of a lock is over, which is 20 s by default.
        try await waitFor("nothing left", within: 10) { processes(with: sleep).isEmpty }
        try await waitFor("the guardian has ended") { isGone(guardian) }
    }

    @Test func supervisorKilled_andExecutorFrozen_nothingIsLeft() async throws {
        defer { end() }
        let peer = try await coordinator.executor()
        let (sleep, executor) = (sleep(2), pid_t(peer.hello.pid))
        try await run(sleep, on: peer, of: coordinator)
        _ = try await guardian(of: worker)
        kill(executor, SIGSTOP)
        worker.signal(SIGKILL)
        try await waitFor("nothing left", within: 10) { processes(with: sleep).isEmpty && isGone(executor) }
    }

    /// What its death did to commands is nobody's outcome.
    @Test func supervisorKilled_endsOfCommandsAreNotReported() async throws {
        defer { end() }
        let peer = try await coordinator.executor()
        let (sleep, executor) = (sleep(3), pid_t(peer.hello.pid))
        try await run(sleep, on: peer, of: coordinator)
        _ = try await guardian(of: worker)
        worker.signal(SIGKILL)
        try await waitFor("nothing left") { processes(with: sleep).isEmpty && isGone(executor) }
        #expect(coordinator.reports.allSatisfy { if case .ended? = $0.body { false } else { true } })
    }

    @Test func killedWithItsGuardian_theNextWorkerEndsWhatIsLeft_andNothingOfOthers() async throws {
        defer { end() }
        let peer = try await coordinator.executor()
        let (sleep, neighbours) = (sleep(4), self.sleep(5))
        try await run(sleep, on: peer, of: coordinator)
        let other = try FakeCoordinator()
        let neighbour = try Self.start(other, directory)
        defer { neighbour.end() }
        try await run(neighbours, on: try await other.executor(), of: other)
        let running = processes(with: neighbours)
        let guardian = try await guardian(of: worker)
        killAtOnce([guardian, pid_t(peer.hello.pid)])

        let third = try FakeCoordinator()
        let next = try Self.start(third, directory)
        defer { next.end() }
        // Before it runs anything.
        _ = try await third.executor()
        #expect(processes(with: sleep).isEmpty)
        #expect(processes(with: neighbours).sorted() == running.sorted() && neighbour.exitStatus() == nil)
        #expect(other.reports.allSatisfy { if case .ended? = $0.body { false } else { true } })
    }

    @Test func orderlyEnd_leavesNoGuardian() async throws {
        defer { end() }
        _ = try await coordinator.executor()
        let guardian = try await guardian(of: worker)
        // Who waits for the end of the worker's output does not wait for it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(guardian)/fd") == ["0"])
        for signal in [SIGTERM, SIGINT, SIGHUP] { kill(guardian, signal) }
        worker.signal(SIGTERM)
        try await waitFor("exited") { worker.exitStatus() != nil }
        #expect(worker.exitStatus() == 0)
        #expect(isGone(guardian))
    }

    @Test func guardianThatIsKilled_isReplaced_andWorkGoesOn() async throws {
        defer { end() }
        let peer = try await coordinator.executor()
        let (sleep, id) = (sleep(6), worker.id)
        try await run(sleep, on: peer, of: coordinator)
        let first = try await guardian(of: worker)
        kill(first, SIGKILL)
        try await waitFor("another one") { Self.find(of: id).map { $0 != first } ?? false }
        #expect(!processes(with: sleep).isEmpty)
        killAtOnce([pid_t(peer.hello.pid)])
        try await waitFor("nothing left", within: 10) { processes(with: sleep).isEmpty }
    }
}
