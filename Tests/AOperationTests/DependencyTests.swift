import Foundation
import Testing

@testable import AOperation

/// Adding and removing dependencies. A cost that rises with the square of their number would meet the time limit.
@Suite(.timeLimit(Load.patience))
struct DependencyTests {
    private let many = Load.count(50_000)

    @Test(arguments: 0..<20) func list_keepsTheOrderOfDeclaration_whateverIsAddedAndRemoved(seed: UInt64) {
        var random = Dice(state: seed)
        let operations = (0..<40).map { _ in Foundation.Operation() }
        var list = OperationList<Foundation.Operation>()
        var model: [Foundation.Operation] = []
        for step in 0..<2_000 {
            let operation = operations[Int.random(in: 0..<operations.count, using: &random)]
            // Phases in which it grows, and in which it shrinks to nothing.
            if Int.random(in: 0..<10, using: &random) < (step / 200 % 2 == 0 ? 7 : 2) {
                let isNew = !model.contains { $0 === operation }
                let isAdded = list.append(operation)
                #expect(isAdded == isNew)
                if isNew { model.append(operation) }
            } else {
                let index = model.firstIndex { $0 === operation }
                let isRemoved = list.remove(operation)
                #expect(isRemoved == (index != nil))
                if let index { model.remove(at: index) }
            }
            #expect(list.contains(operation) == model.contains { $0 === operation })
            #expect(list.all.elementsEqual(model, by: ===), "seed \(seed), step \(step)")
        }
    }

    @Test func list_letsGoOfWhatIsRemoved() {
        var list = OperationList<Foundation.Operation>()
        let kept = (0..<20).map { _ in Foundation.Operation() }
        for operation in kept { list.append(operation) }
        weak var removed: Foundation.Operation?
        do {
            let operation = Foundation.Operation()
            removed = operation
            list.append(operation)
            let isRemoved = list.remove(operation)
            #expect(isRemoved)
        }
        #expect(removed == nil)
    }

    enum Kind: CaseIterable { case ours, plain }

    @Test(arguments: Kind.allCases, [false, true])
    func manyDependencies_areRemovedOneByOne_beforeTheQueue(kind: Kind, isReversed: Bool) {
        let hub = Step()
        let dependencies = make(kind)
        hub.addDependencies(dependencies)
        for operation in isReversed ? dependencies.reversed() : dependencies { hub.removeDependency(operation) }
        #expect(hub.dependencies.isEmpty)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func manyDependencies_areRemovedOneByOne_inTheQueue(kind: Kind, isReversed: Bool) async {
        let queue = AOperationQueue()
        let hub = Step()
        let dependencies = make(kind)
        hub.addDependencies(dependencies)
        queue.addOperation(hub)
        for operation in isReversed ? dependencies.reversed() : dependencies {
            #expect(hub.outcome == nil)
            hub.removeDependency(operation)
        }
        await hub.ended()
        #expect(hub.outcome?.isSuccess == true)
    }

    @Test func plainDependency_removedAndAddedAgain_isWaitedFor() async {
        let queue = AOperationQueue()
        let plain = BlockOperation {}
        let hub = Step()
        let other = Gate()
        hub.addDependencies([plain, other])
        queue.addOperation(hub)
        hub.removeDependency(plain)
        hub.addDependency(plain)
        queue.addOperation(other)
        await other.started.wait()
        other.open()
        await other.ended()
        #expect(hub.outcome == nil)
        queue.addOperation(plain)
        await hub.ended()
        #expect(hub.outcome?.isSuccess == true)
    }

    private func make(_ kind: Kind) -> [Foundation.Operation] {
        (0..<many).map { _ in kind == .ours ? Step() : Foundation.Operation() }
    }
}
