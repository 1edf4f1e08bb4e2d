import Foundation
import Wire

/// What tells the processes of one worker from all others on the host: a variable in the environment that each executor and each command is
/// started with. Whatever they start inherits it, also what leaves their sessions and outlives its parents.
struct WorkerMark: Hashable, Sendable {
    static let environmentName = "AOP_WORKER_PROCESS"

    /// The PID namespace in which ``supervisor`` is a number, by its inode.
    let namespace: UInt64
    let supervisor: pid_t
    /// When the supervisor was started, in clock ticks since the host was: numbers of processes come again.
    let startedTicks: UInt64

    init(namespace: UInt64, supervisor: pid_t, startedTicks: UInt64) {
        self.namespace = namespace
        self.supervisor = supervisor
        self.startedTicks = startedTicks
    }

    /// Reads what ``text`` writes, and nothing else: nil.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let namespace = UInt64(parts[0]), let supervisor = pid_t(parts[1]), let ticks = UInt64(parts[2]),
            supervisor > 0
        else { return nil }
        self.init(namespace: namespace, supervisor: supervisor, startedTicks: ticks)
        // "+1" and "01" are numbers as well.
        guard self.text == text else { return nil }
    }

    /// The value of the variable.
    var text: String { "\(namespace).\(supervisor).\(startedTicks)" }

    /// The variable as it stands in an environment.
    var entry: String { "\(Self.environmentName)=\(text)" }

    /// The mark of the worker whose supervisor is this process.
    /// - Throws: `SystemCallError` when /proc does not say what is asked of it.
    static func ofThisProcess() throws -> WorkerMark {
        let link = "/proc/self/ns/pid"
        var status = stat()
        _ = try SystemCallError.check(stat(link, &status), "stat", link)
        guard let ticks = ProcessTable.startedTicks(of: getpid()) else {
            throw SystemCallError(operation: "read", subject: "/proc/\(getpid())/stat", errno: ENOENT, remedy: "a worker needs /proc")
        }
        return WorkerMark(namespace: UInt64(status.st_ino), supervisor: getpid(), startedTicks: ticks)
    }

    /// Whether the supervisor lives; true when it cannot be told. Only to be asked within its PID namespace.
    var isSupervisorAlive: Bool {
        guard let entry = ProcessTable.Entry(id: supervisor), let ticks = ProcessTable.startedTicks(of: supervisor) else {
            // It is not there, or /proc hides the processes of others.
            return kill(supervisor, 0) == 0 || errno == EPERM
        }
        return !entry.isZombie && ticks == startedTicks
    }
}
