import CLinux
import Foundation
import Wire

/// Ends processes this process is responsible for.
enum Descendants {
    /// Kills everything below this process, again and again until nothing is left alive or `milliseconds` are over.
    ///
    /// Blocks; for a process that is about to exit. New children of killed parents come to this process, because it is
    /// a subreaper, and are found in the next round.
    /// - Returns: the processes that are still alive (in an uninterruptible call of the kernel).
    static func killAll(withinMilliseconds milliseconds: Int64) -> [pid_t] {
        let deadline = EventLoop.now() + milliseconds
        while true {
            // Where they cannot be looked at now, there is no telling that nothing is left.
            let alive = (try? ProcessTable.current()).map { $0.descendants(of: getpid()).filter { !$0.isZombie }.map(\.id) }
            if alive == [] { return [] }
            for id in alive ?? [] { kill(id, SIGKILL) }
            if EventLoop.now() >= deadline { return alive ?? [] }
            usleep(1000)  // nothing tells of the end of a process that is no child
        }
    }
}
