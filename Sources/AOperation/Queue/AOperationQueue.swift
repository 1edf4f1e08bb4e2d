import Foundation

/// Runs operations: each when its dependencies have ended and a slot is free.
///
/// It owns dependencies, readiness and slots; all of adding, starting and ending an operation is constant-time,
/// whatever else waits. (Only while operations of the process wait for a lock out of another one's scope, or have joined another
/// one, it is looked at each addition where these lead, or, if there are more than a few, where the new one leads.) Plain Foundation operations run in it as well, and dependencies work in both directions.
///
/// ```swift
/// let queue = AOperationQueue()
/// queue.maxConcurrentOperationCount = 4
/// ReadText(path: "a.txt").deliver(to: CountWords()).didFinish { print($0) }.add(to: queue)
/// ```
///
/// `operations` and `operationCount` are Foundation's: they name every AOperation that has not ended, and of the plain
/// operations those whose turn has come.
///
/// Nothing needs the main queue: operations run on Dispatch's global queues (or ``underlyingQueue``), `didFinish` is
/// called on ``callbackQueue``. A queue lives at least as long as it has operations: one that is suspended when the program
/// lets go of it stays in memory with all that is in it. Cancel them before, or let it go on.
///
/// Invariant behind `@unchecked Sendable`: `settings` is only reached under its lock; the lane is safe by itself.
open class AOperationQueue: Foundation.OperationQueue, @unchecked Sendable {
    /// A queue for those who do not need their own.
    public static let shared = AOperationQueue()

    let lane = Lane()
    private let settings = Guarded(Settings())

    private struct Settings {
        weak var delegate: (any AOperationQueueDelegate)?
        var progress: Progress?
    }

    /// Takes what ``AOperation/add(to:)`` adds at once; nil, for a queue of this process, if each is added by itself.
    let intake: (@Sendable (AOperationQueue, [AOperation]) -> Void)?

    public override init() {
        intake = nil
        super.init()
    }

    /// A queue for operations that run elsewhere.
    ///
    /// - Parameter intake: takes operations that are added together.
    package init(intake: @escaping @Sendable (AOperationQueue, [AOperation]) -> Void) {
        self.intake = intake
        super.init()
    }

    /// Is told of every operation; held weakly.
    public final var delegate: (any AOperationQueueDelegate)? {
        get { settings.withLock { $0.delegate } }
        set { settings.withLock { $0.delegate = newValue } }
    }

    /// Where the `didFinish` closures of this queue's operations are called; nil, the default, for
    /// `AOperation.callbackQueue`. Use a serial queue if their order matters.
    public final var callbackQueue: DispatchQueue? {
        get { lane.callbackQueue }
        set { lane.callbackQueue = newValue }
    }

    // MARK: Adding

    /// Adds an operation; for an `AOperation` with it everything that delivers to it or receives from it and is in no
    /// queue yet. Adding an AOperation a second time does nothing. In place of a child of a group the outermost group around
    /// it is added, which starts the child in its turn; if that is in a queue, nothing is.
    open override func addOperation(_ operation: Foundation.Operation) {
        guard let operation = operation as? AOperation else {
            admitPlain(operation)
            return
        }
        add(operation, epoch: nil)
    }

    /// Adds an operation with its delivery net.
    ///
    /// - Parameter epoch: behind which of the queue's barriers they come, all of them; nil for the last one.
    final func add(_ operation: AOperation, epoch: UInt64?) {
        guard !operation.isAlone else {
            if enter(operation, epoch: epoch) { super.addOperation(operation) }
            return
        }
        guard let operation = operation.standIn else { return }
        let epoch = epoch ?? self.epoch(forNetOf: operation)
        operation.enterNet(into: lane) { member in
            if enter(member, epoch: epoch) { super.addOperation(member) }
        }
    }

    /// Adds operations, and, if asked to, blocks the calling thread until they have ended. It does not call
    /// ``addOperation(_:)``.
    open override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        var admitted: [Foundation.Operation] = []
        var plain: [PlainMember] = []
        RetryScope.foresee(operations)
        var reservation: Reservation?
        for (index, operation) in operations.enumerated() {
            if let operation = operation as? AOperation {
                guard !operation.isAlone else {
                    if enter(operation) { admitted.append(operation) }
                    continue
                }
                if reservation == nil { reservation = Reservation(netsOf: operations[index...]) }
                guard let operation = operation.standIn else { continue }
                let epoch = epoch(forNetOf: operation)
                operation.enterNet(into: lane) { member in
                    if enter(member, epoch: epoch) { admitted.append(member) }
                }
            } else {
                plain.append(admitPlain(operation))
            }
        }
        reservation?.end()
        super.addOperations(admitted, waitUntilFinished: false)  // one by one, Foundation looks around for each
        if wait { EndOfOperations.wait(for: operations.compactMap { $0 as? AOperation }, plain) }
    }

    /// Adds these, and nothing that delivers to them or receives from them: where they execute elsewhere, that has its place there.
    package final func addWithoutNets(_ operations: [AOperation]) {
        super.addOperations(operations.filter { enter($0) }, waitUntilFinished: false)
    }

    /// Runs `barrier` when all operations that are in the queue have ended; those added later wait for it.
    open override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        lane.addBarrier(barrier)
    }

    /// Puts an operation into the lane. Foundation is given it too, so that its own list of operations is true; it runs
    /// nothing by that. False for one that is, or was, in a queue.
    private final func enter(_ operation: AOperation, epoch: UInt64? = nil) -> Bool {
        if let delegate, operation.core.withLock({ $0.isInNoQueue }) { delegate.operationQueue(self, willAddOperation: operation) }
        return operation.enter(lane, of: self, announcement: .onStart, epoch: epoch)
    }

    @discardableResult
    private final func admitPlain(_ operation: Foundation.Operation) -> PlainMember {
        delegate?.operationQueue(self, willAddOperation: operation)
        let member = PlainMember(operation)
        member.enter(lane, of: self)
        return member
    }

    // MARK: What Foundation's queue offers

    /// How many operations may be executing at once, the children of groups included; a group itself and one of its
    /// children share one slot. Unlimited (`defaultMaxConcurrentOperationCount`) by default; 0 starts nothing.
    open override var maxConcurrentOperationCount: Int {
        get {
            let limit = lane.limit
            return limit == .max ? OperationQueue.defaultMaxConcurrentOperationCount : limit
        }
        set {
            precondition(
                newValue >= 0 || newValue == OperationQueue.defaultMaxConcurrentOperationCount,
                "maxConcurrentOperationCount is \(newValue): it must be 0 or more, or the default (-1)")
            lane.limit = newValue < 0 ? .max : newValue
        }
    }

    /// While it is set nothing new is started, neither an operation nor a child of a running group.
    open override var isSuspended: Bool {
        get { lane.isSuspended }
        set { lane.isSuspended = newValue }
    }

    open override var qualityOfService: QualityOfService {
        get { super.qualityOfService }
        set {
            super.qualityOfService = newValue
            lane.setQuality(newValue)
        }
    }

    /// Where operations are executed; nil, the default, for Dispatch's global queues.
    open override var underlyingQueue: DispatchQueue? {
        get { super.underlyingQueue }
        set {
            super.underlyingQueue = newValue
            lane.setExecutor(newValue)
        }
    }

    /// Counts the operations that have ended, once a program has set `totalUnitCount`: each is one unit.
    open override var progress: Progress {
        settings.withLock { settings in
            let progress = settings.progress ?? Progress(totalUnitCount: 0)
            settings.progress = progress
            return progress
        }
    }

    /// Cancels all operations that have not ended.
    open override func cancelAllOperations() {
        lane.withoutStarts {
            for member in lane.members.readersFirst(\.operation) { member.cancel() }
        }
    }

    /// Blocks the calling thread until no operation and no barrier is left.
    open override func waitUntilAllOperationsAreFinished() {
        lane.waitUntilIdle()
        super.waitUntilAllOperationsAreFinished()
    }
}

extension AOperationQueue: LaneHost {
    func memberSettled(_ operation: Foundation.Operation, errors: [AOperationError]) {
        delegate?.operationQueue(self, operationDidFinish: operation, withErrors: errors)
    }

    func memberLeaves() {
        guard let progress = settings.withLock({ $0.progress }), progress.totalUnitCount > 0 else { return }
        settings.withLock { _ in progress.completedUnitCount += 1 }
    }

    func memberHadEnded(_ operation: AOperation) {
        memberSettled(operation, errors: operation.publishedErrors)
        memberLeaves()
    }

    func addProduced(_ operation: Foundation.Operation, id: String?) {
        addOperation(operation)
    }

    func runPlain(_ operation: Foundation.Operation) {
        super.addOperation(operation)
    }
}
