import Foundation
import Testing

@testable import AOperation

extension DebuggerTests {
    /// What the library reports by itself. One after the other, and with the tests of the debugger: the handler is the process's.
    @Suite
    struct ErrorLineTests {
        @Test func bodyThatIgnoresCancellation_losesItsSlotAfterGrace_withAnErrorLine() async {
            let queue = AOperationQueue()
            queue.maxConcurrentOperationCount = 1
            let deaf = Gate("deaf-\(UUID())", isDeaf: true)
            deaf.grace = .milliseconds(50)
            let next = Step()
            queue.addOperations([deaf, next], waitUntilFinished: false)
            await deaf.started.wait()
            let lines = Log<String>()
            AOperation.Debugger.errorHandler = { lines.append($0) }
            deaf.cancel()
            await next.ended()
            AOperation.Debugger.errorHandler = nil
            #expect(lines.entries.contains { $0.contains(deaf.publisherName) })
            deaf.open()
        }

        /// A body of this process that a cluster gives its turn, and takes it away again.
        @Test func hostedBodyThatIsGivenUp_saysSoInAnErrorLine() async {
            let (queue, deaf, lines, endings) = (AOperationQueue(), Gate("deaf-\(UUID())", isDeaf: true), Log<String>(), Log<String>())
            #expect(deaf.becomeMirror { _ in })
            queue.addOperation(deaf)
            #expect(deaf.handOver())
            #expect(deaf.executeHosted(underTokens: ["key": 7]) { endings.append("\($0)") })
            await deaf.started.wait()
            AOperation.Debugger.errorHandler = { lines.append($0) }
            deaf.stopHosted()
            #expect(lines.entries.filter { $0.contains(deaf.publisherName) }.isEmpty && endings.entries.isEmpty)
            deaf.abandonHosted()
            AOperation.Debugger.errorHandler = nil
            #expect(lines.entries.contains { $0.contains(deaf.publisherName) && $0.contains("slot and locks are given to others") })
            #expect(endings.entries == ["cancelled"])
            deaf.open()
            deaf.remoteDidEnd(.cancelled, hasStarted: true)
            await deaf.ended()
        }

        @Test(arguments: [false, true])
        func graceOfAGroup_isThatOfItsMembers_thatHaveNone(hasOwn: Bool) async {
            let (queue, outer) = (AOperationQueue(), GroupOperation())
            let (deaf, lines) = (Gate("deaf-\(UUID())", isDeaf: true), Log<String>())
            let inner = GroupOperation(deaf)
            outer.grace = hasOwn ? .seconds(3_600) : .milliseconds(30)
            if hasOwn { deaf.grace = .milliseconds(20) }
            outer.addOperation(inner)
            AOperation.Debugger.errorHandler = { lines.append($0) }
            queue.addOperation(outer)
            await deaf.started.wait()
            #expect(deaf.grace == (hasOwn ? .milliseconds(20) : .milliseconds(30)) && inner.grace == outer.grace)
            deaf.cancel()
            await outer.ended()
            AOperation.Debugger.errorHandler = nil
            #expect(lines.entries.contains { $0.contains(deaf.publisherName) })
            #expect(Gate("alone").grace == .seconds(5))
            deaf.open()
        }

        enum Moment: CaseIterable { case afterTheBody, inDidFinish, later }

        @Test(arguments: Moment.allCases, [false, true])
        func whatIsProducedAfterTheEnd_isCancelled_withAnErrorLine(moment: Moment, isInGroup: Bool) async {
            let queue = AOperationQueue()
            let (told, late, producer) = (Log<String>(), Step(), Late("late-\(UUID())"))
            let lines = Log<String>()
            AOperation.Debugger.errorHandler = { lines.append($0) }
            producer.didProduce { _ in told.append("handler") }
            producer.observers(ProducedOperationObserver { _, _ in told.append("observer") })
            if moment == .afterTheBody { producer.afterwards.withLock { $0 = late } }
            if moment == .inDidFinish { producer.didFinish { [weak producer] _ in producer?.produce(late) } }
            let outer = isInGroup ? GroupOperation(producer) : producer
            queue.addOperation(outer)
            await queue.idle()
            await callbacksDelivered()
            if moment == .later { producer.produce(late) }
            await late.ended()
            await until { lines.entries.contains { $0.contains(producer.publisherName) } }  // written after that
            AOperation.Debugger.errorHandler = nil
            #expect(late.outcome?.isCancelled == true)
            #expect(told.entries.isEmpty)
        }

        @Test func whatIsProducedByAnObserverOfTheEnd_isInTime() async {
            let (producer, produced) = (Step(), Step())
            producer.observers(FinishedObserver { producer, _ in producer.produce(produced) })
            let group = GroupOperation(producer)
            _ = await group.result(on: AOperationQueue())
            #expect(produced.outcome?.isSuccess == true)
            #expect(group.operations.count == 2)
        }

        @Test func secondDelivery_toOneReceiver_replacesTheFirst_withAnErrorLine() async {
            let lines = Log<String>()
            AOperation.Debugger.errorHandler = { lines.append($0) }
            let (one, two, id) = (Value(1, name: "one"), Value(2, name: "two"), UUID())
            let receiver = Keep<Int>()
            receiver.name = "receiver-\(id)"
            one.deliver(to: receiver)
            #expect(!lines.entries.contains { $0.contains("\(id)") })
            two.deliver(to: receiver)
            receiver.add(to: AOperationQueue())
            await receiver.ended()
            let sum = MapOperationBlock<[Int], Int> { _, finish in finish(.success(0)) }
            sum.name = "sum-\(id)"
            [Value(1), Value(2)].deliver(to: sum)
            AOperation.Debugger.errorHandler = nil
            #expect(
                lines.entries.filter { $0.contains("\(id)") } == [
                    "the operation receiver-\(id) receives from one, and now from two instead: the last delivery counts. "
                        + "Deliver all of them at once: [a, b].deliver(to:), or deliver(a, b, to:)."
                ])
            #expect(one.outcome?.isSuccess == true)
            #expect((try? receiver.outcome?.value??.get()) == 2)
            sum.cancel()
        }

        @Test func additionToAnEndedGroup_isCancelled() async {
            let group = GroupOperation()
            _ = await group.result(on: AOperationQueue())
            let late = Step()
            let lines = Log<String>()
            AOperation.Debugger.errorHandler = { lines.append($0) }
            group.addOperation(late)
            AOperation.Debugger.errorHandler = nil
            #expect(late.outcome?.isCancelled == true)
            #expect(group.outcomes.isEmpty)
        }
    }
}

/// Produces an operation after it has finished.
private final class Late: VoidOperation, @unchecked Sendable {
    let afterwards = Guarded<AOperation?>(nil)

    init(_ name: String) {
        super.init()
        self.name = name
    }

    override func execute() {
        finish()
        if let operation = afterwards.withLock({ $0 }) { produce(operation) }
    }
}
