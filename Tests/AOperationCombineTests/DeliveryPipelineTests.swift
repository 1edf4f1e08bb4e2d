import AOperation
import OpenCombine
import Testing

@testable import AOperationCombine

/// Which inputs lead to which actions.
struct DeliveryPipelineTests {
    private typealias Pipeline = DeliveryPipeline<Int, String>
    private let broken = AOperationError(Failed(text: "broken"))

    private func text(_ action: Pipeline.Action) -> String {
        switch action {
        case .none: "-"
        case .ask: "ask"
        case .run(.success(let number)): "run \(number)"
        case .run(.failure(let error)): "run \(error.localizedDescription)"
        case .send(let output): "send \(output)"
        case .complete(.finished): "finished"
        case .complete(.failure(let error)): "failure \(error.localizedDescription)"
        }
    }

    @Test func oneValueAtATime() {
        var pipeline = Pipeline()
        #expect(text(pipeline.requested(.max(2))) == "ask")
        #expect(text(pipeline.received(1)) == "run 1")
        #expect(text(pipeline.requested(.max(1))) == "-")
        #expect(text(pipeline.ran(.success("a"))) == "send a")
        #expect(text(pipeline.sent(.none)) == "ask")
        #expect(text(pipeline.received(2)) == "run 2")
        #expect(text(pipeline.upstreamEnded(nil)) == "-")
        #expect(text(pipeline.ran(.success("b"))) == "send b")
        #expect(text(pipeline.sent(.none)) == "finished")
        #expect(text(pipeline.received(3)) == "-")
    }

    @Test func outputWithoutDemand_isHeld() {
        var pipeline = Pipeline()
        #expect(text(pipeline.upstreamEnded(broken)) == "run broken")
        #expect(text(pipeline.ran(.success("a"))) == "-")
        #expect(text(pipeline.requested(.max(1))) == "send a")
        #expect(text(pipeline.sent(.none)) == "finished")
    }

    @Test func upstreamThatEndsWhileAValueIsSent_isHeardAfterwards() {
        var pipeline = Pipeline()
        _ = pipeline.requested(.unlimited)
        _ = pipeline.received(1)
        _ = pipeline.ran(.success("a"))
        #expect(text(pipeline.upstreamEnded(broken)) == "-")
        #expect(text(pipeline.sent(.none)) == "run broken")
        #expect(text(pipeline.ran(.failure(broken))) == "failure broken")
        #expect(pipeline.isOver)
    }

    @Test func cancelled_doesNothingMore() {
        var pipeline = Pipeline()
        _ = pipeline.requested(.unlimited)
        _ = pipeline.received(1)
        pipeline.cancelled()
        #expect(text(pipeline.ran(.success("a"))) == "-")
        #expect(text(pipeline.upstreamEnded(nil)) == "-")
        #expect(text(pipeline.requested(.max(1))) == "-")
    }
}
