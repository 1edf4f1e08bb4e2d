import Foundation
import Testing

@testable import AOperation

/// Listeners that cancel something and block their thread until that has ended. What is set off on a thread waits there for what
/// is under way, as deep as operations are inside of each other: a listener may be called from within that.
@Suite(.timeLimit(Load.patience))
struct BlockingListenerTests {
    enum Way: CaseIterable {
        case observer, queue, nextOperation, addOperations
    }

    @Test(arguments: Way.allCases)
    func groupThatAListenerCancels_ends_whileTheListenerWaitsForIt(way: Way) async {
        let (gate, isThrough) = (Gate(), Signal())
        let (awaited, others) = (GroupOperation(GroupOperation(gate)), AOperationQueue())
        others.addOperation(awaited)
        await gate.started.wait()
        let inner = GroupOperation(Step())
        let root: AOperation
        switch way {
        case .observer, .queue:
            root = GroupOperation(inner)
            inner.observers(
                BlockObserver(finishHandler: { _, _ in
                    if way == .observer {
                        awaited.cancel()
                        awaited.waitUntilFinished()
                    } else {
                        others.cancelAllOperations()
                        others.waitUntilAllOperationsAreFinished()
                    }
                    isThrough.fire()
                }))
        case .nextOperation:
            root = OperationSequence { previous -> AOperation? in
                guard previous != nil else { return inner }
                awaited.cancel()
                awaited.waitUntilFinished()
                isThrough.fire()
                return nil
            }
        case .addOperations:
            root = GroupOperation(inner)
            inner.observers(
                BlockObserver(finishHandler: { _, _ in
                    let after = Step()
                    after.addDependency(awaited)
                    awaited.cancel()
                    others.addOperations([after], waitUntilFinished: true)
                    isThrough.fire()
                }))
        }
        AOperationQueue().addOperation(root)
        await isThrough.wait()
        await root.ended()
        #expect(awaited.outcome?.isCancelled == true)
        #expect(gate.outcome?.isCancelled == true)
    }
}
