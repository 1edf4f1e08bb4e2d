import Foundation

/// A piece of work with dependencies, listeners and one outcome.
///
/// Subclass ``ResultableOperation`` (or ``VoidOperation``, ``AsyncOperation``), override ``execute()``, and call
/// `finish` when the work is done, on any thread:
///
/// ```swift
/// final class ReadText: ResultableOperation<String>, @unchecked Sendable {
///     let path: String
///     init(path: String) { self.path = path; super.init() }
///
///     override func execute() {
///         finish(with: Result { try String(contentsOfFile: path, encoding: .utf8) }.mapError { AOperationError($0) })
///     }
/// }
///
/// ReadText(path: "a.txt").didFinish { result in print(result) }.add(to: AOperationQueue())
/// ```
///
/// An operation ends exactly once: with a value, with errors, or cancelled. ``cancel()`` decides the outcome and tells
/// the listeners at once; the slot in the queue, and everything that waits for the operation, is let go when the body
/// has ended too: when `finish` has been called (its result is then ignored), or after ``grace``.
///
/// Invariant behind `@unchecked Sendable`: all state is in `core`, or reached under its lock; subclasses of the library
/// state theirs where they add any.
open class AOperation: Foundation.Operation, @unchecked Sendable {
    /// State, dependencies and listeners, under the one lock of the operation.
    let core = Guarded(OperationCore())
    /// Observers that may hold the end back; under the lock of `core`.
    final var holders: [any HoldingObserver] = []

    /// A name for this kind of operation: the unqualified name of its type.
    public class var key: String { String(describing: self) }

    public override init() {
        super.init()
    }

    deinit {
        // Only an operation that never was in a queue has anything left here; chains of them are released one by one.
        core.withLock { $0.takeDeclarations() }.withdrawDeclaration()
        var (watches, left) = core.withLock { $0.dismantle() }
        for watch in watches { watch.stop() }
        Trampoline.release(&watches)
        Trampoline.release(&left)
        Debugger.event(.deinitialized, of: self)
    }

    /// The operation's name in errors and debugger lines; the name of its type unless it is set.
    open override var name: String? {
        get { super.name ?? String(describing: type(of: self)) }
        set { super.name = newValue }
    }

    /// The name with which errors are published.
    var publisherName: String { name ?? String(describing: type(of: self)) }

    /// The type of the value that a success carries; `Void` for an operation without one.
    class var outputType: Any.Type { Void.self }

    // MARK: State

    /// Whether the operation is in no queue yet, so that it may still be configured.
    public final var isInitialized: Bool { core.withLock { $0.state.isInitialized } }

    open override var isAsynchronous: Bool { true }

    /// Whether the operation is executing: from just before ``execute()`` until its outcome is decided.
    open override var isExecuting: Bool { core.withLock { $0.state.isExecuting } }

    /// Whether nothing that the operation depends on is in the way of its start. In a Foundation queue it waits for
    /// that without a slot; an `AOperationQueue` does not ask: of an operation that is in one this is true.
    open override var isReady: Bool {
        super.isReady  // of its dependencies Foundation knows the barriers of its queues only
            && !isBlockedInFoundationQueue()
    }

    /// Whether the outcome is decided and observers have been told.
    open override var isFinished: Bool { core.withLock { $0.state.isFinished } }

    /// Whether it was cancelled in time. An operation that finished first, and was cancelled later, stays finished.
    ///
    /// While the body of an operation that has timed out still runs, this is true as well: the body is to stop. Of an
    /// operation that runs on a cluster it is true from ``cancel()`` on, and not any more if that came too late there.
    open override var isCancelled: Bool {
        core.withLock { core in
            core.isCancelRequested || core.isStopped || core.isBodyGivenUp || core.state.ending?.isCancelled == true
                || core.isCancelAsked
        }
    }

    /// The errors with which the operation ended; the first leads. Empty before the end and after a success. A
    /// cancelled operation has one ``AOperationError/IsCancelled``. Once those go on that wait for it in a delivery net that may be
    /// tried again, they are for them those of the last attempt.
    public final var publishedErrors: [AOperationError] { core.withLock { $0.state.delivered?.errors ?? [] } }

    /// How the operation ended, without its value; nil while the outcome is open.
    final var ending: Ending? { core.withLock { $0.state.ending } }

    /// Whether it is certain that it ends as cancelled.
    package final var hasEndedAsCancelled: Bool { ending?.isCancelled == true }

    /// Whether outcome and body are over, and everything that waited for the operation has been let go.
    package final var isEnded: Bool { core.withLock { $0.state.isEnded } }

    /// Blocks the calling thread until outcome and body are over, whoever runs the operation. Not for the main thread of a
    /// program that shows something, nor for an `async` function.
    @available(*, noasync)
    public final override func waitUntilFinished() {
        let end = DispatchSemaphore(value: 0)
        onEnd { _ in end.signal() }
        Trampoline.runWaiting()
        end.wait()
    }

    /// How long a body may go on after its outcome was decided (by a cancellation, a timeout). If nothing is set: as the
    /// group says that it is in, or the one around that; 5 s by default.
    ///
    /// Until then it holds its slot and everything that waits for it. Beyond that they are let go while it still
    /// runs, and an error line names the operation.
    public final var grace: Duration {
        get {
            var next: AOperation? = self
            while let operation = next {
                if let grace = operation.core.withLock({ $0.grace }) { return grace }
                next = operation.enclosing
            }
            return .seconds(5)
        }
        set { core.withLock { $0.grace = newValue } }
    }

    /// Whether somebody waits for the result: the quality of service is `.userInitiated`.
    public final var userInitiated: Bool {
        get { qualityOfService == .userInitiated }
        set { qualityOfService = newValue ? .userInitiated : .default }
    }

    // MARK: Work

    /// The work. Override it, do not call `super`, and call `finish` exactly once when the work is done; it may
    /// return before that.
    open func execute() {
        Debugger.event(.withoutBody, of: self)
        concludeWithoutResult()
    }

    /// Begins the body.
    func executeBody() { execute() }

    /// Asks the operation to stop, and decides its outcome: cancelled. Does nothing when the outcome is decided.
    ///
    /// Override it to stop the work, and call `super.cancel()`. A receiver also cancels the producers whose result
    /// nobody else waits for.
    ///
    /// When it returns nothing of a group begins any more, unless somebody else was cancelling the group, or something
    /// inside or around of it, at the same moment: then it may return a moment before that has reached every child.
    ///
    /// An operation that runs on a cluster asks for its cancellation there, and ends as the cluster says: one that has
    /// ended there first keeps that end.
    open override func cancel() {
        guard TimeOut.current !== self else {
            if !isHosting { endWithoutRemoteBody() }
            return
        }
        requestCancellation()
    }

    /// The outcome is to be "cancelled".
    final func tellCancellation() {
        super.cancel()
        Debugger.event(.cancelled, of: self)
        let (producers, isMirror) = core.withLock { ($0.producers, $0.attachments?.remote != nil) }
        tellCancel()
        carryOutCancellation()
        if isMirror { endWithoutRemoteBody() }
        core.withLock { $0.takeDeclarations() }.withdrawDeclaration()
        DeliveryNet.cancelUnneeded(producers)
    }

    /// Tells of a cancellation, before which the end is not told.
    final func tellCancel() {
        for observer in core.withLock({ $0.observers }) { observer.operationDidCancel(self) }
        if core.withLock({ $0.wasTold() }) { settle() }
    }

    /// Decides the outcome of a cancelled operation. A group waits for its children before it does.
    func carryOutCancellation() {
        interrupt(with: .cancelled(.isCancelled(self)))
    }

    /// Stops the work as a cancellation would, with another outcome: `error`. It is not tried again. Does nothing once
    /// the outcome is decided, or unless `isDue` says so of the state.
    final func timeOut(with error: AOperationError, if isDue: (OperationState) -> Bool = { _ in true }) {
        let ending = Ending.failure([error.published(by: publisherName)])
        stopBody(core.withLock { isDue($0.state) ? $0.stop(ending) : .nothing }, ending)
    }

    /// Stops the attempt `number`, unless it is over: it fails with `error`, and the retry policy is asked.
    final func timeOut(attempt number: Int, with error: AOperationError) {
        let ending = Ending.failure([error.published(by: publisherName)])
        let (isOpen, isContainer) = (mayBeTriedAgain(after: ending), isContainer)
        stopBody(core.withLock { $0.stopAttempt(number, ending, isOpen: isOpen, isContainer: isContainer) }, ending)
    }

    final func stopBody(_ stop: OperationCore.Stop, _ ending: Ending) {
        switch stop {
        case .deliberating: deliberate()
        case .decided: settle()
        case .decide: self.stop(with: ending)
        case .elsewhere: return cancel()
        case .nothing: return
        }
        TimeOut.$current.withValue(self) { cancel() }  // the program's own cancel() is where it stops its work
    }

    /// Decides the outcome of an operation that is stopped. A group waits for its children before it does.
    func stop(with ending: Ending) {
        interrupt(with: ending)
    }

    /// Whether operations inside of this one may name locks.
    var isContainer: Bool { false }

    /// Whether its body makes another operation and runs it.
    var makesParts: Bool { false }

    /// Makes what it runs, if it does; nil: nothing.
    func makePart() -> AOperation? { nil }

    /// The operations inside of this one.
    var members: [Foundation.Operation] { [] }

    /// Those that have not ended.
    final var openMembers: [Foundation.Operation] { members.filter { !$0.isOver } }

    /// A fresh operation for another attempt; nil when this one can only be tried once.
    func makeAttempt() -> AOperation? { (self as? any RetryableOperation)?.new() as? AOperation }

    /// Whether ``makeAttempt()`` makes one.
    var isRetryable: Bool { self is any RetryableOperation }

    /// Lets go of listeners, retry policy and time limits that its initializer has set, to become an attempt of another
    /// one: those of that one count.
    func dropListeners() {
        // Nothing of the program's is released under the lock.
        let dropped = core.withLock { ($0, takeClosures()) }
        defer { withExtendedLifetime(dropped) {} }
        core.withLock { core in
            core.observers = []
            core.delegate = nil
            core.startHandlers = []
            core.produceHandlers = []
            core.settleHandlers = []
            core.retryDecider = nil
            core.timeLimits = TimeLimits()
        }
    }

    /// Takes out closures that have no use after the end, with what they have caught: often the operation itself. Called
    /// under the operation's lock, outside of which they are released.
    func takeClosures() -> Closures? {
        guard !holders.isEmpty else { return nil }
        defer { holders = [] }
        return Closures(holders: holders)
    }

    /// `attempt` is about to be run in place of this operation's own body.
    func willBegin(_ attempt: AOperation) {}

    /// Gives what the program has set to one that is to do the same.
    func passSettings(to attempt: AOperation) {}

    /// Ends the operation because of its conditions or locks. A group ends its children first.
    func failBeforeExecution(_ errors: [AOperationError]) {
        conclude(with: .failure(errors))
    }

    /// Ends the operation with the outcome of another one with the same output.
    func end(like other: AOperation, with ending: Ending) {
        var dropped: Any?  // goes away when the lock is free
        conclude(with: ending) { dropped = adoptValue(of: other) }
        withExtendedLifetime(dropped) {}
    }

    /// The AOperations inside of this one, while it has not started.
    var unstartedMembers: [AOperation] { [] }

    /// It has become a mirror of an operation somewhere else.
    func didBecomeMirror() {}

    /// The body somewhere else has ended.
    func takeRemoteEnd(_ ending: RemoteEnding, hasStarted: Bool) { takeLeafEnd(ending, hasStarted: hasStarted) }

    /// Ends the work with a value that came from elsewhere.
    func concludeRemotely(with value: EncodedValue) throws { conclude(with: .success) }

    /// Takes over the value of an attempt that succeeded; under the lock of this operation.
    /// - Returns: the value before, which must not be released under that lock.
    func adoptValue(of attempt: AOperation) -> Any? { nil }

    /// Ends the work without a result.
    func concludeWithoutResult() {
        conclude(with: .success)
    }

    /// Whether somebody holds the end of this operation back; called under the operation's lock.
    func holdsBack() -> Bool { !holders.isEmpty }

    /// Those who do, to be told of an ending in this order.
    func holdListeners(of ending: Ending) -> [HoldListener] {
        core.withLock { _ in holders }.map { holder in
            { [self] finish in holder.operation(self, willFinishWith: ending.errors, finish: finish) }
        }
    }

    /// The slot that the operation gives back at its end, and its place among those that run; a group lends the one to
    /// its children meanwhile, and yields the other while none of them can run.
    func reclaimSlot(_ held: Bool) -> (hasSlot: Bool, isRunning: Bool) { (held, held) }

    /// The value of a success in wire form.
    func encodedValue() throws -> EncodedValue { .void }

    /// The value has left the process, and nobody in it will ask for it.
    func valueHasLeft() {}

    /// Whether it can only run in this process, though its type has a wire form: it reads what is only here.
    var staysHere: Bool { false }

    /// The value of a success; `()` for an operation without one.
    func anyValue() -> Any? { () }

    // MARK: Dependencies

    /// Lets this operation wait for the end of `operation`, however that ends: an `AOperation` in any queue, or a
    /// plain Foundation operation. Amortised constant time. Once the operation executes it is too late and nothing happens.
    open override func addDependency(_ operation: Foundation.Operation) {
        wait(for: operation)
    }

    /// Lets this operation no longer wait for `operation`. Amortised constant time.
    open override func removeDependency(_ operation: Foundation.Operation) {
        stopWaiting(for: operation)
    }

    /// What this operation waits for, in the order of declaration. Empty once the operation has ended: it does not
    /// keep its predecessors alive.
    open override var dependencies: [Foundation.Operation] { core.withLock { $0.dependencies.all } }

    // MARK: Foundation's entry points

    /// Runs the operation where no `AOperationQueue` does: in a Foundation queue, or by hand. For an operation of an
    /// `AOperationQueue` it does nothing: that starts it in its turn.
    public final override func start() {
        startByFoundation()
    }

    /// Does nothing: ``execute()`` is where the work is.
    public final override func main() {}
}

/// The operation whose `cancel()` is being called because it has timed out: only the program's override is meant.
enum TimeOut {
    @TaskLocal static var current: AOperation?
}
