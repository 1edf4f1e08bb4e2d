import Synchronization

/// Hands work to a thread that waits in ``Poller``: many writers, one reader.
public final class Mailbox<Element: Sendable>: Sendable {
    /// Raised exactly while `elements` is not empty; both change under the lock.
    private let signal: WakeSignal
    private let elements = Mutex<[Element]>([])

    /// - Throws: ``SystemCallError`` when the process has no descriptor left.
    public init() throws(SystemCallError) { signal = try WakeSignal() }

    /// Adds an element and wakes the reader. From any thread; never waits. Elements of one writer arrive in its order.
    public func post(_ element: Element) {
        elements.withLock { elements in
            elements.append(element)
            if elements.count == 1 { signal.raise() }
        }
    }

    /// Takes everything that was posted, oldest first.
    public func drain() -> [Element] {
        elements.withLock { elements in
            guard !elements.isEmpty else { return [] }
            signal.lower()
            let taken = elements
            elements = []
            return taken
        }
    }

    /// Readable while there is something to drain.
    public var fileDescriptor: Int32 { signal.fileDescriptor }
}
