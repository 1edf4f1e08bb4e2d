import Foundation
import Testing

@testable import AOperation

/// Circles through plain operations, which start when the group that they are in starts them.
@Suite(.timeLimit(Load.patience))
struct PlainLockCycleTests {
    let key = freshKey("key")
    let queue = AOperationQueue()

    /// A group that holds the key, and has a child that waits for `member`: it has been looked at, even if it had to wait for that
    /// together with what other tests do.
    private func holder(waitingFor member: Foundation.Operation, isPlain: Bool = false) async -> GroupOperation {
        let gate = Gate()
        let child: Foundation.Operation = isPlain ? BlockOperation {} : Step("child")
        child.addDependency(member)
        let group = GroupOperation(child, gate)  // the child waits when the gate has started
        group.exclusive(key)
        queue.addOperation(group)
        await gate.started.wait()
        gate.open()
        await gate.ended()
        await until { LateCircleCheck.isIdle }
        return group
    }

    enum Place: CaseIterable {
        case group, groupInGroup, orderedGroup, behindAnother, composed

        func make(of plain: Foundation.Operation) -> GroupOperation {
            switch self {
            case .group: GroupOperation(plain)
            case .groupInGroup: GroupOperation(Step(), GroupOperation(plain))
            case .orderedGroup: OrderedGroupOperation(BlockOperation {}, plain)
            case .behindAnother: GroupOperation(GroupOperation.following(plain))
            case .composed: ComposedOperation(operation: plain)
            }
        }
    }

    @Test(arguments: Place.allCases, [false, true])
    func groupThatAsksForTheKey_whileItsHolderWaitsForItsPlainChild_fails(place: Place, isPlainWaiting: Bool) async {
        let plain = BlockOperation {}
        let holder = await holder(waitingFor: plain, isPlain: isPlainWaiting)
        let asks = place.make(of: plain)
        asks.exclusive(key)
        queue.addOperation(asks)
        await asks.ended()
        #expect(asks.isLockCycle)
        await holder.ended()
        #expect(holder.outcome?.isSuccess == true)
    }

    @Test func childThatComesToWaitForAPlainOperation_whoseGroupWaitsForTheKey_fails() async {
        let (holder, gate) = await queue.runningGroup("holder", [key])
        let plain = BlockOperation {}
        let asks = GroupOperation(plain)
        asks.exclusive(key)
        queue.addOperation(asks)
        await hasAsked(asks)
        let child = Step("child")
        child.addDependency(plain)
        holder.addOperation(child)
        await child.ended()
        #expect(child.isLockCycle)
        gate.open()
        await asks.ended()
        #expect(asks.outcome?.isSuccess == true)
    }

    /// Three groups: the plain child's waits for a key whose holder waits for the first one's.
    @Test func circleThroughAThirdGroup_isFound() async {
        let other = freshKey("other")
        let (third, gate) = await queue.runningGroup("third", [other])
        let plain = BlockOperation {}
        let holder = await holder(waitingFor: plain)
        let asks = GroupOperation(plain)
        asks.exclusive(other)
        queue.addOperation(asks)
        await hasAsked(asks)
        let closes = Step("closes").exclusive(key)
        third.addOperation(closes)
        await closes.ended()
        #expect(closes.isLockCycle)
        gate.open()
        await holder.ended()
        await asks.ended()
        #expect(asks.outcome?.isSuccess == true)
    }

    @Test(arguments: [1, 3])
    func childOfAnOrderedGroup_thatAsksForTheKey_whileItsHolderWaitsForAPlainSuccessor_fails(successors: Int) async {
        let (ordered, gate) = (OrderedGroupOperation(), Gate())
        ordered.addOperation(gate)
        queue.addOperation(ordered)
        await gate.started.wait()
        let plain = (0..<successors).map { _ in BlockOperation {} }
        let asks = Step("asks").exclusive(key)
        ordered.addOperation(asks)
        ordered.addOperations(plain)
        let holder = await holder(waitingFor: plain[successors - 1])
        gate.open()
        await asks.ended()
        #expect(asks.isLockCycle)
        await holder.ended()
        await ordered.ended()
        #expect(holder.outcome?.isSuccess == true)
    }

    /// Somebody else runs the plain operation: it ends without the group that waits.
    @Test(arguments: [false, true])
    func plainOperationInTwoPlaces_closesNoCircle(isInQueue: Bool) async {
        let gate = Gate()
        let plain = BlockOperation {}
        plain.addDependency(gate)
        let asks = GroupOperation(plain)
        asks.exclusive(key)
        queue.addOperation(isInQueue ? plain : GroupOperation(plain))
        let holder = await holder(waitingFor: plain)
        queue.addOperation(asks)
        await hasAsked(asks)
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        await holder.ended()
        await asks.ended()
        #expect(holder.outcome?.isSuccess == true)
        #expect(asks.outcome?.isSuccess == true)
    }

    /// A group that was never run, and is gone, runs nothing.
    @Test func groupThatIsGone_isNoPlace() async {
        let plain = BlockOperation {}
        _ = GroupOperation(GroupOperation(plain))
        let holder = await holder(waitingFor: plain)
        let asks = GroupOperation(plain)
        asks.exclusive(key)
        queue.addOperation(asks)
        await asks.ended()
        #expect(asks.isLockCycle)
        await holder.ended()
    }

    /// A producer that was cancelled before it was in any queue: plain operations hear of it when it comes with its receiver's group.
    @Test(arguments: [false, true])
    func producerThatWouldCome_withTheGroupThatAsksForTheKey_closesTheCircle(hasAsked: Bool) async {
        let producer = Attempted(.failing("producer", 0))
        let asks = GroupOperation([producer].deliver(to: Scripted<[String]>(.failing("receiver", 0))))
        asks.exclusive(key)
        producer.cancel()
        let plain = BlockOperation {}
        plain.addDependency(producer)
        let gate = Gate()
        let group = GroupOperation(hasAsked ? [gate] : [plain, gate])
        group.exclusive(key)
        queue.addOperation(group)
        await gate.started.wait()
        queue.addOperation(asks)
        if hasAsked {
            await AOperationTests.hasAsked(asks)
            group.addOperation(plain)
        }
        await asks.ended()
        #expect(asks.isLockCycle)
        gate.open()
        queue.addOperation(producer)  // the group that would bring it never starts
        await group.ended()
        #expect(plain.isFinished)
    }

    @Test func producerThatComesAlone_closesNoCircle() async {
        let producer = Attempted(.failing("producer", 0))
        let asks = GroupOperation([producer].deliver(to: Scripted<[String]>(.failing("receiver", 0))))
        asks.exclusive(key)
        producer.cancel()
        queue.addOperation(producer)
        let plain = BlockOperation {}
        plain.addDependency(producer)
        let gate = Gate()
        let group = GroupOperation([plain, gate])
        group.exclusive(key)
        queue.addOperation(group)
        await gate.started.wait()
        queue.addOperation(asks)
        await hasAsked(asks)
        gate.open()
        await asks.ended()
        #expect(!asks.isLockCycle)
        await group.ended()
        #expect(plain.isFinished)
    }

    /// Its group waits for something else.
    @Test func plainChildOfAGroupThatWillStart_closesNoCircle() async {
        let gate = Gate()
        let plain = BlockOperation {}
        let later = GroupOperation(plain)
        later.addDependency(gate)
        queue.addOperation(later)
        let holder = await holder(waitingFor: plain)
        let asks = Step("asks").exclusive(key)
        queue.addOperation(asks)
        await hasAsked(asks)
        queue.addOperation(gate)
        await gate.started.wait()
        gate.open()
        for operation in [holder, later, asks] as [AOperation] {
            await operation.ended()
            #expect(operation.publishedErrors.isEmpty)
        }
    }
}

extension GroupOperation {
    /// A group in which `plain` waits for another plain operation of that group.
    fileprivate static func following(_ plain: Foundation.Operation) -> GroupOperation {
        let first = BlockOperation {}
        plain.addDependency(first)
        return GroupOperation(first, plain)
    }
}
