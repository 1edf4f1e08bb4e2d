import Foundation
import Testing

@testable import AOperation

/// What random graphs have found (decision 22), each as small as it could be made.
@Suite(.timeLimit(Load.patience))
struct RandomGraphDefectTests {
    private let queue = AOperationQueue()

    /// Its body ends only when it is let go.
    private final class Deaf: VoidOperation, RetryableOperation, @unchecked Sendable {
        let bodies: Log<Deaf>
        init(_ bodies: Log<Deaf>) {
            self.bodies = bodies
            super.init()
            name = "deaf"
        }
        func new() -> Deaf { Deaf(bodies) }
        override func execute() { bodies.append(self) }
    }

    /// An attempt that has timed out counted as cancelled by somebody, and so became an error of the group.
    @Test func stoppedWhileATimedOutAttemptStillRuns_isNoErrorOfTheGroup() async {
        let bodies = Log<Deaf>()
        let asked = Signal()
        let deaf = Deaf(bodies).retryOnFailure { _, _, _ in asked.fire() }
        deaf.timeout(.milliseconds(1))
        let failing = Gate("failing")
        let group = GroupOperation(deaf, failing).onFailure(.stop)
        group.add(to: queue)
        await asked.wait()
        await failing.started.wait()
        failing.finish(AOperationError(Failed(text: "failing")))
        for body in bodies.entries { body.finish() }
        await group.ended()
        #expect(deaf.outcome?.isCancelled == true)
        #expect(group.publishedTexts == ["failing"])
    }

    /// The listeners of a start were told while others were told of the end.
    @Test func cancelledFromElsewhereWhileItsStartIsTold_endsWhenThatWasTold() async {
        let log = Log<String>()
        let operation = Gate("operation")
        operation.addObserver(
            BlockObserver(startHandler: { operation in
                let isCancelled = DispatchSemaphore(value: 0)
                DispatchQueue.global().async {
                    operation.cancel()
                    isCancelled.signal()
                }
                isCancelled.wait()
            }))
        operation.addObserver(
            BlockObserver(startHandler: { _ in log.append("start") }, finishHandler: { _, _ in log.append("finish") }))
        operation.add(to: queue)
        await operation.ended()
        #expect(log.entries == ["start", "finish"])
        #expect(operation.outcome?.isCancelled == true)
    }

    /// Asks for another evaluation, and lets the test answer.
    private struct Held: AOperationCondition {
        let questions: Log<@Sendable (OperationConditionResult) -> Void>
        let isAskedAgain: Signal

        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) {
            questions.append(completion)
            if questions.count > 1 { return isAskedAgain.fire() }
            completion(.failure(AOperationError(Failed(text: "not yet"))))
        }
    }

    /// An operation was cancelled, its attempt had not heard of that yet, and its body began.
    @Test func cancelledBeforeItsSecondAttemptBegins_runsNoBody() async {
        let one = AOperationQueue(slots: 1)
        let (bodies, questions, isAskedAgain) = (Log<Deaf>(), Log<@Sendable (OperationConditionResult) -> Void>(), Signal())
        let operation = Deaf(bodies).retry(RetryPolicy(attempts: 2))
        operation.grace = .milliseconds(10)
        operation.addCondition(Held(questions: questions, isAskedAgain: isAskedAgain))
        operation.addObserver(
            BlockObserver(cancelHandler: { [one] _ in
                // The attempt gets the only slot, and then this one does.
                questions.entries.last?(.success)
                let next = DispatchSemaphore(value: 0)
                Step { next.signal() }.add(to: one)
                next.wait()
            }))
        operation.add(to: one)
        await isAskedAgain.wait()
        await onThread { operation.cancel() }
        await operation.ended()
        #expect(operation.outcome?.isCancelled == true)
        #expect(bodies.count == 0)
    }
}

extension RandomGraphDefectTests {
    /// Looks at what it waits for when it is known that it is a duplicate, and nothing has come of that yet.
    private final class Only: VoidOperation, UniqueOperation, @unchecked Sendable {
        let first: AOperation?
        let looks: Log<Bool>
        let gate: Signal?

        init(after first: AOperation?, _ looks: Log<Bool>) {
            (self.first, self.looks, gate) = (first, looks, first == nil ? Signal() : nil)
            super.init()
        }

        var uniqueId: String { "RandomGraphDefectTests.Only" }
        var onDuplicate: DuplicatePolicy {
            if let first, core.withLock({ $0.uniqueness != nil }) { looks.append(WaitForGraph.leads(from: self, to: first)) }
            return .ignore
        }

        override func execute() { gate?.fire() }
    }

    /// One that asked for a lock at that moment was told of a circle: of the holder, the duplicate in that, and itself.
    @Test func duplicateThatIsAboutToBeIgnored_waitsForNobody() async {
        let looks = Log<Bool>()
        let first = Only(after: nil, looks)
        first.add(to: queue)
        await first.gate?.wait()
        let duplicate = Only(after: first, looks)
        duplicate.add(to: queue)
        await duplicate.ended()
        #expect(duplicate.publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate)
        #expect(looks.entries == [false])
        first.finish()
        await first.ended()
    }
}
