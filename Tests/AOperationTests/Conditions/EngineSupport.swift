import Foundation

@testable import AOperation

/// A condition made of closures; by default it is evaluated as conditions without an evaluation of their own are.
struct Rule: AOperationCondition {
    typealias Answer = @Sendable (OperationConditionResult) -> Void

    var dependent: (@Sendable (AOperation) -> AOperation?)?
    var evaluation: (@Sendable (AOperation, @escaping Answer) -> Void)?

    func dependencyForOperation(_ operation: AOperation) -> AOperation? { dependent?(operation) }

    func evaluateForOperation(_ operation: AOperation, completion: @escaping Answer) {
        if let evaluation {
            evaluation(operation, completion)
        } else {
            DefaultRule().evaluateForOperation(operation, completion: completion)
        }
    }
}

extension Rule {
    /// Answers like this, at once.
    init(_ result: OperationConditionResult, evaluated: @escaping @Sendable () -> Void = {}) {
        self.init { _, answer in
            evaluated()
            answer(result)
        }
    }

    init(_ evaluation: @escaping @Sendable (AOperation, @escaping Answer) -> Void) {
        self.evaluation = evaluation
    }

    /// Runs an operation before.
    init(after dependent: @escaping @Sendable () -> AOperation?) {
        self.dependent = { _ in dependent() }
    }
}

private struct DefaultRule: AOperationCondition {}

/// A condition that is asked, and answered by the test.
final class Question: AOperationCondition, Sendable {
    let asked = Signal()
    private let answers = Guarded<[Rule.Answer]>([])

    var count: Int { answers.withLock { $0.count } }

    func evaluateForOperation(_ operation: AOperation, completion: @escaping Rule.Answer) {
        answers.withLock { $0.append(completion) }
        asked.fire()
    }

    func answer(_ result: OperationConditionResult) {
        for answer in answers.withLock({ $0 }) { answer(result) }
    }
}

extension OperationConditionResult {
    static func failed(_ text: String) -> OperationConditionResult { .failure(AOperationError(Failed(text: text))) }
}

extension AOperation {
    var publishedTexts: [String] { publishedErrors.map(\.localizedDescription) }

    var isLockCycle: Bool { publishedErrors.first?.publishedError is AOperationError.LockCycle }

    var isIgnoredDuplicate: Bool { publishedErrors.first?.publishedError is AOperationError.IgnoredDuplicate }
}

extension AOperationQueue {
    /// A queue with a number of slots.
    convenience init(slots: Int) {
        self.init()
        maxConcurrentOperationCount = slots
    }

    /// On a serial queue: what was added before has ended, or waits without a slot.
    func settled() async {
        let marker = Step("marker")
        addOperation(marker)
        await marker.ended()
    }

    func run(all operations: [AOperation]) async {
        for operation in operations { operation.add(to: self) }
        for operation in operations { await operation.ended() }
    }
}

/// Waits until something holds that nobody tells of, and leaves the processor to others meanwhile; gives up with the
/// test.
func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { try? await Task.sleep(for: .microseconds(200)) }
}

/// Holds an object weakly, to see whether it goes away.
final class Weak<Object: AnyObject>: @unchecked Sendable {
    // Invariant: set once, before it is shared; reading a weak reference is atomic.
    private(set) weak var object: Object?
    init(_ object: Object) { self.object = object }
}

/// Tells of its own release.
final class Tracer: Sendable {
    private let released: Signal
    init(_ released: Signal) { self.released = released }
    deinit { released.fire() }
}

/// A key nobody else uses: locks and unique ids are the process's.
func freshKey(_ name: String = "key") -> String { "\(name)-\(UUID().uuidString)" }
