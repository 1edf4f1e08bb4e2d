// Basics, "GroupOperation".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func group(_ operationA: OperationA, _ operationB: OperationB, _ operationC: OperationC, _ heard: Heard) -> GroupOperation {
        let groupOperation = GroupOperation(operationA, operationB, operationC)
        groupOperation.didFinish { (errors) in
                    //...
                    // was: here is where all of the operationA, operationB and operationC are finished
                    // slip: a sentence; as a comment:
                    // here is where all of the operationA, operationB and operationC are finished
                    let isAllFinished = operationA.isFinished && operationB.isFinished && operationC.isFinished  // +
                    heard("all finished: \(isAllFinished)")  // +
                }
        return groupOperation  // +
    }

    class MyOperatoin: GroupOperation {

        init() {
            let operationA = OperationA()
            let operationB = OperationB()
            let operationC = OperationC()
            super.init([operationA, operationB, operationC])
        }
    }
}

@Suite("Basics: GroupOperation", .timeLimit(.minutes(1)))
struct GroupOperationSnippets {
    let heard = Heard()

    @Test func group_endsAfterAllOfItsChildren() async {
        Document.group(OperationA(), OperationB(), OperationC(), heard).add(to: AOperationQueue())
        await heard.wait(for: "all finished: true")
        #expect(heard.words == ["all finished: true"])
    }

    @Test func subclass_isReusable() async {
        for _ in 1...2 {
            let operation = Document.MyOperatoin()
            let result = await operation.result(on: AOperationQueue())
            #expect(result.error == nil)
            #expect(operation.outcomes.count == 3)
            #expect(operation.outcomes.allSatisfy { $0.isSuccess })
        }
    }
}
