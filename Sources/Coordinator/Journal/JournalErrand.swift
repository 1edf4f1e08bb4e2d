import Dispatch
import Synchronization

/// Something that another thread wants done with the journal's file, by the thread that has it.
final class JournalErrand: Sendable {
    typealias Body = @Sendable (JournalDatabase) throws(JournalError) -> Void

    /// It was not done: the journal's thread has ended.
    struct Abandoned: Error {}

    private let body: Body
    private let result = Mutex<Result<Void, any Error>>(.failure(Abandoned()))
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping Body) { self.body = body }

    /// On the journal's thread.
    ///
    /// - Throws: `JournalError`: what is on the disk is unknown then.
    func run(_ database: JournalDatabase) throws(JournalError) {
        defer { done.signal() }
        do {
            try body(database)
            result.withLock { $0 = .success(()) }
        } catch {
            result.withLock { $0 = .failure(error) }
            throw error
        }
    }

    /// On the journal's thread, which ends.
    func abandon() { done.signal() }

    /// Blocks the calling thread until it is done or abandoned.
    ///
    /// - Throws: `JournalError`, `Abandoned`.
    func wait() throws {
        done.wait()
        try result.withLock { $0 }.get()
    }
}
