import Dispatch
import Synchronization

/// Where time limits run out.
///
/// Not one of Dispatch's global queues: bodies that block take all threads of those, and such bodies are what limits are for. A
/// serial queue of one's own has its thread whenever it needs one. There are a few, so that a `cancel()` or a listener that
/// takes its time does not hold up all limits.
enum Timers {
    private static let queues = (0..<4).map { DispatchQueue(label: "AOperation.limits.\($0)") }
    private static let last = Atomic<Int>(0)

    /// The next one.
    static var queue: DispatchQueue { queues[last.wrappingAdd(1, ordering: .relaxed).oldValue & 3] }
}
