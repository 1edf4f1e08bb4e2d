// What programs that were written in Swift 5, and on another system, do besides: they compile and run.

import AOperation
import Foundation
import Testing

/// State that Swift 6 would not have: a global variable and a static one.
private var log: [String] = []

/// Restates `@unchecked Sendable`, as every subclass has to here, and keeps what it likes.
private class Legacy: VoidOperation, @unchecked Sendable {
    static var made: [Legacy] = []
    var text = ""

    class func make(_ text: String) -> Legacy {
        let operation = self.init()
        operation.text = text
        made.append(operation)
        return operation
    }

    required override init() { super.init() }

    override func execute() {
        log.append(text)
        finish()
    }
}

private final class LegacyChild: Legacy, @unchecked Sendable {
    override func execute() {
        text += "!"
        super.execute()
    }
}

/// Listens without `@objc`, and says nothing of Sendable.
private class Listener: AOperationObserver {
    var ends = 0
    func operationDidFinish(_ operation: AOperation, errors: [AOperationError]) { ends += 1 }
}

@Suite("Programs in Swift 5", .timeLimit(.minutes(1)))
struct SwiftFiveSnippets {
    @Test func L5_programWithGlobalStateAndSubclassesOfSubclasses_compilesAndRuns() async {
        #if swift(>=6)
            Issue.record("this target is to be built in the language mode of Swift 5")
        #endif
        AOperation.Debugger.printOperationsState = AOperation.Debugger.printOperationsState
        let listener = Listener()
        let group = OrderedGroupOperation(Legacy.make("a"), LegacyChild.make("b"))
        group.addObserver(listener)
        let result = await group.result(on: AOperationQueue())
        #expect(result.error == nil)
        #expect(log == ["a", "b!"])
        #expect(Legacy.made.map(\.text) == ["a", "b!"])
        #expect(listener.ends == 1)
    }

    /// For seconds in place of `NSEC_PER_SEC`, labels in place of `OS_dispatch_queue_serial`, closures in place of
    /// selectors, times of our own in place of `CFAbsoluteTimeGetCurrent`, and a look at the network without
    /// SystemConfiguration.
    @Test func L10_delaysQueuesTimersTimesAndTheNetwork_needNothingOfAnotherSystem() async {
        let heard = Heard()
        let callbacks = DispatchQueue(label: "callbacks", qos: .utility)
        let queue = AOperationQueue()
        queue.callbackQueue = callbacks
        let timer = AOperationTimer(interval: 0.001) { heard("timer") }
        let operation = OperationA()
        operation.condition { completion in
            Reachability(url: URL(fileURLWithPath: "/")).check { _ in completion(.success) }
        }
        let delay = DelayOperation<Void>(0.001)
        delay.addDependency(operation)
        delay.observers(
            BlockObserver(
                startHandler: { _ in heard("started") },
                finishHandler: { _, errors in heard("\(errors.count) errors") })
        )
        .didFinish { _ in
            dispatchPrecondition(condition: .onQueue(callbacks))
            heard("finished")
        }
        queue.addOperations([operation, delay], waitUntilFinished: false)
        await heard.wait(for: "timer")
        await heard.wait(for: "finished")
        timer.cancel()
        #expect(heard.words.filter { $0 != "timer" } == ["started", "0 errors", "finished"])
    }
}
