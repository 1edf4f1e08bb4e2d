import Foundation
import Testing

/// Finishes within `main()`, and keeps its state itself, as programs do that were written for another Foundation.
private final class Synchronous: Foundation.Operation, @unchecked Sendable {
    // Invariant: only the test's own thread uses it.
    private var isOver = false

    override var isFinished: Bool { isOver }

    override func main() {
        isOver = true
        didChangeValue(forKey: "isFinished")
    }
}

/// Says that it is cancelled without having been.
private final class Pretending: Foundation.Operation, @unchecked Sendable {
    let hasRun = Signal()
    override var isCancelled: Bool { true }
    override func main() { hasRun.fire() }
}

/// Counts how often Foundation asks for its state.
private final class Asked: Foundation.Operation, @unchecked Sendable {
    let questions = Log<String>()
    override var isReady: Bool {
        questions.append("isReady")
        return super.isReady
    }
    override var isExecuting: Bool {
        questions.append("isExecuting")
        return false
    }
    override var isFinished: Bool {
        questions.append("isFinished")
        return false
    }
}

/// What Foundation itself does on Linux, as far as our operations are made the way they are because of it. When one of
/// these fails after a change of toolchain nothing is broken: what was done about it may have become needless.
@Suite(.timeLimit(Load.patience))
struct FoundationCanaryTests {
    /// Why `AOperation` overrides `start()`, and never calls Foundation's. When it fails that workaround can go.
    @Test func canary_L1_B8_bodyThatFinishesWithinMain_hasItsCompletionBlockCalledTwice() async {
        let calls = Log<Int>()
        let operation = Synchronous()
        operation.completionBlock = { calls.append(1) }
        operation.start()
        await until { calls.count == 2 }
        #expect(calls.count == 2)
    }

    /// Why `AOperation.cancel()` calls Foundation's. When it fails the override of `isCancelled` would be enough.
    @Test func canary_L4_overriddenIsCancelled_doesNotKeepMainFromRunning() {
        let operation = Pretending()
        operation.start()
        #expect(operation.hasRun.hasFired)
    }

    /// What lets a cancelled operation leave a queue before its dependencies have ended; plain members of our queues
    /// count on it. When it fails they have to be let go of in another way.
    @Test func canary_L4_cancellation_makesAnOperationReady_thatStillWaits() {
        let never = BlockOperation {}
        let operation = BlockOperation {}
        operation.addDependency(never)
        #expect(!operation.isReady)
        operation.cancel()
        #expect(operation.isReady)
        withExtendedLifetime(never) {}
    }

    /// Why `AOperation` keeps its dependencies itself. When it fails one reason for that has gone.
    @Test func canary_B1_removedDependency_isStillWaitedFor() {
        let never = BlockOperation {}
        let operation = BlockOperation {}
        operation.addDependency(never)
        operation.removeDependency(never)
        #expect(operation.dependencies.isEmpty)
        #expect(!operation.isReady)
        withExtendedLifetime(never) {}
    }

    /// Why `didFinish` and observers exist besides it. When it fails a completion block may name its operation.
    @Test func canary_B9_completionBlock_isKeptAfterItsCall() async {
        let called = Signal()
        let operation = BlockOperation {}
        operation.completionBlock = { called.fire() }
        operation.start()
        await called.wait()
        #expect(operation.completionBlock != nil)
    }

    /// Why our operations announce `isFinished` and `isReady`, and not a property they depend on. When it fails, look
    /// whether Foundation has come to derive them.
    @Test(arguments: ["state", "isCancelled", "isAsynchronous"])
    func canary_B12_announcementOfAnotherKey_isNotHeard(key: String) {
        let operation = Asked()
        operation.willChangeValue(forKey: key)
        operation.didChangeValue(forKey: key)
        #expect(operation.questions.entries.isEmpty)
    }

    /// What the announcements count on: each makes Foundation read the value, at once. When it fails they need other
    /// words.
    @Test(arguments: ["isReady", "isExecuting", "isFinished"])
    func canary_B12_announcementOfAKeyThatFoundationKnows_isHeardAtOnce(key: String) {
        let operation = Asked()
        operation.didChangeValue(forKey: key)
        #expect(operation.questions.entries.contains(key))
    }

    /// How the end of a plain operation is noticed (`DependencyWatch`): its dependents are asked whether they are
    /// ready, by the thread that finishes it. When it fails another sign is needed.
    @Test func canary_dependentOfAnOperationThatFinishes_isAskedAtOnce() {
        let first = BlockOperation {}
        let second = Asked()
        second.addDependency(first)
        let before = second.questions.count
        first.start()
        #expect(second.questions.entries.dropFirst(before).contains("isReady"))
    }
}
