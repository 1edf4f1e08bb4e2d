import Foundation

/// L1: independent operations, each added by itself.
enum Flood {
    static func sample(_ engine: Engine, _ variant: Variant, _ count: Int) throws -> Sample {
        let queue = engine.queue(limit: variant.limit)
        let last = engine.operation(variant.kind)
        let probe = Probe()
        for _ in 1..<count { queue.addOperation(engine.operation(variant.kind)) }
        queue.addOperation(last)
        queue.waitUntilAllOperationsAreFinished()
        let sample = probe.sample(operations: count)
        try [last].checkFinished("a flood")
        guard queue.operationCount == 0 else {
            throw WrongResult(description: "\(queue.operationCount) operations of a flood were left in the queue")
        }
        return sample
    }
}
