import AOperation
import Foundation

/// Whose queue and operations are measured.
enum Engine: CaseIterable {
    case ours
    case foundation

    func queue(limit: Int?) -> OperationQueue {
        let queue =
            switch self {
            case .ours: AOperationQueue()
            case .foundation: OperationQueue()
            }
        queue.maxConcurrentOperationCount = limit ?? OperationQueue.defaultMaxConcurrentOperationCount
        return queue
    }

    /// An operation that does nothing.
    func operation(_ kind: Variant.Kind) -> Foundation.Operation {
        switch (self, kind) {
        case (.ours, .subclass): EmptyOperation()
        case (.ours, .block): AOperationBlock { finish in finish() }
        case (.foundation, .subclass): EmptyFoundationOperation()
        case (.foundation, .block): BlockOperation {}
        }
    }
}

private final class EmptyOperation: VoidOperation, @unchecked Sendable {
    override func execute() { finish() }
}

private final class EmptyFoundationOperation: Foundation.Operation, @unchecked Sendable {
    override func main() {}
}

extension Sequence<Foundation.Operation> {
    /// - Throws: ``WrongResult`` unless all of them have finished.
    func checkFinished(_ what: String) throws {
        let open = count { !$0.isFinished }
        if open > 0 { throw WrongResult(description: "\(open) operations of \(what) had not finished when the queue was empty") }
    }
}
