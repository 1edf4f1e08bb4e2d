import AOperation
import DequeModule
import Executing

/// Operations that begin when others end, on the thread on which one has ended.
///
/// Between the end of a short operation and the beginning of the next one two changes of threads would cost more than
/// both operations do. So the loop puts a few into this line; whoever ends takes the next one, and the loop hears of it later.
/// What is taken out of the line does not begin: to know who has begun, the loop takes all back.
final class StartLine: Sendable {
    /// Tells the loop that it has begun, and lets it begin.
    typealias Begin = @Sendable () -> Void

    private struct Line {
        /// Those that were taken out are left behind when their turn comes.
        var order: Deque<UnitKey> = []
        /// Without a way to begin: whoever comes there leaves the beginning to the loop.
        var waiting: [UnitKey: Begin?] = [:]
        var isClosed = false
    }

    private let line = Guarded(Line())
    private let mayBegin: @Sendable () -> Bool

    /// - Parameter mayBegin: asked before each beginning; false leaves it to the loop, which knows why it may not.
    init(mayBegin: @escaping @Sendable () -> Bool) { self.mayBegin = mayBegin }

    /// - Parameter begin: nil: only the loop can begin it.
    func append(_ key: UnitKey, _ begin: Begin?) {
        line.withLock { line in
            line.order.append(key)
            line.waiting[key] = .some(begin)
        }
    }

    /// Takes it out.
    ///
    /// - Returns: whether it stood in the line: it has not begun.
    func take(_ key: UnitKey) -> Bool { line.withLock { $0.waiting.removeValue(forKey: key) != nil } }

    /// Takes all out.
    ///
    /// - Parameter closing: nothing begins here any more.
    /// - Returns: those that have not begun.
    func takeAll(closing: Bool) -> Set<UnitKey> {
        line.withLock { line in
            let keys = Set(line.waiting.keys)
            line = Line(isClosed: line.isClosed || closing)
            return keys
        }
    }

    /// Lets the first one begin.
    ///
    /// - Returns: false: none has begun.
    func beginNext() -> Bool {
        guard let begin = next() else { return false }
        begin()
        return true
    }

    func next() -> Begin? {
        line.withLock { line in
            guard !line.isClosed, mayBegin() else { return nil }
            while let key = line.order.first {
                switch line.waiting[key] {
                case nil:
                    line.order.removeFirst()
                case .some(nil):
                    return nil
                case .some(let begin?):
                    line.order.removeFirst()
                    line.waiting[key] = nil
                    return begin
                }
            }
            return nil
        }
    }
}
