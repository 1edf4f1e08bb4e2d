import CLinux
import Foundation
import Logging
import Wire

/// What workers have left on this host that were killed with all their processes at once, guardian included.
enum Leftovers {
    /// For so long the start of a worker waits for what does not die.
    static let limitMilliseconds: Int64 = 5000
    private static let pauseMilliseconds: UInt32 = 20
    /// So many are named.
    private static let foundMax = 1000

    /// Kills it, and waits until it is gone. Blocks.
    ///
    /// What a worker runs whose supervisor lives is never touched, nor is what is of another PID or time namespace, or belongs to another user.
    static func end(besides own: WorkerMark, logger: Logger) {
        let inherited = ProcessInfo.processInfo.environment[WorkerMark.environmentName]
        let found: Set<WorkerMark>
        do { found = try ProcessTable.marks() } catch {
            return logger.warning("what earlier workers may have left cannot be looked for: \(error)")
        }
        let marks = dead(among: found, of: own.namespace, inherited: inherited) { $0.isSupervisorAlive }
        guard !marks.isEmpty else { return }
        let begin = BootClock.milliseconds()
        var ended: Set<pid_t> = []
        // What is just being started shows no environment for a moment: one look that finds nothing is not enough.
        var quietLooks = 0
        while quietLooks < 2 {
            let passed = BootClock.milliseconds() - begin
            let left = marks.reduce(into: Set<pid_t>()) { left, mark in
                left.formUnion(look(for: mark, sparesExecutors: passed < Int64(Guardian.executorMilliseconds)))
            }
            ended.formUnion(left)
            quietLooks = left.isEmpty ? quietLooks + 1 : 0
            guard passed < limitMilliseconds else {
                if !left.isEmpty {
                    logger.warning("processes \(left.sorted()), which an earlier worker has left, do not die; starting beside them")
                }
                break
            }
            if quietLooks < 2 { usleep(pauseMilliseconds * 1000) }  // nothing tells of the end of a process that is no child
        }
        guard !ended.isEmpty else { return }
        let supervisors = marks.map { "\($0.supervisor)" }.sorted().joined(separator: ", ")
        logger.notice(
            "ended \(ended.count) processes of earlier workers, whose supervisors do not live any more (\(supervisors)): \(ended.sorted())")
    }

    /// Those whose supervisor is gone.
    /// - Parameters:
    ///   - namespace: only marks of this one can be judged.
    ///   - inherited: what this process itself was started with, by a command of another worker: it does not end itself.
    static func dead(
        among marks: Set<WorkerMark>, of namespace: WorkerMark.Namespace, inherited: String?, isAlive: (WorkerMark) -> Bool
    ) -> Set<WorkerMark> {
        marks.filter { $0.namespace == namespace && $0.text != inherited && !isAlive($0) }
    }

    /// - Returns: who was there.
    private static func look(for mark: WorkerMark, sparesExecutors: Bool) -> [pid_t] {
        var found = [pid_t](repeating: 0, count: foundMax)
        let count = clinux_kill_marked(mark.entry, Guardian.executorPrefix, sparesExecutors, &found, Int32(found.count))
        return Array(found.prefix(max(0, Int(count))))
    }
}
