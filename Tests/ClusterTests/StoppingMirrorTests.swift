import AOperation
import Executing
import Foundation
import Testing
import TrialOperations

@testable import Cluster

/// Groups that stop elsewhere: what was cancelled there in which order is not decided again here.
@Suite(.timeLimit(.minutes(2))) struct StoppingMirrorTests {
    private func end(_ operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    /// The receivers are heard of before the inner group that stopped them: their producer is of no use any more, and its
    /// cancellation is asked for. That is no reason to stop the outer group here, which would hide the failure.
    @Test func failureOfAnInnerGroup_isTheOuterOnes_alsoWhenWhatItStoppedIsHeardOfBefore() async {
        let queue = AOperationQueue()
        let (producer, bad, receiver, other) = (Emit("producer"), Emit("bad"), Shout(), Emit("other"))
        producer.deliver(to: receiver)
        let inner = GroupOperation(bad, receiver)
        inner.onFailure = .stop
        let outer = GroupOperation(producer, inner, other)
        outer.onFailure = .stop
        let mirrors = [outer, producer, inner, bad, receiver, other]
        for operation in mirrors { _ = operation.becomeMirror { _ in } }
        queue.addOperation(outer)
        for operation in mirrors { _ = operation.handOver() }
        for operation in [outer, inner] { operation.remoteDidStart() }
        inner.noteCancellation(of: receiver, isByGroup: true)
        receiver.remoteDidEnd(.cancelled, hasStarted: false)
        await end(receiver)
        #expect(producer.isCancelled && producer.outcome == nil)
        #expect(inner.outcome == nil && other.outcome == nil)
        bad.remoteDidEnd(
            .failure([AOperationError(TrialError(text: "bad"), state: .execution, publisher: "there")]), hasStarted: true)
        inner.remoteDidEnd(.failure([]), hasStarted: true)
        for operation in [producer, other] {
            outer.noteCancellation(of: operation, isByGroup: true)
            operation.remoteDidEnd(.cancelled, hasStarted: false)
        }
        outer.remoteDidEnd(.failure([]), hasStarted: true)
        await end(outer)
        #expect(inner.publishedErrors.map(\.localizedDescription) == ["trial: bad"])
        #expect(outer.publishedErrors.map(\.localizedDescription) == ["trial: bad"])
        #expect(outer.outcome?.isFailure == true)
    }
}
