import Scheduling
import Synchronization
import Wire

/// A client within the coordinator's process. What it sends and what comes for it are the messages of any other client, with the same
/// limits; only no socket is between them.
package final class LocalLink: Sendable {
    /// What the link's holder is told, on the transport thread, which it must not hold up.
    package enum Event: Sendable {
        case welcome(WireWelcome)
        case message([Buffer])
        /// Nothing more comes: the coordinator ends.
        case ended
    }

    /// What it may ask.
    let authority: Authority
    let tell: @Sendable (Event) -> Void
    private let mailbox: Mailbox<LoopEvent>

    init(_ authority: Authority, _ mailbox: Mailbox<LoopEvent>, tell: @escaping @Sendable (Event) -> Void) {
        (self.authority, self.mailbox, self.tell) = (authority, mailbox, tell)
    }

    /// Sends a message, as its frames.
    package func send(_ frames: [Buffer]) { mailbox.post(.local(self, .message(frames))) }

    /// It is there no more; what it asked for is dropped.
    package func close() { mailbox.post(.local(self, .closed)) }

    func open() { mailbox.post(.local(self, .opened)) }
}

/// What a local client says.
enum LocalMessage: Sendable {
    case opened
    case message([Buffer])
    case closed
}
