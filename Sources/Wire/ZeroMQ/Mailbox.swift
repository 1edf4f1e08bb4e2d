import Synchronization

/// Hands work to a thread that waits in ``Poller``: many writers, one reader.
public final class Mailbox<Element: Sendable>: Sendable {
    /// Raised whenever `elements` is not empty, but for the moment in which somebody who has posted is about to raise it. Outside of
    /// the lock: who is woken comes for that at once, and would wait for whoever is still in the system call.
    private let signal: WakeSignal
    private let elements = Mutex<[Element]>([])

    /// - Throws: ``SystemCallError`` when the process has no descriptor left.
    public init() throws(SystemCallError) { signal = try WakeSignal() }

    /// Adds an element and wakes the reader. From any thread; never waits. Elements of one writer arrive in its order.
    public func post(_ element: Element) {
        let isFirst = elements.withLock { elements in
            elements.append(element)
            return elements.count == 1
        }
        if isFirst { signal.raise() }
    }

    /// Takes everything that was posted, oldest first. Empty if nothing was, also where the descriptor said otherwise.
    public func drain() -> [Element] {
        // Before they are taken: what is posted between the two is taken here, and what comes later raises it again.
        signal.lower()
        return elements.withLock { elements in
            let taken = elements
            elements = []
            return taken
        }
    }

    /// Readable when there is something to drain; now and then when that has been taken already.
    public var fileDescriptor: Int32 { signal.fileDescriptor }
}
