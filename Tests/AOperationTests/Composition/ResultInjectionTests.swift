import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct ResultInjectionTests {
    let queue = AOperationQueue()

    /// Collects what is injected, and what it receives.
    final class Collector: VoidOperation, ReceiverOperation, @unchecked Sendable {
        var receivedValue: Result<Int, AOperationError>?
        let log = Log<String>()
        override func execute() {
            log.append("executed")
            finish()
        }
    }

    @Test func severalInjections_andADelivery_allArrive_inDeclaredOrder() async {
        let collector = Collector()
        let number = Value(1)
        let plain = BlockOperation()
        plain.name = "plain"
        collector.injectResult(from: number) { collector, number, errors in
            collector.log.append("number \(number.value(as: Int.self) ?? 0), received \((try? collector.receivedValue?.get()) ?? -1)")
        }
        collector.injectResultFromDependency(Failing<Int>("failing")) { collector, _, errors in
            collector.log.append("errors \(errors.map(\.localizedDescription))")
        }
        collector.injectResult(from: plain) { collector, plain, errors in
            collector.log.append("\(plain.name ?? "") \(plain.isFinished) \(errors.isEmpty)")
        }
        collector.injectResult(from: number) { collector, _, _ in collector.log.append("number again") }
        queue.addOperation(plain)
        Value(5).deliver(to: collector).add(to: queue)
        await collector.ended()
        #expect(
            collector.log.entries == [
                "number 1, received 5", "errors [\"failing\"]", "plain true true", "number again", "executed",
            ])
    }

    @Test func block_mayCancelTheReceiver_whichIsNeitherStartedNorExecuted() async {
        let collector = Collector().didStart { Issue.record("it was told of a start") }
        collector.injectResult(from: Failing<Int>("x")) { collector, _, errors in
            if !errors.isEmpty { collector.cancel() }
        }
        collector.add(to: queue)
        await collector.ended()
        #expect(collector.outcome?.isCancelled == true)
        #expect(collector.log.count == 0)
        await queue.idle()
    }

    @Test func block_mayFinishTheReceiver() async {
        let collector = Collector().didStart { Issue.record("it was told of a start") }
        collector.injectResult(from: Failing<Int>("x")) { collector, _, errors in collector.finish(errors.first) }
        collector.add(to: queue)
        await collector.ended()
        #expect(collector.publishedErrors.map(\.publisher) == ["x"])
        #expect(collector.log.count == 0)
        await queue.idle()
    }

    @Test func receiverThatIsCancelledBeforeItsStart_isNotGivenAnything() async {
        let gate = Gate()
        let collector = Collector()
        collector.injectResult(from: gate) { collector, _, _ in collector.log.append("injected") }
        collector.add(to: queue)
        await gate.started.wait()
        collector.cancel()
        gate.open()
        await queue.idle()
        #expect(collector.log.count == 0)
    }

    @Test func onceItExecutes_anInjectionIsTooLate() async {
        let gate = Gate()
        gate.add(to: queue)
        await gate.started.wait()
        let called = Log<Int>()
        gate.injectResult(from: Step()) { _, _, _ in called.append(1) }
        #expect(gate.dependencies.isEmpty)
        gate.open()
        await gate.ended()
        #expect(called.count == 0)
    }

    @Test func injectedOperation_canBeAGroup() async {
        let collector = Collector()
        let group = GroupOperation(Value(1), Value(2))
        collector.injectResult(from: group) { collector, group, _ in
            collector.log.append("\(group.results(of: Int.self).compactMap { $0 })")
        }
        collector.add(to: queue)
        await collector.ended()
        #expect(collector.log.entries == ["[1, 2]", "executed"])
    }

    @Test func operationThatNeverRuns_letsItsInjectionsGo() async {
        weak var dependency: AOperation?
        weak var receiver: AOperation?
        do {
            let collector = Collector()
            let step = Step()
            (dependency, receiver) = (step, collector)
            collector.injectResult(from: step) { _, _, _ in }
        }
        #expect(dependency == nil)
        #expect(receiver == nil)
    }
}
