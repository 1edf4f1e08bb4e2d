import Foundation

/// Operations one after another, each decided when the one before has ended: from its result, or its errors.
///
/// ```swift
/// final class RepositoryIssues: OperationSequence, @unchecked Sendable {
///     override func nextOperation(after previous: AOperation?) -> AOperation? {
///         guard let previous else { return Repositories(of: "me") }
///         guard let repositories = previous.value(as: [Repository].self) else { return nil }
///         return GroupOperation(repositories.map { Issues(of: $0) }).onFailure(.stop)
///     }
/// }
/// ```
/// Or with a closure: `OperationSequence { previous in previous == nil ? Login() : nil }`.
///
/// A step may be any operation, a group or a sequence included, and runs with all that belongs to it (its delivery
/// net, and dependencies that are in no queue yet); the next step is asked for when all of that has ended, whatever its
/// outcome.
///
/// The sequence succeeds if its last step does, or if there is none: whoever goes on after a failed step has dealt
/// with it. Else it fails, with the errors of all its steps in order. It is cancelled only if it was cancelled itself.
/// What belongs to a step counts through the step alone, with its errors; operations that are added otherwise (`addOperation`,
/// `produce`) run beside the steps, and their failures count. With `onFailure: .stop` the first failure is the end.
///
/// As a group it keeps every step with its outcome (``GroupOperation/outcomes``), so that its memory grows with their
/// number; it delivers to receivers, and is one operation to the outside. No slot is held between two steps.
///
/// On a cluster the process that submits it decides, unless it is a ``ClusterGroup``.
///
/// Invariant behind `@unchecked Sendable`: `step`, `begun` and `waits` are only reached under their locks; `next` is constant.
open class OperationSequence: GroupOperation, @unchecked Sendable {
    private let next: (@Sendable (_ previous: AOperation?) -> AOperation?)?
    private let step = Guarded<SequenceStep?>(nil)
    private let begun = Guarded(0)
    private let waits: Guarded<AnyIterator<Duration>>

    /// A sequence that is decided by ``nextOperation(after:)`` of a subclass.
    ///
    /// - Parameter wait: how long to wait before the second step, the third, and so on; not at all by default.
    public init(wait: WaitStrategy = .immediate) {
        next = nil
        waits = Guarded(AnyIterator(wait.makeIterator()))
        super.init([])
    }

    /// A sequence that is decided by a closure.
    ///
    /// - Parameters:
    ///   - wait: how long to wait before the second step, the third, and so on; not at all by default.
    ///   - next: as ``nextOperation(after:)``.
    public init(wait: WaitStrategy = .immediate, _ next: @escaping @Sendable (_ previous: AOperation?) -> AOperation?) {
        self.next = next
        waits = Guarded(AnyIterator(wait.makeIterator()))
        super.init([])
    }

    /// Takes the waits between the steps from `delays` from now on.
    final func draw(waitsFrom delays: some IteratorProtocol<Duration>) {
        waits.withLock { $0 = AnyIterator(delays) }
    }

    /// Decides what comes next; nil ends the sequence.
    ///
    /// Return a new operation each time: one that has been a step before ends the sequence with
    /// ``AOperationError/StepRepeated``, one that the sequence is inside of with ``AOperationError/WaitsForItself``.
    /// Never called twice at a time, and not any more once the sequence was cancelled, timed out or stopped.
    ///
    /// - Parameter previous: the step that has ended; nil for the first call.
    open func nextOperation(after previous: AOperation?) -> AOperation? { next?(previous) }

    /// How many steps there have been.
    final var stepsBegun: Int { begun.withLock { $0 } }

    /// Whether the failure of a step is dealt with when another step follows.
    var forgivesSteps: Bool { true }

    /// Starts the first step. A subclass that overrides it calls `super.execute()`.
    open override func execute() {
        stayingOpen {
            super.execute()
            proceed(after: nil)
        }
    }

    final override func childEnded(_ operation: Foundation.Operation) {
        guard let ended = step.withLock({ takeStep(&$0, ifOver: $0?.memberEnded(operation) ?? false) }) else { return }
        ended.pause?.cancel()
        proceed(after: ended.operation)
    }

    private final func takeStep(_ step: inout SequenceStep?, ifOver isOver: Bool) -> SequenceStep? {
        guard isOver else { return nil }
        defer { step = nil }
        return step
    }

    /// Starts the next step; a loop, for steps that have ended before they came.
    private final func proceed(after previous: AOperation?) {
        var previous = previous
        while let next = decide(after: previous) {
            guard start(next, after: previous) else { return }
            previous = next
        }
    }

    /// Decides once, in a sequence that was made for nothing else: there have been `number` - 1 steps.
    final func decide(_ number: Int, after previous: AOperation?) {
        begun.withLock { $0 = number - 1 }
        if number > 2 { waits.withLock { waits in for _ in 2..<number { _ = waits.next() } } }
        proceed(after: previous)
    }

    /// Whether a step ended elsewhere because this sequence was to end: that is heard of before the sequence's own end.
    private func hasStopped(_ step: AOperation?) -> Bool {
        isCancelAsked || step.map { step in roster.withLock { $0.hasStoppedElsewhere(step) } } == true
    }

    private final func decide(after previous: AOperation?) -> AOperation? {
        guard takesMore, !isDecidedElsewhere, !hasStopped(previous), let next = nextOperation(after: previous) else { return nil }
        guard next !== self, next !== previous, !isChild(next) else {
            aggregateError(AOperationError(AOperationError.StepRepeated(sequence: self, step: next)))
            return nil
        }
        guard !isInside(of: next) else {
            aggregateError(AOperationError(AOperationError.WaitsForItself(self, running: next)))
            return nil
        }
        return next
    }

    /// Adds a step's operations. Returns whether they have all ended already.
    private final func start(_ next: AOperation, after previous: AOperation?) -> Bool {
        let members = next.unqueuedDependencies()
        let pause = previous == nil ? nil : pause(before: members)
        step.withLock { $0 = SequenceStep(next, members: members, pause: pause) }
        begun.withLock { $0 += 1 }
        _ = DecisionCapture.keep(for: self) { $0.step = next }
        if forgivesSteps {
            if let previous { forgive(previous) }
            for member in members where member !== next { forgive(member, isListed: false) }
        }
        pause?.start()
        RetryScope.foresee(members)
        for member in members { addOperation(member) }
        guard let ended = step.withLock({ takeStep(&$0, ifOver: $0?.added() ?? false) }) else { return false }
        ended.pause?.cancel()
        return true
    }

    /// Lets the operations wait, without a slot.
    private final func pause(before members: [AOperation]) -> DelayOperation<Void>? {
        guard let wait = waits.withLock({ $0.next() }), wait > .zero else { return nil }
        guard !runsElsewhere else {
            // They run elsewhere: so does their wait. Those that wait for others of them have waited with these.
            let step = Set(members.map { ObjectIdentifier($0) })
            for member in members where !member.dependencies.contains(where: { step.contains(ObjectIdentifier($0)) }) { member.delay(wait) }
            return nil
        }
        let pause = DelayOperation<Void>(wait.interval)
        for member in members { member.addDependency(pause) }
        return pause
    }
}
