import CLinux
import Foundation
import Wire

/// The process that kills what a worker leaves when its supervisor is gone, and there may be nobody else to do it: a child of the
/// supervisor, which sleeps while that lives (`clinux_start_guardian`).
struct Guardian {
    /// What executors have to end by themselves and to remove their directories; commands are killed at once. Those that
    /// are frozen do not.
    static let executorMilliseconds: Int32 = 2000
    /// What has not died by then is given up.
    static let limitMilliseconds: Int32 = 60_000
    /// One that lived for longer is replaced at once; of those that did not each waits twice as long as the one before.
    static let steadyMilliseconds: Int64 = 10_000
    static let pauseMilliseconds: Int64 = 1000
    static let pauseMaximumMilliseconds: Int64 = 60_000
    /// Begins a variable that only executors have: commands never see it.
    static let executorPrefix = "\(ExecutorConfiguration.environmentName)="

    let mark: WorkerMark
    /// Nil: none lives.
    private(set) var process: pid_t?
    private var triedAt: Int64 = 0
    private var earliestStart: Int64 = 0
    private var pause = Guardian.pauseMilliseconds

    init(_ mark: WorkerMark) { self.mark = mark }

    /// Starts one if none lives, unless the last ones died soon and it is too early for the next.
    /// - Returns: whether it has started one.
    /// - Throws: `SystemCallError`: there is none, and it is to be tried again.
    mutating func startIfMissing(now: Int64) throws -> Bool {
        guard process == nil, now >= earliestStart else { return false }
        (triedAt, earliestStart) = (now, now + Self.pauseMilliseconds)
        process = try SystemCallError.check(
            clinux_start_guardian(mark.entry, Self.executorPrefix, Self.executorMilliseconds, Self.limitMilliseconds), "fork")
        return true
    }

    /// A child of this process has ended, and was reaped.
    /// - Returns: whether it was the guardian.
    mutating func ended(_ child: pid_t, now: Int64) -> Bool {
        guard child == process else { return false }
        process = nil
        if now - triedAt >= Self.steadyMilliseconds {
            (earliestStart, pause) = (now, Self.pauseMilliseconds)
        } else {
            (earliestStart, pause) = (triedAt + pause, min(pause * 2, Self.pauseMaximumMilliseconds))
        }
        return true
    }

    /// Ends it: nothing of the worker is left.
    mutating func end() {
        guard let process else { return }
        kill(process, SIGKILL)
        var code: Int32 = 0
        _ = clinux_reap(process, &code)
        self.process = nil
    }
}
