import Scheduling
import Wire

extension NodeOptions {
    /// - Throws: `TranslationError` for numbers out of range.
    init(wire: WireNode, index: Int) throws(TranslationError) {
        self.init()
        guard wire.delayMilliseconds <= UInt32.max else {
            throw TranslationError(
                "node \(index) of the graph has a delay of \(wire.delayMilliseconds) ms; the limit is \(UInt32.max) ms (49 days)")
        }
        delayMilliseconds = Int64(wire.delayMilliseconds)
        notBefore = wire.notBefore
        for exclusive in wire.exclusive {
            try TranslationError.checkName(exclusive.key, "a key of node \(index) of the graph")
            self.exclusive.append(Exclusion(key: exclusive.key, limit: exclusive.limit == 0 ? 1 : Int(exclusive.limit)))
        }
    }
}
