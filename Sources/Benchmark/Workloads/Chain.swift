import Foundation

/// L2: every operation depends on the one before.
enum Chain {
    static func sample(_ engine: Engine, _ variant: Variant, _ count: Int) throws -> Sample {
        let queue = engine.queue(limit: variant.limit)
        let probe = Probe()
        let operations = make(engine, variant.kind, count)
        queue.addOperations(operations, waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
        let sample = probe.sample(operations: count)
        try operations.checkFinished("a chain")
        return sample
    }

    private static func make(_ engine: Engine, _ kind: Variant.Kind, _ count: Int) -> [Foundation.Operation] {
        let operations = (0..<count).map { _ in engine.operation(kind) }
        for (operation, next) in zip(operations, operations.dropFirst()) { next.addDependency(operation) }
        return operations
    }

    /// How long our chains take to go away.
    static func teardown(_ count: Int) throws -> Teardown {
        let ended = Holder(count)
        let queue = Engine.ours.queue(limit: nil)
        queue.addOperations(ended.operations, waitUntilFinished: true)
        queue.waitUntilAllOperationsAreFinished()
        let afterRun = ended.letGo()

        let neverAdded = Holder(count)
        let neverRun = neverAdded.letGo()
        guard neverAdded.first == nil else {
            throw WrongResult(description: "a chain of \(count) was released and is still in memory")
        }
        return Teardown(afterRun: afterRun, neverRun: neverRun)
    }

    /// The only one who holds a chain.
    private final class Holder {
        private(set) var operations: [Foundation.Operation]
        private(set) weak var first: Foundation.Operation?

        init(_ count: Int) {
            operations = make(.ours, .subclass, count)
            first = operations.first
        }

        /// Releases the chain; returns how many seconds that took. Not inlined, so that the release stays between the
        /// two readings of the clock.
        @inline(never) func letGo() -> Double {
            let start = ContinuousClock.now
            empty()
            return secondsSince(start)
        }

        @inline(never) private func empty() { operations = [] }
    }
}
