import Foundation

/// Waits for operations of any kind.
enum EndOfOperations {
    /// Blocks the calling thread until all of `operations` have ended.
    static func wait(for operations: [Foundation.Operation]) {
        let group = DispatchGroup()
        var watches: [DependencyWatch] = []
        for operation in operations {
            group.enter()
            if let operation = operation as? AOperation {
                operation.onEnd { _ in group.leave() }
            } else {
                let watch = DependencyWatch(on: operation) { group.leave() }
                watches.append(watch)
                watch.begin()
            }
        }
        group.wait()
        for watch in watches { watch.stop() }
    }
}
