import Foundation
import Testing

@testable import AOperation

private final class Priority: AsyncOperation<TaskPriority>, @unchecked Sendable {
    override func run() async -> TaskPriority { Task.currentPriority }
}

@Suite(.timeLimit(Load.patience))
struct ValuesTests {
    @Test(arguments: [(QualityOfService.userInitiated, TaskPriority.userInitiated), (.utility, .utility)])
    func taskOfAnAsyncOperation_hasThePriorityOfItsQuality_orItsQueues(quality: QualityOfService, priority: TaskPriority) async {
        let operation = Priority()
        operation.qualityOfService = quality
        #expect(await operation.result(on: AOperationQueue()) == .success(priority))
        let queue = AOperationQueue()
        queue.qualityOfService = quality
        #expect(await Priority().result(on: queue) == .success(priority))
    }

    @Test func success_isOneElement_thenTheEnd() async throws {
        var values: [Int] = []
        for try await value in Value(7).values(on: AOperationQueue()) { values.append(value) }
        #expect(values == [7])
    }

    @Test func failure_isThrownAsAOperationError() async {
        await #expect(throws: AOperationError(Failed(text: "no"), state: .execution, publisher: "no")) {
            for try await _ in Failing<Int>("no").values(on: AOperationQueue()) {}
        }
    }

    @Test func error_isThrownOnce() async throws {
        var iterator = Failing<Int>("no").values(on: AOperationQueue()).makeAsyncIterator()
        do {
            _ = try await iterator.next(isolation: nil)
            Issue.record("the failure was not thrown")
        } catch let error as AOperationError {
            #expect(error.publisher == "no")
        }
        #expect(try await iterator.next() == nil)
    }

    /// The compiler cannot do this with sequences that have a failure of a type of their own.
    @Test func algorithmsOfSequences_compileWhereErrorsAreCaught() async {
        let queue = AOperationQueue()
        do {
            #expect(try await Value(7).values(on: queue).reduce(into: []) { $0.append($1) } == [7])
            #expect(try await Value(7).values(on: queue).first { $0 > 1 } == 7)
            _ = try await Failing<Int>("no").values(on: queue).reduce(0, +)
            Issue.record("the failure was not thrown")
        } catch {
            #expect((error as? AOperationError)?.publisher == "no")
        }
        #expect((try? await Value(7).values(on: queue).contains { $0 == 7 }) == true)
    }

    @Test func nothingRuns_beforeTheElementIsAskedFor() async throws {
        let operation = Value(1)
        let values = operation.values(on: AOperationQueue())
        #expect(operation.isInitialized)
        for try await _ in values {}
        #expect(!operation.isInitialized)
    }

    @Test func secondReading_executesNothingAgain() async throws {
        let executions = Log<Int>()
        let step = Step { executions.append(1) }
        let values = step.values(on: AOperationQueue())
        for try await _ in values {}
        for try await _ in values {}
        #expect(executions.count == 1)
    }

    @Test func cancelledConsumer_cancelsTheOperation() async {
        let gate = Gate()
        let consumer = Task {
            for try await _ in gate.values(on: AOperationQueue()) {}
        }
        await gate.started.wait()
        consumer.cancel()
        let error = await consumer.result.error as? AOperationError
        #expect(error?.publishedError is AOperationError.IsCancelled)
        #expect(gate.outcome?.isCancelled == true)
    }
}
