import Foundation
import Testing

@testable import AOperation

/// A group whose children stand at every stage there is, cancelled at any moment of any of them.
@Suite(.timeLimit(.minutes(10)))
struct StageStressTests {
    /// In the shape of ``EngineGroupTests/childrenInEveryStage_endWithTheCancelledGroup()``; what is different for each seed
    /// is the order of the children, the slots, whether the group's thread is still starting them, who cancels, and when.
    @Test(arguments: Stress.seeds)
    func childrenInEveryStage_endWithTheGroup_cancelledAtAnyMoment(seed: UInt64) async {
        var random = SeededGenerator(seed)
        for round in 0..<Load.rounds(60) {
            let key = freshKey()
            let slots = Int.random(in: 1...4, using: &random)
            let queue = AOperationQueue(slots: slots)
            let holder = Gate().exclusive(key)
            AOperationQueue().addOperation(holder)
            await holder.started.wait()
            let gate = Gate()
            let question = Question()
            var children: [VoidOperation] = [
                Step("evaluating").conditions(question),
                Step("dependent").conditions(Rule(after: { Gate("dependent gate") })),
                Step("waiting").dependencies([gate]),
                Step("delayed").delay(.seconds(3_600)),
                WrapperOperation<Void, Void> { _ in Gate("wrapped") }.asVoid,
                gate,
                Step("ready"),
            ]
            children.shuffle(using: &random)
            let group = Bool.random(using: &random) ? GroupOperation(children) : GroupOperation([GroupOperation(children)])
            var ears = children.map { Ears.on($0) }
            ears.append(Ears.on(group))
            queue.addOperation(group)
            // Each of the three gates takes a slot.
            if slots >= 3, Bool.random(using: &random) { await gate.started.wait() }
            let late = Step("late").exclusive(key)
            ears.append(Ears.on(late))
            group.addOperation(late)
            let spins = Int.random(in: 0...3_000, using: &random)
            let cancellers = Int.random(in: 1...3, using: &random)
            await withTaskGroup(of: Void.self) { tasks in
                for number in 0..<cancellers {
                    tasks.addTask {
                        for _ in 0..<(spins * number) { _ = group.isCancelled }
                        group.cancel()
                    }
                }
                tasks.addTask { question.answer(.success) }
            }
            await group.ended()
            await callbacksDelivered()
            #expect(group.outcome?.isCancelled == true)
            for ear in ears { #expect(ear.wereToldOnce, "\(ear.summary), seed \(seed), round \(round)") }
            holder.open()
            await holder.ended()
            await queue.idle()
        }
    }
}

extension WrapperOperation where Input == Void, Output == Void {
    fileprivate var asVoid: VoidOperation { GroupOperation(self) }
}
