import Foundation
import Wire

/// What tells the processes of one worker from all others on the host: a variable in the environment that each executor and each command is
/// started with. Whatever they start inherits it, also what leaves their sessions and outlives its parents.
struct WorkerMark: Hashable, Sendable {
    static let environmentName = "AOP_WORKER_PROCESS"

    /// Where ``supervisor`` is a number and ``startedTicks`` a time.
    let namespace: Namespace
    let supervisor: pid_t
    /// When the supervisor was started, in clock ticks since the host was: numbers of processes come again.
    let startedTicks: UInt64

    init(namespace: Namespace, supervisor: pid_t, startedTicks: UInt64) {
        self.namespace = namespace
        self.supervisor = supervisor
        self.startedTicks = startedTicks
    }

    /// Reads what ``text`` writes, and nothing else: nil.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let processes = UInt64(parts[0]), let time = UInt64(parts[1]), let supervisor = pid_t(parts[2]),
            let ticks = UInt64(parts[3]), supervisor > 0
        else { return nil }
        self.init(namespace: Namespace(processes: processes, time: time), supervisor: supervisor, startedTicks: ticks)
        // "+1" and "01" are numbers as well.
        guard self.text == text else { return nil }
    }

    /// The value of the variable.
    var text: String { "\(namespace.processes).\(namespace.time).\(supervisor).\(startedTicks)" }

    /// The variable as it stands in an environment.
    var entry: String { "\(Self.environmentName)=\(text)" }

    /// The mark of the worker whose supervisor is this process.
    /// - Throws: `SystemCallError` when /proc does not say what is asked of it.
    static func ofThisProcess() throws -> WorkerMark {
        guard let ticks = ProcessTable.startedTicks(of: getpid()) else {
            throw SystemCallError(operation: "read", subject: "/proc/\(getpid())/stat", errno: ENOENT, remedy: "a worker needs /proc")
        }
        return WorkerMark(namespace: try .ofThisProcess(), supervisor: getpid(), startedTicks: ticks)
    }

    /// Whether the supervisor lives; true when it cannot be told. Only to be asked within its namespaces.
    var isSupervisorAlive: Bool {
        guard let entry = ProcessTable.Entry(id: supervisor), let ticks = ProcessTable.startedTicks(of: supervisor) else {
            // It is not there, or /proc hides the processes of others.
            return kill(supervisor, 0) == 0 || errno == EPERM
        }
        return !entry.isZombie && ticks == startedTicks
    }
}

extension WorkerMark {
    /// The namespaces of the kernel, by their inodes, without which numbers of processes and the times of their starts mean nothing.
    struct Namespace: Hashable, Sendable {
        let processes: UInt64
        /// 0: the kernel has none.
        let time: UInt64

        /// - Throws: `SystemCallError` when /proc does not say what is asked of it.
        static func ofThisProcess() throws -> Namespace {
            let link = "/proc/self/ns/pid"
            var status = stat()
            _ = try SystemCallError.check(stat(link, &status), "stat", link)
            var time = stat()
            return Namespace(processes: UInt64(status.st_ino), time: stat("/proc/self/ns/time", &time) == 0 ? UInt64(time.st_ino) : 0)
        }
    }
}
