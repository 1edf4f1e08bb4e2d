// Retrying: the form that the reference describes (1.4).

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func retried(_ operation: Unsteady, upTo limit: Int, _ heard: Heard) -> Unsteady {
        operation.retryOnFailure { (numberOfRetries, error, retry) in
            heard("\(numberOfRetries)")
            retry(numberOfRetries < limit)
        }
        .didFinish { result in
            heard(result.error?.localizedDescription ?? "success")
        }
    }
}

/// Succeeds at its third attempt.
private final class Unsteady: VoidOperation, RetryableOperation, @unchecked Sendable {
    final class Attempts: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0

        func next() -> Int {
            lock.withLock {
                count += 1
                return count
            }
        }
    }

    let attempts: Attempts

    required init(_ attempts: Attempts = Attempts()) {
        self.attempts = attempts
        super.init()
    }

    func new() -> Self { Self(attempts) }

    override func execute() { attempts.next() < 3 ? finish(with: AOperationError(Refused())) : finish() }
}

@Suite("Retrying", .timeLimit(.minutes(1)))
struct RetryingSnippets {
    let heard = Heard()

    @Test func operation_isRetriedUntilItSucceeds() async {
        Document.retried(Unsteady(), upTo: 5, heard).add(to: AOperationQueue())
        await heard.wait(for: "success")
        #expect(heard.words == ["0", "1", "success"])
    }

    @Test func operation_failsWhenNoMoreRetriesAreWanted() async {
        Document.retried(Unsteady(), upTo: 1, heard).add(to: AOperationQueue())
        await heard.wait(for: "refused")
        #expect(heard.words == ["0", "1", "refused"])
    }
}
