// Basics, "OrderedGroupOperation".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func group(_ operationA: OperationA, _ operationB: OperationB, _ operationC: OperationC, _ heard: Heard) -> GroupOperation {
        let groupOperation = OrderedGroupOperation(operationA, operationB, operationC)
        groupOperation.didFinish { (errors) in
                    //...
                    // was: here is where all of the operationA, operationB and operationC are finished
                    // slip: a sentence; as a comment:
                    // here is where all of the operationA, operationB and operationC are finished
                    heard("finished")  // +
                }
        return groupOperation  // +
    }

    class MyOperatoin: OrderedGroupOperation {

        init() {
            let operationA = OperationA()
            let operationB = OperationB()
            let operationC = OperationC()
            super.init([operationA, operationB, operationC])
        }
    }
}

@Suite("Basics: OrderedGroupOperation", .timeLimit(.minutes(1)))
struct OrderedGroupOperationSnippets {
    let heard = Heard()

    @Test func children_runInOrder() async {
        let children = (OperationA(), OperationB(), OperationC())
        for child in [children.0, children.1, children.2] as [SampleOperation] { child.heard = heard }
        Document.group(children.0, children.1, children.2, heard).add(to: AOperationQueue())
        await heard.wait(for: "finished")
        #expect(heard.words == ["OperationA", "OperationB", "OperationC", "finished"])
    }

    @Test func subclass_runsItsChildrenInOrder() async {
        let operation = Document.MyOperatoin()
        for case let child as SampleOperation in operation.operations { child.heard = heard }
        let result = await operation.result(on: AOperationQueue())
        #expect(result.error == nil)
        #expect(heard.words == ["OperationA", "OperationB", "OperationC"])
    }
}
