// The examples of ReadyMadeObservers.md.

import AOperation
import Foundation
import Testing

@Suite("Ready-made observers", .timeLimit(.minutes(1)))
struct ReadyMadeObserversExamples {
    struct Journal: AOperationObserver {
        func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
            print(operation.name ?? "", errors.isEmpty ? "succeeded" : "failed: \(errors)")
        }
    }

    let queue = AOperationQueue()

    @Test func observers_accompany() async throws {
        let fetch = Fetch("https://example.org/list").observers(Journal(), TimeoutObserver(5))
        let transfer = Fetch("https://example.org/list")
        transfer.addObserver(BlockObserver(startHandler: { _ in print("started") }, finishHandler: { _, errors in print(errors) }))
        transfer.addObserver(CancelledObserver { operation in print("cancelled:", operation.name ?? "") })
        transfer.addObserver(
            WillFinishObserver { operation, errors, finish in
                DispatchQueue.global().async {
                    print(operation.name ?? "", errors.isEmpty ? "is about to succeed" : "is about to fail")
                    finish()
                }
            })
        NetworkObserver.indicator = { isActive in print(isActive ? "●" : "○") }
        transfer.addObserver(NetworkObserver())
        transfer.didChangeReachability { operation, connection in
            if connection == .none { operation.cancel() }
        }
        #expect(try await fetch.value(on: queue).count == 24)
        _ = await transfer.result(on: queue)
        #expect(transfer.isFinished)
    }

    @Test func timeout_isAFailureThatIsTriedAgain() async {
        let impatient = Fetch("https://example.org/list")
            .retry(RetryPolicy(attempts: 3))
            .observers(TimeoutObserver(0.5))
        #expect(await impatient.result(on: queue).error == nil)
    }
}
