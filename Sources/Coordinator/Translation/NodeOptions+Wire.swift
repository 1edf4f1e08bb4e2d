import Scheduling
import Wire

extension NodeOptions {
    /// - Throws: `TranslationError` for numbers out of range.
    init(wire: WireNode, index: Int) throws(TranslationError) {
        self.init()
        func duration(_ value: UInt64, _ name: String) throws(TranslationError) -> Int64 {
            guard value <= UInt32.max else {
                throw TranslationError(
                    "node \(index) of the graph has a \(name) of \(value) ms; the limit is \(UInt32.max) ms (49 days)")
            }
            return Int64(value)
        }
        delayMilliseconds = try duration(wire.delayMilliseconds, "delay")
        notBefore = wire.notBefore
        deadlineMilliseconds = try duration(wire.deadlineMilliseconds, "deadline")
        deadline = wire.deadline
        queueTimeoutMilliseconds = try duration(wire.queueTimeoutMilliseconds, "queue timeout")
        for exclusive in wire.exclusive {
            try TranslationError.checkName(exclusive.key, "a key of node \(index) of the graph")
            self.exclusive.append(Exclusion(key: exclusive.key, limit: exclusive.limit == 0 ? 1 : Int(exclusive.limit)))
        }
        for condition in wire.conditions { conditions.append(try Condition(wire: condition, index: index)) }
    }
}
