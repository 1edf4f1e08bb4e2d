import Logging
import Scheduling

/// Commits facts on its own thread: everything that waits goes into one transaction, so that one sync of the disk serves
/// all of it, while the caller goes on.
final class JournalWriter: Sendable {
    enum Event: Sendable {
        /// Everything up to here is on the disk.
        case durable(JournalSequence)
        /// The end: what the disk holds is unknown. Nothing may be acknowledged any more, and nothing more is written.
        case failed(JournalError)
    }

    /// Facts of a batch are merged into one row up to this size, so that recovery reads rows of bounded size.
    static let rowBytes = 4 << 20

    private let waiting = WorkQueue<[Fact]>()
    private let thread: OSThread

    /// Starts the thread. `report` runs on it and must not block.
    ///
    /// - Throws: `ThreadError`.
    init(
        _ database: JournalDatabase, after end: JournalEnd, logger: Logger, report: @escaping @Sendable (Event) -> Void
    ) throws(ThreadError) {
        thread = try OSThread(name: "aop-journal") { [waiting] in
            Self.run(database, end, waiting, logger, report)
        }
    }

    /// Hands over the facts that follow those handed over before.
    func append(_ facts: [Fact]) { waiting.post(facts) }

    /// Waits until everything handed over is committed and reported.
    func close() {
        waiting.close()
        thread.join()
    }

    private static func run(
        _ database: JournalDatabase, _ start: JournalEnd, _ waiting: WorkQueue<[Fact]>, _ logger: Logger,
        _ report: @Sendable (Event) -> Void
    ) {
        var end = start
        while case .jobs(let lists) = waiting.take() {
            do throws(JournalError) {
                end = try database.commit(batches(of: lists, after: end.sequence), after: end)
                report(.durable(end.sequence))
            } catch {
                logger.critical("\(error)")
                waiting.close()
                report(.failed(error))
                return
            }
        }
    }

    private static func batches(of lists: [[Fact]], after sequence: JournalSequence) -> [JournalBatch] {
        var batches: [JournalBatch] = []
        var batch = JournalBatch(after: sequence)
        for facts in lists {
            for fact in facts {
                if batch.body.count >= rowBytes {
                    let full = batch
                    batches.append(full)
                    batch = JournalBatch(after: full.last)
                }
                batch.append(fact)
            }
        }
        if !batch.isEmpty { batches.append(batch) }
        return batches
    }
}
