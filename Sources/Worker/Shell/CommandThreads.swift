import Foundation
import Subprocess
import Synchronization
import Wire

/// The threads that start commands, and see their ends.
///
/// swift-subprocess makes them with the first command of a process, and never again: where the system has none to give then, that command and
/// all later ones wait for ever, in their slots and with their locks. So the first one is a command that does nothing, before there is any work.
enum CommandThreads {
    static let patienceSeconds = 10.0

    /// Blocks the calling thread until they are there: milliseconds.
    ///
    /// - Throws: `ThreadError`: there are none. This process is to end, as it never gets any.
    static func make() throws(ThreadError) {
        let isOver = DispatchSemaphore(value: 0)
        let isWatched = Atomic(true)
        Task.detached {
            do {
                _ = try await Subprocess.run(.path("/bin/true"), input: .none, output: .discarded, error: .discarded)
            } catch let error as SubprocessError where error.code == .failedToMonitorProcess {
                isWatched.store(false, ordering: .relaxed)
            } catch {
                // Somebody has tried to start it, which is all that is wanted.
            }
            isOver.signal()
        }
        guard isOver.wait(timeout: .now() + patienceSeconds) == .success, isWatched.load(ordering: .relaxed) else {
            throw ThreadError(name: "commands", errno: EAGAIN)
        }
    }
}
