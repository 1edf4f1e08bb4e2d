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
    }
}
