import AOperation
import Executing
import Foundation
import Logging
import Wire

/// The thread of a cluster in memory, and what its workers share.
///
/// `@unchecked Sendable`: `registry` is changed and read on the loop's thread only; the rest is constant.
package final class MemoryHost: @unchecked Sendable {
    let loop: EventLoop
    let settings: HostSettings
    private(set) var registry: OperationRegistry

    package init() throws {
        loop = try EventLoop()
        registry = try OperationRegistry([], withShell: false)
        let folder = FileManager.default.temporaryDirectory.path
        settings = HostSettings(
            hostName: "memory", environment: CommandEnvironment(passedNames: [], passesEverything: false),
            workingDirectory: nil, temporaryDirectory: folder,
            commands: try CommandHost(loop: loop, logger: Logger(label: "aop.memory")))
    }

    /// Does `work` on the cluster's thread.
    package func submit(_ work: @escaping @Sendable () -> Void) { loop.submit(work) }

    package func start(afterEachTurn turn: @escaping @Sendable () -> Void) {
        OwnThread.start(name: "aop-memory") { [loop] in loop.run(afterEachTurn: turn) }
    }

    package func stop() { loop.submit { [loop] in loop.stop() } }

    /// Lets workers run operations of this type, which `make` makes of their parameters.
    /// - Throws: `OperationRegistry.Refused`.
    package func register(_ type: any ClusterOperation.Type, make: (@Sendable (Data) throws -> any ClusterOperation)?) throws {
        try registry.allow(type, make: make)
    }

    package func register(_ type: any ClusterCondition.Type) throws { try registry.allow(type) }
}

/// A worker in memory: what an executor does, without a process and a connection. On the host's thread only.
package final class MemoryWorker {
    package let incarnation: UInt64
    package let index: Int
    private let host: MemoryHost
    private let clock: () -> (boot: Int64, wall: Int64)
    private let begun: (String) -> Void
    private let report: (MemoryWorker, WireUnitReport) -> Void
    private var state: ExecutorState
    private var runner: UnitRunner?
    private var products = ProductDesk()
    /// Its process has ended: what its bodies still say is dropped.
    package private(set) var isDead = false
    /// A body does not end: only the end of its process would end it.
    package private(set) var isStuck = false

    /// - Parameters:
    ///   - begun: is called with the path of an operation whose body begins.
    ///   - report: is called with what it tells the coordinator.
    package init(
        _ index: Int, on host: MemoryHost, slots: Int, incarnation: UInt64, clock: @escaping () -> (boot: Int64, wall: Int64),
        begun: @escaping (String) -> Void, report: @escaping (MemoryWorker, WireUnitReport) -> Void
    ) {
        (self.index, self.host, self.incarnation, self.clock) = (index, host, incarnation, clock)
        (self.begun, self.report) = (begun, report)
        state = ExecutorState(slots: slots)
        runner = UnitRunner(registry: host.registry, slots: slots, loop: host.loop, hostName: "memory") { [unowned self] key, finished in
            guard !isDead else { return }
            step { $0.ended(key, finished.whole, now: $1, at: $2) }
        }
        runner?.whenStarting = { [unowned self] key in products.open(key) }
        runner?.whenProduced = { [unowned self] key, _, publisher in
            products.fail(
                .with {
                    $0.message = "an InMemoryCluster does not take what is produced under an id; use produce(_:) without one"
                    $0.typeName = "ProductRefused"
                    $0.publisher = publisher
                    $0.host = "memory"
                }, of: key)
        }
    }

    /// Bodies that have begun and not ended; also of one that is dead.
    package var bodyCount: Int { runner?.bodyCount ?? 0 }

    /// A body is being told to stop.
    package var isStopping: Bool { (runner?.cancelling ?? 0) > 0 }

    /// Boot time of its next tick.
    package var deadline: Int64? { isDead ? nil : state.deadline }

    /// The registry has changed.
    package func renew() { runner?.registry = host.registry }

    package var hello: WireHello {
        .with {
            $0.protocolMajor = ProtocolVersion.major
            $0.role = .executor
            $0.incarnation = incarnation
            $0.host = "memory"
            $0.pid = UInt32(index)
            $0.executor = .with {
                $0.supervisorIncarnation = 1
                $0.slots = UInt32(state.slots)
                $0.operations = host.registry.wireTypes
                $0.conditions = host.registry.conditionNames
                $0.units = state.held
                $0.index = UInt32(index)
            }
        }
    }

    package func receive(_ message: WireCoordinatorMessage) {
        guard !isDead else { return }
        switch message.body {
        case .welcome(let welcome)?: step { $0.attached(drop: welcome.drop.map { UnitKey($0) }, now: $1, at: $2) }
        case .dispatch(let dispatch)?: step { $0.dispatched(dispatch.assignments, now: $1, at: $2) }
        case .stop(let stop)?: step { $0.stopOrdered(stop.units, now: $1, at: $2) }
        case .acknowledgement(let acknowledgement)?:
            step { $0.acknowledged(acknowledgement.units.map { UnitKey($0) }, now: $1, at: $2) }
        case .refusal?, .heartbeatAnswer?, .response?, .events?, .blobRequest?, .blobChunk?, .farewell?, .helloWanted?,
            .elementReceipts?, .productReceipts?, nil:
            break
        }
    }

    package func tick() {
        if !isDead { step { $0.tick(now: $1, at: $2) } }
    }

    /// Its process ends: bodies are cancelled, and nothing that they say counts.
    package func die() {
        isDead = true
        for key in state.units.keys { runner?.stop(key) }
    }

    private func step(_ input: (inout ExecutorState, _ now: Int64, _ at: Int64) -> [ExecutorAction]) {
        let now = clock()
        for action in input(&state, now.boot, now.wall) { perform(action) }
    }

    private func perform(_ action: ExecutorAction) {
        switch action {
        case .report(let unit): if let unit = products.admit(unit) { report(self, unit) }
        case .start(let key, let assignment):
            let context = UnitContext(
                submission: assignment.submission, path: assignment.path, attemptNumber: assignment.attemptNumber,
                worker: "memory/\(index)", bindings: Bindings(assignment.bindings), fences: Fences(assignment.fences),
                resources: HeldResources(assignment.resources), graceMilliseconds: Int64(assignment.graceMilliseconds),
                host: host.settings)
            if assignment.kind == .execute { begun(assignment.path) }
            runner?.start(key, assignment, context: context, blobs: [:])
        case .stop(let key): runner?.stop(key)
        case .kill(let key): if runner?.kill(key) == false { step { $0.cannotKill(key, now: $1, at: $2) } }
        case .askForReplacement, .exit: isStuck = true
        // Everything comes within its message.
        case .fetchInputs: break
        case .forget(let key): products.forget(key)
        }
    }
}
