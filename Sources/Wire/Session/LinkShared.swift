import Foundation
import Glibc
import Synchronization

/// What a link's thread is asked to do.
enum LinkOrder: Sendable {
    /// Send these frames, if the session is still the one they were meant for.
    case send([Buffer], session: UInt64)
    /// A message of that session cannot be sent.
    case unsendable(String, session: UInt64)
    case hello(WireExecutorHello, connection: UInt64)
    case heartbeat(WireHeartbeat?)
    case close(goodbye: String?, flushMilliseconds: Int)
}

/// What a link and its thread have in common.
final class LinkShared: Sendable {
    /// The session there is, counted from 1; 0 while there is none. Written by the thread.
    let session = Atomic<UInt64>(0)
    /// The session messages are sent in: the last one that was entered.
    let entered = Atomic<UInt64>(0)
    /// Entered while the thread runs.
    let ended = DispatchGroup()
    let mailbox: Result<Mailbox<LinkOrder>, SystemCallError>
    private let thread = Mutex<pthread_t?>(nil)

    init() {
        // A process without descriptors learns it from the link's first event.
        do throws(SystemCallError) { mailbox = .success(try Mailbox()) } catch { mailbox = .failure(error) }
    }

    /// The session in which a message of now is sent; nil: it is dropped.
    var open: UInt64? {
        let entered = entered.load(ordering: .acquiring)
        return entered != 0 && entered == session.load(ordering: .acquiring) ? entered : nil
    }

    func post(_ order: LinkOrder) {
        guard case .success(let mailbox) = mailbox else { return }
        mailbox.post(order)
    }

    func threadBegins() { thread.withLock { $0 = pthread_self() } }

    var isOnThread: Bool {
        thread.withLock { thread in thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }
}
