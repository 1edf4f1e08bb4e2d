import Scheduling
import Wire

extension NodeOptions {
    /// - Throws: `TranslationError` for numbers out of range.
    init(wire: WireNodeOptions) throws(TranslationError) {
        self.init()
        func duration(_ value: UInt64, _ name: String) throws(TranslationError) -> Int64 {
            guard value <= UInt32.max else {
                throw TranslationError(
                    "node \(wire.node) of the graph has a \(name) of \(value) ms; the limit is \(UInt32.max) ms (49 days)")
            }
            return Int64(value)
        }
        delayMilliseconds = try duration(wire.delayMilliseconds, "delay")
        notBefore = wire.notBefore
        deadlineMilliseconds = try duration(wire.deadlineMilliseconds, "deadline")
        deadline = wire.deadline
        queueTimeoutMilliseconds = try duration(wire.queueTimeoutMilliseconds, "queue timeout")
    }
}
