import Foundation
import Logging
import Scheduling
import Synchronization
import Wire

/// Makes snapshots beside the hot path, on a thread of its own that yields to the others.
final class SnapshotThread: Sendable {
    private let targets = WorkQueue<JournalSequence>()
    private let closing: Closing
    private let thread: OSThread

    private final class Closing: Sendable {
        let hasBegun = Atomic(false)
    }

    /// What became of one.
    enum Event: Sendable {
        case made(Snapshot)
        /// It is not made: the disk has no room for so many bytes.
        case refused(bytes: Int64)
        /// Comes once, with an error that ends the coordinator.
        case failed(JournalError)
    }

    /// - Parameters:
    ///   - fits: whether the disk has room for so many bytes more.
    ///   - report: called on the thread.
    /// - Throws: `ThreadError`.
    init(
        _ scheduling: Scheduler.Configuration, path: String, logger: Logger, fits: @escaping @Sendable (Int64) -> Bool,
        perform: @escaping SnapshotMaker.Perform, report: @escaping @Sendable (Event) -> Void
    ) throws(ThreadError) {
        let closing = Closing()
        self.closing = closing
        thread = try OSThread(name: "aop-snapshot") { [targets] in
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            let maker = SnapshotMaker(
                scheduling: scheduling, path: path, logger: logger,
                perform: { body in
                    guard !closing.hasBegun.load(ordering: .acquiring) else { throw JournalErrand.Abandoned() }
                    try perform(body)
                }, fits: fits, mayPrune: JournalWriter.SnapshotPolicy.mayPrune(path))
            while case .jobs(let list) = targets.take() {
                guard let target = list.last else { continue }
                do { report(.made(try maker.make(upTo: target))) } catch let error as SnapshotMaker.NoRoom {
                    report(.refused(bytes: error.bytes))
                } catch let error as JournalError {
                    return report(.failed(error))
                } catch {
                    // The journal's thread or this one is to end; the next coordinator begins again.
                    return
                }
            }
        }
    }

    /// Of the thread alone: who acknowledges comes first.
    private static let niceness: Int32 = 10

    /// Asks for a snapshot of the facts up to `sequence`, which are on the disk.
    func make(upTo sequence: JournalSequence) { targets.post(sequence) }

    /// Waits for the thread, which gives up what it does.
    func close() {
        closing.hasBegun.store(true, ordering: .releasing)
        targets.close()
        thread.join()
    }
}
