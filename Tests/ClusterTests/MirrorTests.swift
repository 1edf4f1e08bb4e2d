import AOperation
import Executing
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

@testable import Cluster

extension Result {
    fileprivate var value: Success? { if case .success(let value) = self { value } else { nil } }
}

/// Mirrors that are told by a test what becomes of them.
@Suite(.timeLimit(.minutes(2))) struct MirrorTests {
    /// A local queue whose operations are mirrors.
    private final class Trial: Sendable {
        let mirrors: Mirrors
        let cancelled = Mutex<[String]>([])
        let queue = AOperationQueue()

        init(_ operations: AOperation...) {
            let graph = GraphBuilder.graph(of: operations)
            mirrors = Mirrors(graph)
            for member in graph.members {
                _ = member.operation?.becomeMirror { [weak self] _ in self?.cancelled.withLock { $0.append(member.path) } }
            }
            queue.addOperations(operations, waitUntilFinished: false)
            for member in graph.members { _ = member.operation?.handOver() }
        }

        func start(_ node: Int) { mirrors.apply([.init(node: node, news: .started)]) }

        func succeed(_ node: Int, _ text: String? = nil, hasStarted: Bool = true) {
            mirrors.apply([.init(node: node, news: .ended(.success(text.map { .text($0) } ?? .void), hasStarted: hasStarted))])
        }

        func fail(_ node: Int, _ text: String, hasStarted: Bool = true) {
            let errors = [AOperationError(TrialError(text: text), state: .execution, publisher: "there")]
            mirrors.apply([.init(node: node, news: .ended(.failure(errors), hasStarted: hasStarted))])
        }

        func cancel(_ node: Int, hasStarted: Bool = true, isByGroup: Bool? = nil) {
            mirrors.apply([.init(node: node, news: .ended(.cancelled, hasStarted: hasStarted), isStoppedByGroup: isByGroup)])
        }
    }

    /// What the listeners of operations are told.
    private final class Told: Sendable {
        private let lines = Mutex<[String: [String]]>([:])

        func listen<Output>(to operation: ResultableOperation<Output>, as name: String) {
            operation.didStart { self.note(name, "started") }
            operation.addObserver(
                BlockObserver(
                    cancelHandler: { _ in self.note(name, "cancelled") },
                    finishHandler: { _, errors in
                        self.note(name, "finished \(errors.allSatisfy { $0.publishedError is AOperationError.IsCancelled })")
                    }))
            operation.didFinish { result in
                self.note(name, "didFinish \(result.error?.publishedError is AOperationError.IsCancelled)")
            }
        }

        private func note(_ name: String, _ line: String) { lines.withLock { $0[name, default: []].append(line) } }

        var byName: [String: [String]] { lines.withLock { $0 } }

        /// How many are through.
        var finishedCount: Int { byName.values.count { lines in lines.contains { $0.hasPrefix("didFinish") } } }

        /// Of what was cancelled before it started.
        static let cancelled = ["cancelled", "finished true", "didFinish true"]
    }

    private func end(_ operation: AOperation) async {
        await withCheckedContinuation { continuation in operation.whenOver { continuation.resume() } }
    }

    @Test func leaf_isTold_likeAnyOperation() async {
        let events = Mutex<[String]>([])
        let emit = Emit("a").didStart { events.withLock { $0.append("start") } }
        let trial = Trial(emit)
        #expect(events.withLock { $0 }.isEmpty)
        trial.start(1)
        trial.start(1)
        trial.succeed(1, "A")
        trial.fail(1, "too late")
        await end(emit)
        #expect(emit.outcome?.value == "A")
        #expect(events.withLock { $0 } == ["start"])
        #expect(emit.isFinished && !emit.isCancelled)
    }

    @Test func endWithoutAStart_isAStartToo_ifItHadStarted() async {
        let starts = Mutex(0)
        let emit = Emit("a").didStart { starts.withLock { $0 += 1 } }
        let trial = Trial(emit)
        trial.fail(1, "broken")
        await end(emit)
        #expect(emit.outcome?.errors.map(\.localizedDescription) == ["trial: broken"])
        #expect(emit.publishedErrors.first?.publisher == "there")
        #expect(starts.withLock { $0 } == 1)
    }

    /// The cluster decides who is a duplicate, not the table of this process.
    @Test func uniqueOperations_areNoDuplicatesHere_andOneThatHasJoinedEndsWithoutAStart() async {
        let starts = Mutex<[String]>([])
        let (first, joined) = (Only("id", "a"), Only("id", "b", joins: true))
        for operation in [first, joined] { operation.didStart { starts.withLock { $0.append(operation.parameters.emit.text) } } }
        let before = Emit("before")
        joined.addDependency(before)
        let trial = Trial(first, joined, before)
        #expect(first.outcome == nil && joined.outcome == nil)
        trial.start(1)
        trial.succeed(1, "value")
        trial.succeed(2, "value", hasStarted: false)
        await end(first)
        await end(joined)
        #expect(joined.outcome?.value == "value")
        #expect(starts.withLock { $0 } == ["a"])
        trial.succeed(3)
        await end(before)
    }

    @Test func failureBeforeTheStart_startsNothing() async {
        let starts = Mutex(0)
        let emit = Emit("a").didStart { starts.withLock { $0 += 1 } }
        let trial = Trial(emit)
        trial.fail(1, "late", hasStarted: false)
        await end(emit)
        #expect(emit.outcome?.isFailure == true)
        #expect(starts.withLock { $0 } == 0)
    }

    @Test func groupWhoseConditionFails_tellsTheListenersOfItsChildren_thatTheyAreCancelled() async {
        let told = Mutex<[String]>([])
        let children = [Emit("a"), Emit("b")]
        for child in children {
            child.didStart { told.withLock { $0.append("started") } }
            child.addObserver(CancelledObserver { operation in told.withLock { $0.append("cancelled \(operation.name ?? "")") } })
            child.didFinish { result in told.withLock { $0.append("did \((try? result.get()) ?? "fail")") } }
        }
        children[0].name = "a"
        children[1].name = "b"
        let group = GroupOperation(children)
        let trial = Trial(group)
        for node in [1, 2] { trial.cancel(node, hasStarted: false) }
        let error = AOperationError(TrialError(text: "closed"), state: .condition, publisher: "Gate")
        trial.mirrors.apply([.init(node: 0, news: .ended(.failure([error]), hasStarted: false), ownErrors: [error])])
        await end(group)
        await until { told.withLock { $0.count } >= 4 }
        #expect(told.withLock { $0.sorted() } == ["cancelled a", "cancelled b", "did fail", "did fail"])
        #expect(group.publishedErrors.first?.localizedDescription == "trial: closed" && group.publishedErrors.first?.state == .condition)
    }

    /// Whoever asks for it, the program or somebody there: an operation, and all that is in a group.
    @Test(arguments: [true, false]) func cancellationBeforeTheStart_isTold_toEachListenerOnce(isAskedForHere: Bool) async {
        let (alone, a, b) = (Emit("alone"), Emit("a"), Emit("b"))
        let inner = OrderedGroupOperation(b)
        let group = GroupOperation(a, inner)
        let told = Told()
        for (name, emit) in [("alone", alone), ("a", a), ("b", b)] { told.listen(to: emit, as: name) }
        told.listen(to: inner, as: "inner")
        told.listen(to: group, as: "group")
        // Groups end after what is in them.
        let operations: [AOperation] = [alone, a, b, inner, group]
        let trial = Trial(alone, group)
        let members = trial.mirrors.graph.members
        if isAskedForHere {
            alone.cancel()
            group.cancel()
            #expect(trial.cancelled.withLock { $0.count } == 2)
            #expect(told.byName.isEmpty, "it is a request")
        }
        for operation in operations {
            if let node = members.firstIndex(where: { $0.operation === operation }) { trial.cancel(node, hasStarted: false) }
        }
        for operation in operations { await end(operation) }
        await until { told.finishedCount == 5 }
        for name in ["alone", "a", "b", "inner", "group"] { #expect(told.byName[name] == Told.cancelled, "\(name)") }
    }

    @Test func valuesAndDependents_takeTheLocalWay() async {
        let (a, b, join) = (Emit("a"), Emit("b"), Join())
        [a, b].deliver(to: join)
        let trial = Trial(a, b, join)
        let after = VoidOperation()
        after.addDependency(join)
        AOperationQueue().addOperation(after)
        trial.succeed(3, "A+B")  // the ends come in any order
        trial.succeed(2, "B")
        #expect(join.outcome == nil)
        trial.succeed(1, "A")
        await end(join)
        #expect(join.outcome?.value == "A+B")
        #expect(join.receivedValue?.value == ["A", "B"])
        await end(after)
    }

    @Test func stoppedGroup_hasTheCauseThatTheClusterNames_inWhateverOrderItsChildrenEndHere() async {
        let (before, fails, stopped, mine) = (Emit("before"), Emit("fails"), Emit("stopped"), Emit("mine"))
        fails.addDependency(before)
        let group = GroupOperation(before, fails, stopped, mine).onFailure(.stop)
        let trial = Trial(group)
        trial.start(0)
        // The cause has still to begin here when the others end.
        trial.mirrors.apply([
            .init(node: 3, news: .ended(.cancelled, hasStarted: true), isStoppedByGroup: true),
            .init(node: 4, news: .ended(.cancelled, hasStarted: true), isStoppedByGroup: false),
        ])
        trial.fail(2, "the cause")
        trial.succeed(1, "before")
        trial.mirrors.apply([.init(node: 0, news: .ended(.failure([]), hasStarted: true))])
        await end(group)
        #expect(group.publishedErrors.map(\.localizedDescription).first == "trial: the cause", "\(group.publishedErrors)")
        #expect(group.publishedErrors.count == 2 && group.publishedErrors.last?.publishedError is AOperationError.IsCancelled)
        #expect(stopped.outcome?.isCancelled == true && mine.outcome?.isCancelled == true && fails.outcome?.isFailure == true)
    }

    @Test func group_endsWhenItIsSaidSo_withItsChildrensErrors() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, b)
        let trial = Trial(group)
        trial.start(0)
        trial.start(1)
        trial.succeed(1, "A")
        trial.fail(2, "b")
        await end(b)
        await end(a)
        #expect(group.outcome == nil)
        trial.mirrors.apply([.init(node: 0, news: .ended(.failure([]), hasStarted: true))])
        await end(group)
        #expect(group.publishedErrors.map(\.localizedDescription) == ["trial: b"])
        #expect(group.outcomes.map(\.isSuccess) == [true, false])
    }

    @Test func errorOfTheGroupItself_isItsOutcome() async {
        let child = Emit("a")
        let group = GroupOperation(child)
        let trial = Trial(group)
        trial.start(0)
        trial.start(1)
        trial.cancel(1)
        trial.fail(0, "deadline")
        await end(group)
        #expect(child.outcome?.isCancelled == true)
        #expect(group.publishedErrors.map(\.localizedDescription) == ["trial: deadline"])
        #expect(trial.cancelled.withLock { $0 }.isEmpty)
    }

    @Test func orderedGroup_thatStops_asksForNothing_theClusterStopsItItself() async {
        let (a, b, c) = (Emit("a"), Emit("b"), Emit("c"))
        let group = OrderedGroupOperation([a, b, c], onFailure: .stop)
        let trial = Trial(group)
        trial.start(0)
        trial.fail(1, "a")
        trial.cancel(2, hasStarted: false, isByGroup: true)
        trial.cancel(3, hasStarted: false, isByGroup: true)
        trial.mirrors.apply([.init(node: 0, news: .ended(.failure([]), hasStarted: true))])
        await end(group)
        #expect(group.outcomes.map(\.isCancelled) == [false, true, true])
        #expect(group.publishedErrors.map(\.localizedDescription) == ["trial: a"])
        #expect(trial.cancelled.withLock { $0 }.isEmpty)
    }

    @Test func cancelHere_isARequest_andTheOperationEndsAsTheClusterSays() async {
        let told = Mutex<[String]>([])
        let emits = ["done", "failed", "cancelled"].map { Emit($0) }
        for emit in emits {
            emit.addObserver(BlockObserver(cancelHandler: { _ in told.withLock { $0.append(emit.parameters.text) } }))
        }
        let trial = Trial(emits[0], emits[1], emits[2])
        for node in 1...3 { trial.start(node) }
        for emit in emits + emits { emit.cancel() }
        #expect(emits.allSatisfy { $0.outcome == nil && $0.isCancelled && !$0.isFinished })
        #expect(trial.cancelled.withLock { $0 } == ["Emit", "Emit-2", "Emit-3"])
        trial.succeed(1, "A")
        trial.fail(2, "too early")
        trial.cancel(3)
        for emit in emits { await end(emit) }
        #expect(emits[0].outcome?.value == "A" && !emits[0].isCancelled)
        #expect(emits[1].publishedErrors.map(\.localizedDescription) == ["trial: too early"] && !emits[1].isCancelled)
        #expect(emits[2].outcome?.isCancelled == true && emits[2].isCancelled)
        #expect(told.withLock { $0 } == ["cancelled"])
    }

    /// Ends its body when it is cancelled, though that is elsewhere.
    private final class Hasty: ResultableOperation<String>, ClusterOperation, @unchecked Sendable {
        struct Parameters: Codable, Sendable {}

        let parameters: Parameters
        let cancellations = Mutex(0)

        init(_ parameters: Parameters = .init()) {
            self.parameters = parameters
            super.init()
        }

        override func execute() {}

        override func cancel() {
            super.cancel()
            cancellations.withLock { $0 += 1 }
            finish(with: .success("hasty"))
        }
    }

    @Test func programsOwnCancel_decidesNothing_andIsCalledOnce_whoeverCancels() async {
        let (running, waiting, stopped) = (Hasty(), Hasty(), Hasty())
        let trial = Trial(running, waiting, stopped)
        trial.start(1)
        running.cancel()
        waiting.cancel()
        #expect(running.outcome == nil && waiting.outcome == nil)
        trial.succeed(1, "there")
        trial.cancel(2, hasStarted: false)
        trial.cancel(3, hasStarted: false)
        for operation in [running, waiting, stopped] { await end(operation) }
        #expect(running.outcome?.value == "there" && waiting.outcome?.isCancelled == true && stopped.outcome?.isCancelled == true)
        #expect([running, waiting, stopped].map { $0.cancellations.withLock { $0 } } == [1, 1, 1])
    }

    @Test func cancelledReceiver_thatHadBegun_letsGoOfAProducerThatNobodyElseNeeds() async {
        let (a, join) = (Emit("a"), Join())
        [a].deliver(to: join)
        let trial = Trial(a, join)
        for node in [1, 2] { trial.start(node) }
        // Another attempt of both, of a net that is tried again; here the receiver waits for its producer.
        join.cancel()
        #expect(trial.cancelled.withLock { $0 } == ["Join"])
        trial.cancel(2)
        #expect(trial.cancelled.withLock { $0 } == ["Join", "Emit"])
        trial.cancel(1)
        await end(a)
        await end(join)
        #expect(join.outcome?.isCancelled == true)
    }

    /// Its producer's end does not count before its own.
    @Test func endOfANetThatIsTriedAgain_tellsItsStartAsSoonAsItHasBegunThere() async {
        let (a, join) = (Emit("a"), Join())
        let starts = Mutex(0)
        [a].deliver(to: join)
        join.retry(RetryPolicy(attempts: 2)).didStart { starts.withLock { $0 += 1 } }
        let trial = Trial(a, join)
        for node in [1, 2, 2] { trial.start(node) }
        #expect(starts.withLock { $0 } == 1 && a.outcome == nil)
        trial.succeed(1, "A")
        trial.succeed(2, "A!")
        await end(join)
        #expect(starts.withLock { $0 } == 1 && join.outcome?.value == "A!" && join.receivedValue?.value == ["A"])
    }

    @Test func cancelledBeforeItsSubmissionIsRefused_isCancelled_andAllInItIs() async {
        let (a, b, c) = (Emit("a"), Emit("b"), Emit("c"))
        let trial = Trial(a, OrderedGroupOperation(b), c)
        let group = trial.mirrors.graph.members[2].operation
        a.cancel()
        group?.cancel()
        #expect(a.outcome == nil && b.outcome == nil)
        trial.mirrors.endRest(.failure([AOperationError(ClusterError(.refused, "no"))]), wasNowhere: true)
        for operation in [a, b, c] { await end(operation) }
        #expect(a.outcome?.isCancelled == true && b.outcome?.isCancelled == true && group?.isCancelled == true)
        #expect(c.publishedErrors.map(\.localizedDescription) == ["no"])
    }

    @Test func cancelledBeforeTheQueueIsClosed_isNotKnownToBeCancelled() async {
        let emit = Emit("a")
        let trial = Trial(emit)
        emit.cancel()
        trial.mirrors.endRest(.failure([AOperationError(ClusterError(.closed, "gone"))]))
        await end(emit)
        #expect(emit.publishedErrors.map(\.localizedDescription) == ["gone"] && !emit.isCancelled)
    }

    @Test func cancelOfAGroupHere_isAskedForOnce_andItsMembersEndAsTheClusterSays() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, b)
        let trial = Trial(group)
        trial.start(0)
        trial.start(1)
        group.cancel()
        #expect(trial.cancelled.withLock { $0 } == [""])
        #expect(group.isCancelled && a.outcome == nil && b.outcome == nil)
        trial.cancel(2, hasStarted: false)
        await end(b)
        #expect(!group.isFinished)
        trial.succeed(1, "A")
        await end(a)
        #expect(!group.isFinished)
        trial.cancel(0)
        await end(group)
        #expect(group.outcome?.isCancelled == true && a.outcome?.value == "A" && b.outcome?.isCancelled == true)
    }

    /// The group has ended there, and so have its members; here the last one's listeners are still at it.
    @Test(arguments: [false, true]) func group_doesNotEndBeforeTheListenersOfItsLastChild(isCancelled: Bool) async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, b)
        let told = Mutex<[String]>([])
        let (observer, callback) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        b.addObserver(
            BlockObserver(finishHandler: { _, _ in
                told.withLock { $0.append("observer of b") }
                observer.wait()
                told.withLock { $0.append("observer of b is through") }
            }))
        b.didFinish { _ in
            told.withLock { $0.append("didFinish of b") }
            callback.wait()
            told.withLock { $0.append("didFinish of b is through") }
        }
        // What had been told before the group's end was.
        let earlier = Mutex<[String]>([])
        group.addObserver(
            BlockObserver(finishHandler: { _, _ in
                let lines = told.withLock { $0 }
                earlier.withLock { $0 = lines }
            }))
        group.didFinish { _ in told.withLock { $0.append("didFinish of the group") } }
        let trial = Trial(group)
        trial.queue.callbackQueue = DispatchQueue(label: "callbacks")  // nobody else's is held up
        trial.start(0)
        trial.start(1)
        if isCancelled { group.cancel() }
        trial.succeed(1, "A")
        await end(a)
        // Nothing has said yet that it has begun: it begins and ends on a thread of the queue, which its observer holds.
        if isCancelled { trial.cancel(2) } else { trial.succeed(2, "B") }
        await until { told.withLock { !$0.isEmpty } }
        if isCancelled { trial.cancel(0) } else { trial.succeed(0) }
        #expect(group.outcome == nil && !group.isFinished)
        #expect(told.withLock { $0 } == ["observer of b"] && earlier.withLock { $0.isEmpty })
        observer.signal()
        await end(group)
        #expect(earlier.withLock { Array($0.prefix(2)) } == ["observer of b", "observer of b is through"])
        await until { told.withLock { $0.contains("didFinish of b") } }
        #expect(told.withLock { $0 } == ["observer of b", "observer of b is through", "didFinish of b"])
        callback.signal()
        await until { told.withLock { $0.contains("didFinish of the group") } }
        #expect(told.withLock { Array($0.suffix(2)) } == ["didFinish of b is through", "didFinish of the group"])
        #expect(group.outcome?.isCancelled == isCancelled && b.outcome?.isCancelled == isCancelled && a.outcome?.value == "A")
    }

    @Test func cancelThere_isACancellationHere() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(a, b)
        let trial = Trial(group)
        trial.start(0)
        trial.start(1)
        trial.cancel(1)
        trial.cancel(2, hasStarted: false)
        trial.cancel(0)
        await end(group)
        #expect(group.outcome?.isCancelled == true)
        #expect(a.isCancelled && b.isCancelled)
        #expect(trial.cancelled.withLock { $0 }.isEmpty)
    }

    @Test func successThere_isNotUndoneByACancellationThatComesLater() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = OrderedGroupOperation(a, b)
        let trial = Trial(group)
        trial.succeed(1, "A")  // the group has not even begun here
        trial.start(0)
        group.cancel()
        trial.cancel(2, hasStarted: false)
        trial.cancel(0)
        await end(group)
        #expect(a.outcome?.value == "A")
        #expect(b.outcome?.isCancelled == true)
        #expect(group.outcome?.isCancelled == true)
    }

    @Test func cancelledBeforeItIsHandedOver_endsAtOnce() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = GroupOperation(b)
        let told = Told()
        told.listen(to: a, as: "a")
        told.listen(to: b, as: "b")
        told.listen(to: group, as: "group")
        let graph = GraphBuilder.graph(of: [a, group])
        for member in graph.members { _ = member.operation?.becomeMirror { _ in Issue.record("nothing is there yet") } }
        AOperationQueue().addOperations([a, group], waitUntilFinished: false)
        a.cancel()
        group.cancel()
        await end(a)
        await end(group)
        #expect(graph.members.compactMap(\.operation).allSatisfy { !$0.handOver() })
        await until { told.finishedCount == 3 }
        #expect(told.byName == ["a": Told.cancelled, "b": Told.cancelled, "group": Told.cancelled])
    }

    @Test func whatIsLost_fails_groupsLast() async {
        let (a, b) = (Emit("a"), Emit("b"))
        let group = OrderedGroupOperation(a, GroupOperation(b))
        let trial = Trial(group)
        trial.start(0)
        trial.start(1)
        trial.mirrors.endRest(.failure([AOperationError(ClusterError(.closed, "gone"))]))
        await end(group)
        #expect(a.publishedErrors.map(\.localizedDescription) == ["gone"])
        #expect(b.publishedErrors.map(\.localizedDescription) == ["gone"])
        #expect(group.publishedErrors.map(\.localizedDescription) == ["gone"])
        #expect(trial.mirrors.haveEnded)
    }

    @Test func valueThatDoesNotFit_failsTheOperation() async {
        let group = GroupOperation(Emit("a"))
        let trial = Trial(group)
        trial.mirrors.apply([.init(node: 1, news: .ended(.success(.bytes(Data([0xFF]))), hasStarted: true))])
        trial.succeed(0)
        await end(group)
        #expect(group.publishedErrors.first?.publishedError is ClusterCodingError)
    }

    @Test func timeLimitSetLater_asksForACancellation() async {
        let emit = Emit("a")
        let trial = Trial(emit)
        emit.timeout(.milliseconds(1))
        trial.start(1)
        await until { !trial.cancelled.withLock { $0.isEmpty } }
        #expect(emit.outcome == nil && trial.cancelled.withLock { $0 } == ["Emit"])
        trial.cancel(1)
        await end(emit)
        #expect(emit.outcome?.isCancelled == true)
    }

    @Test func whatIsSetLater_hasNoEffect() async {
        let emit = Emit("a")
        let trial = Trial(emit)
        emit.retry(RetryPolicy(attempts: 3)).conditions(FalseCondition()).deadline(.zero).willFinish { _, _ in }
        trial.start(1)
        trial.fail(1, "once")
        await end(emit)
        #expect(emit.publishedErrors.map(\.localizedDescription) == ["trial: once"])
    }

    @Test func childAddedLater_isRefused() async {
        let group = GroupOperation(Emit("a"))
        let trial = Trial(group)
        trial.start(0)
        let late = Emit("late")
        group.addOperation(late)
        await end(late)
        #expect(late.publishedErrors.first?.publishedError is AddedTooLate)
        trial.succeed(1, "A")
        trial.succeed(0)
        await end(group)
        #expect(group.outcome?.isSuccess == true)
    }
}
