import Foundation
import Testing

@testable import AOperation

/// What the program has given to an operation may call that operation when it is released.
@Suite(.timeLimit(Load.patience))
struct ReleaseTests {
    /// Cancels an operation when it goes away, as view models do.
    private final class Model: AOperationObserver, AOperationCondition, Sendable {
        let operation: AOperation
        let gone: Signal

        init(_ operation: AOperation, _ gone: Signal) {
            (self.operation, self.gone) = (operation, gone)
        }

        deinit {
            operation.cancel()
            gone.fire()
        }

        func evaluateForOperation(
            _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) { completion(.success) }
    }

    private static let givers: [(String, @Sendable (Gate, Signal) -> Void)] = [
        (
            "didStart",
            { gate, gone in
                let model = Model(gate, gone); gate.didStart { _ = model }
            }
        ),
        (
            "didProduce",
            { gate, gone in
                let model = Model(gate, gone); gate.didProduce { _ in _ = model }
            }
        ),
        (
            "didFinish",
            { gate, gone in
                let model = Model(gate, gone); gate.didFinish { _ in _ = model }
            }
        ),
        ("condition", { gate, gone in gate.conditions(Model(gate, gone)) }),
        ("observer", { gate, gone in gate.addObserver(Model(gate, gone)) }),
        (
            "retryOnFailure",
            { gate, gone in
                let model = Model(gate, gone);
                gate.retryOnFailure { _, _, retry in
                    _ = model; retry(false)
                }
            }
        ),
        (
            "willFinish, replaced",
            { gate, gone in
                let model = Model(gate, gone)
                gate.willFinish { _, finish in
                    _ = model; finish()
                }
                gate.willFinish { _, finish in finish() }
            }
        ),
        (
            "retryOnFailure, replaced",
            { gate, gone in
                let model = Model(gate, gone)
                gate.retryOnFailure { _, _, retry in
                    _ = model; retry(false)
                }
                gate.retryOnFailure { _, _, retry in retry(false) }
            }
        ),
    ]

    @Test(arguments: givers.map(\.0))
    func whatIsReleasedWithTheOperationsEnd_mayCallIt(_ what: String) async throws {
        let give = try #require(Self.givers.first { $0.0 == what }?.1)
        let (gate, gone) = (Gate(isDeaf: true), Signal())
        give(gate, gone)
        AOperationQueue().addOperation(gate)
        if !gone.hasFired { await gate.started.wait() }
        gate.open()
        await gate.ended()
        await gone.wait()
    }

    /// It stays in line in the lane of the group around it, and its own lane holds that one.
    @Test func groupThatIsCancelledWhileItIsInLine_isReleased() async {
        weak var waiting: GroupOperation?
        let gate = Gate()
        do {
            let inner = GroupOperation(Step())
            waiting = inner
            let group = GroupOperation(gate, inner)
            group.maxConcurrentOperationCount = 1
            group.add(to: AOperationQueue())
            await gate.started.wait()
            group.cancel()
            gate.open()
            await group.ended()
        }
        await until { waiting == nil }
    }

    /// It has its turn in a lane that waits for its own in the lane around it, when all of them are cancelled.
    @Test func operationThatIsReady_inALaneThatIsInLine_isReleased() async {
        weak var ready: AOperation?
        let (blocker, gate) = (Gate(), Gate(isDeaf: true))
        let queue = AOperationQueue()
        queue.addOperation(blocker)
        do {
            let child = Step()
            ready = child
            child.addDependency(blocker)
            let middle = GroupOperation(child)
            let group = GroupOperation(middle, gate)
            group.maxConcurrentOperationCount = 1
            queue.addOperation(group)
            await gate.started.wait()
            blocker.open()
            await until { child.core.withLock { $0.state.isReady } }
            group.cancel()
            gate.open()
            await group.ended()
        }
        await until { ready == nil }
    }
}
