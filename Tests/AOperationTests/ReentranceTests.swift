import Foundation
import Testing

@testable import AOperation

/// Observers that do everything with the operation that they are told of.
@Suite(.timeLimit(Load.patience))
struct ReentranceTests {
    enum Place: CaseIterable { case queue, plainQueue }

    @Test(arguments: Place.allCases)
    func observerThatCallsEverythingAgain_isToldOfEachEventOnce(place: Place) async {
        let queue: OperationQueue = place == .queue ? AOperationQueue() : OperationQueue()
        let operations: [VoidOperation] = [
            Step(), Gate(), GroupOperation(Step(), Step()), OrderedGroupOperation(Gate(), Step()),
            GroupOperation(WrapperOperation<Void, Void> { _ in Gate() }),
        ]
        for operation in operations {
            let meddler = Meddler()
            operation.addObserver(meddler)
            queue.addOperation(operation)
            await operation.ended()
            #expect(meddler.log.entries == ["start", "cancel", "finish"], "\(type(of: operation))")
            #expect(operation.outcome?.isCancelled == true, "\(type(of: operation))")
        }
        await queue.idle()
    }

    private final class Meddler: AOperationObserver, Sendable {
        let log = Log<String>()

        func operationDidStart(_ operation: AOperation) {
            log.append("start")
            meddle(with: operation)
        }

        func operationDidCancel(_ operation: AOperation) {
            log.append("cancel")
            meddle(with: operation)
        }

        func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) {
            log.append("finish")
            meddle(with: operation)
        }

        private func meddle(with operation: AOperation) {
            operation.cancel()
            guard let operation = operation as? VoidOperation else { return }
            operation.finish()
            operation.addObserver(BlockObserver(didFinish: { _, _ in }))
            let dependency = Step()
            operation.addDependency(dependency)
            operation.removeDependency(dependency)
            operation.addCondition(Rule(.success))
            operation.didFinish { _ in }.willFinish { _, finish in finish() }
            operation.timeout(.seconds(60)).queueTimeout(.seconds(60)).deadline(.seconds(60))
            operation.add(to: AOperationQueue())
            operation.produce(Step())
            (operation as? GroupOperation)?.addOperation(Step())
            #expect(operation.isCancelled)
        }
    }
}
