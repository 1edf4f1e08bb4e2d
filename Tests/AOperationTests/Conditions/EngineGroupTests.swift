import Foundation
import Testing

@testable import AOperation

/// Conditions of groups and of their children.
@Suite(.timeLimit(Load.patience))
struct EngineGroupTests {
    let queue = AOperationQueue(slots: 1)

    @Test func groupWhoseConditionFails_endsItsChildrenAsCancelled_eachTold() async {
        let log = Log<String>()
        func child(_ name: String) -> Step {
            let child = Step(name) { log.append("executed \(name)") }
            child.conditions(Rule(.success) { log.append("evaluated \(name)") })
            return child.didFinish { log.append("\(name) \($0.error?.publishedError is AOperationError.IsCancelled)") }
        }
        let inner = GroupOperation(child("b"), child("c"))
        let plain = BlockOperation { log.append("executed plain") }
        let group = OrderedGroupOperation(child("a"), inner, plain)
        group.conditions(Rule(.failed("no")), Rule(.failed("nor this")))
        await queue.run(all: [group])
        await callbacksDelivered()
        #expect(log.entries.sorted() == ["a true", "b true", "c true"])
        #expect(group.outcome?.isFailure == true)
        #expect(group.publishedTexts == ["no", "nor this"], "its children's cancellation is no error of its own")
        #expect(group.outcomes.count == 3)
        #expect(group.outcomes.allSatisfy { $0.isCancelled })
        #expect(!group.isCancelled)
    }

    @Test func groupWhoseConditionIsIgnored_isCancelled() async {
        let child = Step()
        let group = GroupOperation(child)
        group.conditions(Rule(.ignored))
        await queue.run(all: [group])
        #expect(group.outcome?.isCancelled == true)
        #expect(child.outcome?.isCancelled == true)
    }

    @Test func groupsConditions_comeBeforeItsChildren_andChildrensBeforeEachStart() async {
        let log = Log<String>()
        let group = OrderedGroupOperation(
            Step { log.append("1") }.conditions(Rule(.success) { log.append("check 1") }),
            Step { log.append("2") }.conditions(Rule(.success) { log.append("check 2") }))
        group.conditions(Rule(.success) { log.append("check group") })
        await queue.run(all: [group])
        #expect(log.entries == ["check group", "check 1", "1", "check 2", "2"])
    }

    @Test func childsConditionError_keepsItsState_inTheGroupsErrors() async {
        let group = GroupOperation(Step().conditions(Rule(.failed("no"))))
        await queue.run(all: [group])
        #expect(group.publishedErrors == [AOperationError(Failed(text: "no"), state: .condition, publisher: "Rule")])
    }

    @Test func childsConditionIgnored_isACancelledChild() async {
        let group = GroupOperation(Step("child").conditions(Rule(.ignored)), Step())
        await queue.run(all: [group])
        #expect(group.outcome?.isFailure == true)
        #expect(group.publishedTexts == ["The Operation child is Cancelled"])
    }

    @Test func childsDependent_runsInTheGroupsSlot() async {
        let log = Log<String>()
        let group = OrderedGroupOperation(
            Step { log.append("1") }.conditions(Rule(after: { Step { log.append("dependent") } })), Step { log.append("2") })
        await queue.run(all: [group])
        #expect(log.entries == ["dependent", "1", "2"])
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func cancelledGroup_whileItsConditionsAreEvaluated_endsWithAllChildren() async {
        let question = Question()
        let child = Step()
        let group = GroupOperation(child)
        group.conditions(question)
        queue.addOperation(group)
        await question.asked.wait()
        group.cancel()
        await group.ended()
        #expect(child.outcome?.isCancelled == true)
        #expect(group.outcome?.isCancelled == true)
        question.answer(.success)
        await queue.idle()
    }

    @Test func cancelledGroup_whileItsDependentRuns_endsAfterIt() async {
        let dependent = Gate(isDeaf: true)
        let child = Step()
        let group = GroupOperation(child)
        group.conditions(Rule(after: { dependent }))
        queue.addOperation(group)
        await dependent.started.wait()
        group.cancel()
        #expect(!group.isEnded)
        dependent.open()
        await group.ended()
        #expect(child.outcome?.isCancelled == true)
        #expect(group.outcome?.isCancelled == true)
    }

    @Test func childrenInEveryStage_endWithTheCancelledGroup() async {
        let key = freshKey()
        let holder = Gate().exclusive(key)
        AOperationQueue().addOperation(holder)
        await holder.started.wait()
        let question = Question()
        let gate = Gate()
        // The dependent operation may come to a slot before the group has started the children after it: then that is one of
        // two, and else the second gate has it.
        let group = GroupOperation(
            Step("evaluating").conditions(question), Step("dependent").conditions(Rule(after: { Gate() })), gate, Gate("second"),
            Step("ready"))
        AOperationQueue(slots: 2).addOperation(group)
        await gate.started.wait()
        let late = Step("late").exclusive(key)
        group.addOperation(late)
        group.cancel()
        await group.ended()
        #expect(group.outcome?.isCancelled == true)
        #expect(group.outcomes.count == 6)
        #expect(group.outcomes.allSatisfy { !$0.isSuccess })
        holder.open()
    }

    /// The group names its children's keys before it starts; what is added to a child until that starts counts.
    @Test func conditionAddedToAChild_whileItsGroupWaitsForLocks_isEvaluated() async {
        let key = freshKey()
        let holder = Gate().exclusive(key)
        AOperationQueue().addOperation(holder)
        await holder.started.wait()
        let child = Step().conditions(Rule(.success)).exclusive(key)
        let group = GroupOperation(child)
        queue.addOperation(group)
        await queue.settled()
        child.addCondition(Rule(.failed("no")))
        holder.open()
        await group.ended()
        #expect(child.publishedTexts == ["no"])
    }
}
