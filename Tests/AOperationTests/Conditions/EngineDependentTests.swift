import Foundation
import Testing

@testable import AOperation

/// The dependent operations of conditions.
@Suite(.timeLimit(Load.patience))
struct EngineDependentTests {
    let queue = AOperationQueue()

    /// Brings its dependent operation as a constant.
    struct Constant: AOperationCondition {
        let dependentOperation: AOperation?
    }

    /// Makes its dependent operation each time it is asked for it.
    struct Computed: AOperationCondition {
        let log: Log<String>
        var isFailing = false
        var dependentOperation: AOperation? {
            log.append("made")
            let log = log
            return isFailing ? Failing<Int>("dependent") : Step("dependent") { log.append("dependent") }
        }
    }

    /// It would wait for its own end.
    @Test(arguments: [false, true]) func dependentOperation_thatIsTheTarget_orAroundIt_failsTheCondition(isLocking: Bool) async {
        struct Itself: AOperationCondition {
            func dependencyForOperation(_ operation: AOperation) -> AOperation? { operation }
        }
        let operation = Step("S").conditions(Itself())
        if isLocking { operation.exclusive("EngineDependent.itself") }
        operation.retry(RetryPolicy(attempts: 1))
        operation.add(to: queue)
        await operation.ended()
        let error = operation.publishedErrors.first
        #expect(
            error?.localizedDescription
                == "The Operation S would wait for itself: its condition Itself has S as dependent operation, let that be a new one")
        #expect(error?.state == .condition)
        #expect(error?.publisher == "Itself")

        let groups = Log<GroupOperation>()
        let inner = Step("inner").conditions(Preparing { groups.entries[0] })
        groups.append(GroupOperation(inner))
        if isLocking { inner.exclusive("EngineDependent.around") }
        queue.addOperation(groups.entries[0])
        await groups.entries[0].ended()
        #expect(inner.publishedErrors.first?.publishedError is AOperationError.WaitsForItself)
    }

    @Test func dependent_runsBeforeTheEvaluation_ofAllConditions() async {
        let log = Log<String>()
        let operation = Step { log.append("executed") }
            .conditions(Rule(.success) { log.append("evaluated") }, Computed(log: log))
        await queue.run(all: [operation])
        #expect(log.entries == ["made", "dependent", "evaluated", "executed"])
    }

    @Test func dependentAsAConstant_runsOnce() async {
        let log = Log<String>()
        let operation = Step { log.append("executed") }.conditions(Constant(dependentOperation: Step { log.append("dependent") }))
        await queue.run(all: [operation])
        #expect(log.entries == ["dependent", "executed"])
    }

    /// It is one operation: it has run, or was cancelled, for both.
    @Test func conditionOfTwoOperations_runsItsDependentOnce() async {
        let log = Log<String>()
        let login = Login(log)
        let (first, second) = (Step("first").conditions(Constant(dependentOperation: login)), Step("second"))
        second.conditions(Constant(dependentOperation: login))
        await queue.run(all: [first])
        await queue.run(all: [second])
        #expect(log.entries == ["login"])
        #expect(second.outcome?.isSuccess == true)
    }

    @Test func dependentThatWasCancelledBefore_failsTheCondition() async {
        let log = Log<String>()
        let login = Login(log)
        login.cancel()
        let operation = Step().conditions(Constant(dependentOperation: login))
        await queue.run(all: [operation])
        #expect(operation.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
        #expect(log.entries.isEmpty)
    }

    private final class Login: VoidOperation, RetryableOperation, @unchecked Sendable {
        private let log: Log<String>
        init(_ log: Log<String>) {
            self.log = log
            super.init()
        }
        func new() -> Login { Login(log) }
        override func execute() {
            log.append("login")
            finish()
        }
    }

    @Test func dependentsFailure_failsTheCondition_byDefault() async {
        let log = Log<String>()
        let computed = Step { log.append("executed") }.conditions(Computed(log: log, isFailing: true))
        let constant = Step { log.append("executed") }.conditions(Constant(dependentOperation: Failing<Int>("constant")))
        await queue.run(all: [computed, constant])
        #expect(computed.publishedTexts == ["dependent"])
        #expect(constant.publishedTexts == ["constant"])
        #expect(constant.publishedErrors.first?.state == .condition)
        #expect(constant.publishedErrors.first?.publisher == "constant", "who failed is not hidden")
        #expect(log.entries == ["made"])
    }

    @Test func dependentsCancellation_failsTheCondition_byDefault() async {
        let gate = Gate("dependent")
        let operation = Step().conditions(Constant(dependentOperation: gate))
        queue.addOperation(operation)
        await gate.started.wait()
        gate.cancel()
        await operation.ended()
        #expect(operation.outcome?.isFailure == true)
        #expect(operation.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
    }

    @Test func customEvaluation_mayOverrideTheDependentsFailure() async {
        let operation = Step().conditions(
            Rule(dependent: { _ in Failing<Int>("dependent") }, evaluation: { _, answer in answer(.success) }))
        await queue.run(all: [operation])
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func eachCondition_seesItsOwnDependent() async {
        let operation = Step().conditions(
            Rule(after: { Failing<Int>("a") }), Rule(after: { Step() }), Rule(after: { Failing<Int>("c") }), Rule(after: { nil }))
        await queue.run(all: [operation])
        #expect(operation.publishedTexts == ["a", "c"])
    }

    @Test func dependency_isAskedForWithTheOperation() async {
        let operation = Step("the one")
        let asked = Log<String>()
        operation.conditions(
            Rule(dependent: { operation in
                asked.append(operation.name ?? "")
                return nil
            }))
        await queue.run(all: [operation])
        #expect(asked.entries == ["the one"])
    }

    @Test func dependentWithDependentsOfItsOwn_runsThemFirst_onOneSlot() async {
        let log = Log<String>()
        let serial = AOperationQueue(slots: 1)
        let operation = Step { log.append("operation") }.conditions(
            Rule(after: {
                Step { log.append("dependent") }.conditions(Rule(after: { Step { log.append("its dependent") } }))
            }))
        await serial.run(all: [operation])
        #expect(log.entries == ["its dependent", "dependent", "operation"])
    }

    @Test func dependent_mayBeAChainOrAGroup() async {
        let log = Log<String>()
        let operation = Step { log.append("operation") }.conditions(
            Rule(after: { Value(1).deliver(to: PassOn()).deliver(to: Keep()) }),
            Rule(after: { OrderedGroupOperation(Step { log.append("1") }, Step { log.append("2") }) }))
        await AOperationQueue(slots: 1).run(all: [operation])
        #expect(log.entries == ["1", "2", "operation"])
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func dependent_waitsForItsOwnDependencies() async {
        let gate = Gate()
        let dependent = Step("dependent")
        dependent.addDependency(gate)
        let operation = Step().conditions(Constant(dependentOperation: dependent))
        let serial = AOperationQueue(slots: 1)
        serial.addOperation(operation)
        serial.addOperation(gate)
        await gate.started.wait()
        #expect(dependent.outcome == nil)
        gate.open()
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func dependentSharedByTwoOperations_runsOnce_andBothWaitForIt() async {
        let gate = Gate()
        let condition = Constant(dependentOperation: gate)
        let one = Step().conditions(condition)
        let two = Step().conditions(condition)
        queue.addOperations([one, two], waitUntilFinished: false)
        await gate.started.wait()
        #expect(one.outcome == nil && two.outcome == nil)
        gate.open()
        await one.ended()
        await two.ended()
        #expect(one.outcome?.isSuccess == true && two.outcome?.isSuccess == true)
    }

    @Test func dependentOfAnotherQueue_isWaitedFor() async {
        let gate = Gate()
        AOperationQueue().addOperation(gate)
        let operation = Step().conditions(Constant(dependentOperation: gate))
        let serial = AOperationQueue(slots: 1)
        serial.addOperation(operation)
        await serial.settled()
        #expect(operation.outcome == nil)
        gate.open()
        await operation.ended()
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func dependentThatIsAlreadyCancelled_failsTheCondition() async {
        let dependent = Step("dependent")
        dependent.cancel()
        let operation = Step().conditions(Constant(dependentOperation: dependent))
        await queue.run(all: [operation])
        #expect(operation.publishedErrors.first?.publishedError is AOperationError.IsCancelled)
        #expect(operation.outcome?.isFailure == true)
    }

    @Test func evaluation_mayRunAnotherOperation_onTheSameSerialQueue() async {
        let serial = AOperationQueue(slots: 1)
        let operation = Step().conditions(
            Rule { _, answer in
                Value(7).didFinish { result in answer(result == .success(7) ? .success : .failed("no")) }.add(to: serial)
            })
        await serial.run(all: [operation])
        #expect(operation.outcome?.isSuccess == true)
    }

    @Test func dependentsAreNotMembers_ofQueueOrGroup() async {
        let gate = Gate("dependent")
        let child = Step().conditions(Constant(dependentOperation: gate))
        let group = GroupOperation(child)
        queue.addOperation(group)
        await gate.started.wait()
        #expect(queue.operations == [group])
        #expect(group.operations == [child])
        gate.open()
        await group.ended()
        #expect(group.outcomes.count == 1)
        #expect(group.outcome?.isSuccess == true)
    }

    @Test func nothingIsLeft_whenTheOperationHasEnded() async {
        let released = Signal()
        let (operation, dependent) = await {
            let tracer = Tracer(released)
            let dependent = Step("dependent") { _ = tracer }
            let operation = Step().conditions(
                Constant(dependentOperation: dependent), Rule { _, answer in withExtendedLifetime(tracer) { answer(.success) } })
            await queue.run(all: [operation])
            return (Weak(operation), Weak(dependent))
        }()
        await released.wait()
        await queue.idle()
        #expect(dependent.object == nil)
        _ = operation
    }
}
