// Names of the reference's sections 1 and 3 that no other snippet uses, spelled as there.

import AOperation
import Foundation
import Testing

private struct Passport: AOperationCondition {
    static var isMutuallyExclusive = false
    var dependentOperation: AOperation?
    var holds = true

    func evaluateForOperation(_ operation: AOperation, completion: @escaping (OperationConditionResult) -> Void) {
        completion(holds ? .success : .failure(AOperationError(Refused())))
    }
}

private class Clerk: AOperationQueueDelegate, AOperationDelegate, AOperationObserver {
    let heard = Heard()

    func operationQueue(_ queue: AOperationQueue, willAddOperation operation: Foundation.Operation) { heard("willAdd") }
    func operationQueue(
        _ queue: AOperationQueue, operationDidFinish operation: Foundation.Operation, withErrors errors: [AOperationError]
    ) { heard("queue's operationDidFinish") }

    func operationDidStart(_ operation: AOperation) { heard("operationDidStart") }
    func operationDidFinish(_ operation: AOperation, with errors: [AOperationError]) { heard("delegate's operationDidFinish") }

    func operation(_ operation: AOperation, didProduceOperation newOperation: Foundation.Operation) { heard("didProduce") }
    func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) { heard("observer's operationDidFinish") }
}

private final class Producing: VoidOperation, @unchecked Sendable {
    override func execute() {
        produce(BlockOperation {})
        finish(nil)
    }
}

/// Receives in its own way.
private final class Receiving: ResultableOperation<Int>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Int, AOperationError>?

    override func execute() { finish(with: receivedValue ?? .failure(.receivedValueIsNil(in: self))) }
}

@Suite("Names of the reference", .timeLimit(.minutes(1)))
struct InventorySnippets {
    let queue = AOperationQueue()

    /// 1.1, 1.9, 1.11.
    @Test func operation_andItsListeners() async {
        let clerk = Clerk()
        let operation = Producing()
        #expect(Producing.key == "Producing" && operation.name == "Producing" && operation.isInitialized)
        operation.userInitiated = true
        #expect(operation.qualityOfService == .userInitiated)
        operation.delegate = clerk
        operation.addObserver(clerk)
        operation.observers([BlockObserver(startHandler: { _ in }, produceHandler: { _, _ in }, finishHandler: { _, _ in })])
        operation.addCondition(Passport())
        operation.conditions([Passport()]).condition { completion in completion(.success) }
            .dependencies([]).didStart { clerk.heard("didStart") }.didProduce { _ in clerk.heard("didProduce closure") }
        operation.addCompletionBlock { clerk.heard("completion") }
        operation.addDependencies([])
        queue.delegate = clerk
        queue.addOperation(operation)
        await clerk.heard.wait(for: "completion")
        #expect(operation.publishedErrors.isEmpty && !operation.isInitialized)
        for word in [
            "willAdd", "operationDidStart", "didStart", "didProduce", "didProduce closure", "observer's operationDidFinish",
            "delegate's operationDidFinish", "queue's operationDidFinish",
        ] {
            #expect(clerk.heard.words.contains(word), "\(word)")
        }
    }

    /// 1.3, 1.6.
    @Test func receiver_andGroup() async throws {
        let receiver = Receiving()
        let base: BaseReceiverOperation = receiver
        base.accept(MapOperationBlock<Void, Int> { _, finish in finish(.success(5)) })
        let group = GroupOperation([receiver])
        group.aggregateError(AOperationError(Refused()))
        group.addOperations([BlockOperation {}])
        queue.addOperation(group)
        #expect(await group.result(on: queue).error?.localizedDescription == "refused")
        #expect(try receiver.receivedValue?.get() == 5)
    }

    /// 1.10.
    @Test func conditions_andTheirErrors() async throws {
        #expect(OperationConditionKey == "OperationCondition" && Passport.key == "Passport")
        #expect(OperationConditionResult.success == .success)
        let exclusive: AlertPresentation = MutuallyExclusive<Alert>()
        let negated = SampleOperation().conditions(NegatedCondition(Passport()), exclusive)
        let result = await negated.result(on: queue)
        let error = try #require(result.error)
        #expect((error.publishedError as? NegatedCondition<Passport>.Error)?.negatedConditionKey == "Passport")
        #expect(error.localizedDescription == "The condition Passport succeed")
        #expect(error.state == .condition)
        let cancelled = SampleOperation()
        cancelled.name = "cancelled"
        cancelled.cancel()
        let dependent = SampleOperation().dependencies([cancelled]).conditions(NoCanceledDependencies())
        let found = await dependent.result(on: queue).error?.publishedError as? NoCanceledDependencies.Error
        #expect(found?.canceledDependencies == ["cancelled"])
        let silent = SampleOperation().conditions(SilentCondition(Passport(dependentOperation: negated)))
        #expect(await silent.result(on: queue).error == nil)
        let block = SampleOperation().conditions(ConditionBlock { completion in completion(.failure(AOperationError(Refused()))) })
        #expect(await block.result(on: queue).error?.publishedError is Refused)
    }

    /// 1.12.
    @Test func errors() {
        let operation = SampleOperation()
        var error: AOperationError = .isCancelled(operation)
        #expect(error.localizedDescription == "The Operation SampleOperation is Cancelled")
        #expect(error.publishedError is AOperationError.IsCancelled)
        error = AOperationError(AOperationError.ReceivedValueIsNil(operation))
        #expect(error.localizedDescription == "The received value to operation SampleOperation is nil")
        #expect(error.failureReason == nil && error.recoverySuggestion == nil && error.helpAnchor == nil)
        #expect(!error.debugDescription.isEmpty && error == AOperationError(AOperationError.ReceivedValueIsNil(operation)))
        #expect(AOperationError.FailureState.condition.rawValue != AOperationError.FailureState.execution.rawValue)
    }

    /// 1.13, 1.15.
    @Test func networkAndTimers() async {
        let request = URLRequest(url: URL(fileURLWithPath: "/dev/null/nothing"))
        #expect(URLRequest.HTTPMethod.get == "GET" && URLRequest.HTTPMethod.post == "POST")
        #expect(URLRequest.HTTPMethod.put == "PUT" && URLRequest.HTTPMethod.delete == "DELETE")
        let data: URLSessionDataTaskOperation = URLSessionTaskOperation.data(for: request)
        let upload: URLSessionUploadTaskOperation = URLSessionTaskOperation.upload(for: request).didChangeProgress { _ in }
        let download: URLSessionDownloadTaskOperation = URLSessionTaskOperation.download(for: request).didChangeProgress { _ in }
        let base: URLSessionTaskBaseOperation<(data: Data, response: URLResponse)> = data.new()
        for operation in [data, upload.new(), download.new(), base] as [AOperation] {
            operation.addObserver(NetworkObserver())
            operation.didChangeReachability { _, _ in }
        }
        #expect(await data.result(on: queue).error != nil)
        let condition = ReachabilityCondition(url: URL(string: "http://127.0.0.1:1"), connection: .any, waitToConnect: false)
        let reaching = SampleOperation().conditions(condition)
        let error = await reaching.result(on: queue).error?.publishedError as? ReachabilityCondition.Error
        #expect(error?.url == condition.url && error?.connection == .any)
        #expect(
            [Connection.none, .wifi, .cellular, .any].map(\.description)
                == ["No Connection", "WiFi", "Cellular", "Any Connection"])
        let timer = AOperationTimer(interval: 3_600, handler: {})
        timer.cancel()
        let alert = AlertOperation()
        alert.title = "title"
        alert.message = "message"
        alert.addAction("OK", style: .default) { _ in }
        alert.cancel()
        #expect(await alert.result(on: queue).error?.publishedError is AOperationError.IsCancelled)
    }

    /// 3.1, 3.2.
    @Test func family() async {
        let heard = Heard()
        let operation = SampleOperation()
        operation.addObserver(StartedObserver { _ in heard("started") })
        operation.addObserver(ProducedOperationObserver { _, _ in heard("produced") })
        operation.addObserver(FinishedObserver { _, _ in heard("finished") })
        operation.addObserver(WillFinishObserver { _, _, finish in finish() })
        operation.conditions(
            AndCondition(TrueCondition(), OrCondition(TrueCondition(), FalseCondition())), NoFailedDependenciesCondition(),
            BlockCondition { true }, MutualExclusive<SampleOperation>())
        let gated = GatedOperation(operation: ComposedOperation(operation: operation)) { true }
        let repeated = RepeatOperation(max: 2, wait: .immediate) { SampleOperation() }
        let group = GroupOperation(operations: [gated, repeated, IgnoreErrorsOperation(operation: BlockOperation {})])
        #expect(await group.result(on: queue).error == nil)
        #expect(heard.words == ["started", "finished"])
        let failing = SampleOperation().conditions(IgnoredCondition(FalseCondition()))
        #expect(await failing.result(on: queue).error?.publishedError is AOperationError.IsCancelled)
    }
}
