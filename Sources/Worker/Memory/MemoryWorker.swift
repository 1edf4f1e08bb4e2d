import AOperation
import Executing
import Foundation
import Wire

/// A worker in memory: what an executor does, without a process and a connection. On the host's thread only.
package final class MemoryWorker {
    package let incarnation: UInt64
    package let index: Int
    private let host: MemoryHost
    private let clock: () -> (boot: Int64, wall: Int64)
    private let begun: (String) -> Void
    private let send: (MemoryWorker, WirePeerMessage) -> Void
    private var state: ExecutorState
    private var runner: UnitRunner?
    private var products = ProductDesk()
    private var elements = ElementDesk()
    private var output = OutputSpool()
    private var streams: StreamDesk?
    /// Until the end of the turn.
    private var reports: [WireUnitReport] = []
    /// The coordinator has welcomed it.
    private var isAttached = false
    /// Its process has ended: what its bodies still say is dropped.
    package private(set) var isDead = false
    /// A body does not end: only the end of its process would end it.
    package private(set) var isStuck = false

    /// - Parameters:
    ///   - begun: is called with the path of an operation whose body begins.
    ///   - send: is called with what it tells the coordinator.
    package init(
        _ index: Int, on host: MemoryHost, slots: Int, incarnation: UInt64, clock: @escaping () -> (boot: Int64, wall: Int64),
        begun: @escaping (String) -> Void, send: @escaping (MemoryWorker, WirePeerMessage) -> Void
    ) {
        (self.index, self.host, self.incarnation, self.clock) = (index, host, incarnation, clock)
        (self.begun, self.send) = (begun, send)
        state = ExecutorState(slots: slots)
        runner = UnitRunner(registry: host.registry, slots: slots, loop: host.loop, hostName: "memory") { [weak self] key, finished in
            guard let self, !isDead else { return }
            output.close(key)
            step { $0.ended(key, finished.whole, now: $1, at: $2) }
        }
        connect()
    }

    /// What its bodies say while they run.
    private func connect() {
        // What is still on its way from a body that has ended may come when the worker is gone.
        runner?.whenStarting = { [weak self] key in self?.products.open(key) }
        runner?.whenProduced = { [weak self] key, result, publisher in
            switch result {
            case .success(let addition): self?.products.put(addition, of: key)
            case .failure(let refused): self?.products.fail(.product(refused, publisher: publisher, host: "memory"), of: key)
            }
        }
        runner?.whenLogged = { [weak self] key, bytes in
            guard let self, !isDead else { return }
            output.append(bytes, stream: .log, of: key, at: clock().wall)
        }
        runner?.whenSending = { [weak self] key, gate, sent in
            guard let self, !isDead else { return gate.end() }
            elements.open(key, gate, sent: sent)
        }
        runner?.whenSent = { [weak self] key, event in self?.elements.receive(event, of: key) }
        let loop = host.loop
        let desk = StreamDesk(
            send: { [weak self] request in
                guard let self, !isDead else { return }
                send(self, .with { $0.request = request })
            },
            later: { again in _ = loop.after(milliseconds: StreamDesk.busyMilliseconds) { again() } })
        streams = desk
        runner?.openStream = desk.opener { loop.submit($0) }
    }

    /// Bodies that have begun and not ended; also of one that is dead.
    package var bodyCount: Int { runner?.bodyCount ?? 0 }

    /// A body is being told to stop.
    package var isStopping: Bool { (runner?.cancelling ?? 0) > 0 }

    /// Bodies that wait for what others send.
    package var readerCount: Int { isDead ? 0 : streams?.openCount ?? 0 }

    /// Something that its bodies have sent is not on the coordinator's disk.
    package var isSending: Bool { !isDead && (elements.isUnderWay || !reports.isEmpty) }

    /// Boot time of its next tick.
    package var deadline: Int64? { isDead ? nil : [state.deadline, elements.deadline, output.deadline].compactMap(\.self).min() }

    /// The registry has changed.
    package func renew() { runner?.registry = host.registry }

    package func hello() -> WireHello {
        let held = state.tellHeld()
        return .with {
            $0.protocolMajor = ProtocolVersion.major
            $0.capabilities = ProtocolVersion.capabilities
            $0.role = .executor
            $0.incarnation = incarnation
            $0.host = "memory"
            $0.pid = UInt32(index)
            $0.executor = .with {
                $0.supervisorIncarnation = 1
                $0.slots = UInt32(state.slots)
                $0.operations = host.registry.wireTypes
                $0.conditions = host.registry.conditionNames
                $0.units = held
                $0.index = UInt32(index)
            }
        }
    }

    /// The connection is another one.
    package func detach() { isAttached = false }

    package func receive(_ message: WireCoordinatorMessage) {
        guard !isDead else { return }
        switch message.body {
        case .welcome(let welcome)?:
            isAttached = true
            streams?.resume()
            elements.forgetSent()
            products.forgetSent()
            output.attached(acknowledges: welcome.capabilities.contains(ProtocolVersion.outputReceipts))
            step { $0.attached(drop: welcome.drop.map { UnitKey($0) }, now: $1, at: $2) }
        case .dispatch(let dispatch)?: step { $0.dispatched(dispatch.assignments, now: $1, at: $2) }
        case .stop(let stop)?:
            for unit in stop.units where unit.reason != .recalled {
                if let end = products.release(UnitKey(unit)) { admit(end) }
                if let end = elements.release(UnitKey(unit)) { reports.append(end) }
            }
            step { $0.stopOrdered(stop.units, now: $1, at: $2) }
        case .elementReceipts(let receipts)?: reports += elements.receive(receipts.receipts, now: clock().boot)
        case .productReceipts(let receipts)?:
            for receipt in receipts.receipts {
                let (end, stops) = products.receive(receipt, host: "memory")
                if let end { admit(end) }
                if stops { runner?.stop(UnitKey(unit: receipt.unit, attempt: receipt.attempt)) }
            }
        case .outputReceipts(let receipts)?: output.receive(receipts.receipts, now: clock().boot)
        case .acknowledgement(let acknowledgement)?:
            step { $0.acknowledged(acknowledgement.units.map { UnitKey($0) }, now: $1, at: $2) }
        case .response(let response)?: streams?.receive(response)
        case .refusal?, .heartbeatAnswer?, .events?, .blobRequest?, .blobChunk?, .farewell?, .helloWanted?, .enrolled?, nil: break
        }
    }

    /// Tells the coordinator what there is to tell, in the order in which an executor does.
    package func flush() {
        guard !isDead else { return }
        if isAttached {
            for batch in output.take(now: clock().boot) { send(self, .with { $0.output = batch }) }
            for batch in elements.take(now: clock().boot) { send(self, .with { $0.elements = batch }) }
            for batch in products.take() { send(self, .with { $0.products = batch }) }
        }
        guard !reports.isEmpty else { return }
        let news = reports
        reports = []
        send(self, .with { $0.reports.reports = news })
    }

    /// What it has produced is on the coordinator's disk; its elements may not be.
    private func admit(_ report: WireUnitReport) {
        if let report = elements.admit(report) { reports.append(report) }
    }

    package func tick() {
        if !isDead { step { $0.tick(now: $1, at: $2) } }
    }

    /// Its process ends: bodies are cancelled, and nothing that they say counts.
    package func die() {
        isDead = true
        for key in state.units.keys {
            runner?.stop(key)
            elements.forget(key)
        }
    }

    private func step(_ input: (inout ExecutorState, _ now: Int64, _ at: Int64) -> [ExecutorAction]) {
        let now = clock()
        for action in input(&state, now.boot, now.wall) { perform(action) }
    }

    private func perform(_ action: ExecutorAction) {
        switch action {
        case .report(let report): if let report = products.admit(report) { admit(report) }
        case .start(let key, let assignment):
            // Only touched on the loop's thread.
            nonisolated(unsafe) let worker = self
            let print: @Sendable (UnitContext.Stream, [UInt8]) -> Void = { [loop = host.loop] stream, bytes in
                loop.submit {
                    worker.output.append(bytes, stream: stream == .stdout ? .stdout : .stderr, of: key, at: worker.clock().wall)
                }
            }
            let context = UnitContext(
                submission: assignment.submission, path: assignment.path, attemptNumber: assignment.attemptNumber,
                worker: "memory/\(index)", bindings: Bindings(assignment.bindings), fences: Fences(assignment.fences),
                resources: HeldResources(assignment.resources), graceMilliseconds: Int64(assignment.graceMilliseconds),
                output: print, host: host.settings, trace: assignment.trace,
                span: host.settings.span(of: assignment, on: "memory/\(index)"))
            if assignment.kind == .execute { begun(assignment.path) }
            if let before = state.predecessor(of: assignment) { products.follow(key, after: before) }
            runner?.start(key, assignment, context: context, blobs: [:])
        case .stop(let key): runner?.stop(key)
        case .kill(let key):
            guard let runner else { break }
            if runner.kill(key) { step { $0.killed(key, at: $2) } } else { step { $0.cannotKill(key, now: $1, at: $2) } }
        case .askForReplacement, .exit: isStuck = true
        // Everything comes within its message, and there is no line.
        case .fetchInputs, .lineUp: break
        case .forget(let key):
            products.forget(key)
            elements.forget(key)
            output.discard(key)
        }
    }
}
