import AOperation
import Executing
import Foundation
import SwiftProtobuf
import Wire

/// Runs units: builds their operations, adds them to the queue, and puts what became of them into wire form.
///
/// Lives on the loop's thread; what may take long happens on Dispatch's threads and comes back through the loop.
final class UnitRunner {
    typealias Finished = FinishedUnit

    private enum Body {
        /// Being built; `stop` and `kill` are carried out when it is.
        case building(stop: Bool, kill: Bool)
        case running(any ClusterOperation)
        case evaluating(ConditionRound)
        /// Work of the executor's own, which ends by itself.
        case deciding
    }

    private struct Prepared {
        let operation: any ClusterOperation
        let relay: UnitRelay
    }

    var registry: OperationRegistry
    private let loop: EventLoop
    private let queue = AOperationQueue()
    private let hostName: String
    private let whenEnded: (UnitKey, Finished) -> Void
    private let progress: ProgressDesk
    /// Called when there is news of how far an operation has come.
    var whenProgressed: () -> Void = {}
    /// Called with lines that an operation has written, before its end.
    var whenLogged: (UnitKey, [UInt8]) -> Void = { _, _ in }
    /// Called before an operation that may send partial results starts, with how many it has sent, and with what it sends.
    var whenSending: (UnitKey, ElementGate, _ sent: @escaping @Sendable () -> Int) -> Void = { _, _, _ in }
    var whenSent: (UnitKey, ElementRelay.Event) -> Void = { _, _ in }
    /// Called before an operation starts, and with what it produces under an id.
    var whenStarting: (UnitKey) -> Void = { _ in }
    var whenProduced: (UnitKey, Result<WireAddition, ProductRefused>, _ publisher: String) -> Void = { _, _, _ in }
    /// How an operation reads what another one sends; nil: it cannot.
    var openStream: (@Sendable (WireAssignment) -> any StreamCursor)?
    private var bodies: [UnitKey: Body] = [:]
    /// Stand in the line, or have begun without the loop knowing.
    private var prepared: [UnitKey: Prepared] = [:]
    /// Were taken out of the line, and have not begun.
    private var spare: [UnitKey: Prepared] = [:]
    /// Have ended in this turn.
    private var over: [any ClusterOperation] = []
    /// How long the loop was kept by preparing operations in this turn.
    private var preparing = Duration.zero
    /// After so long the rest is prepared when it begins: the loop has other things to do.
    private static let preparingMax = Duration.milliseconds(2)
    /// So few are let go of by the loop.
    private static let overMax = 16
    private let line: StartLine?
    private let whenBegun: (UnitKey, _ at: Int64) -> Void
    private let background = DispatchQueue.global()

    /// - Parameters:
    ///   - line: where operations wait that may begin before the loop knows; nil: there is no such thing.
    ///   - whenBegun: one of the line has begun; before it ends.
    init(
        registry: OperationRegistry, slots: Int, loop: EventLoop, hostName: String, progress: ProgressDesk = ProgressDesk(),
        line: StartLine? = nil, whenBegun: @escaping (UnitKey, _ at: Int64) -> Void = { _, _ in },
        whenEnded: @escaping (UnitKey, Finished) -> Void
    ) {
        self.registry = registry
        self.loop = loop
        self.hostName = hostName
        self.line = line
        self.whenBegun = whenBegun
        self.whenEnded = whenEnded
        self.progress = progress
        queue.maxConcurrentOperationCount = slots
    }

    // MARK: Starting

    /// `blobs`: the large values it receives.
    func start(_ key: UnitKey, _ assignment: WireAssignment, context: UnitContext, blobs: [BlobDigest: Data]) {
        switch assignment.kind {
        case .decide:
            bodies[key] = .deciding
            let end = completion(of: key)
            guard assignment.hasDecision else {
                return background.async { end(Self.decide(assignment, blobs: blobs, hostName: context.host.hostName)) }
            }
            let decider = GroupDecider(
                assignment: assignment, registry: registry, worker: context.worker, hostName: context.host.hostName, blobs: blobs)
            let span = context.span
            background.async { end(Self.within(span) { decider.decide() }) }
        case .execute where blobs.isEmpty:
            let stoodInLine = line?.take(key) == true
            if let operation = (prepared.removeValue(forKey: key) ?? spare[key])?.operation {
                let begins = stoodInLine || spare.removeValue(forKey: key) != nil
                bodies[key] = .running(operation)
                if begins { operation.add(to: queue) }
                return
            }
            bodies[key] = .building(stop: false, kill: false)
            run(key, Self.build(assignment, registry: registry, context: context, blobs: blobs, openStream))
        case .execute:
            bodies[key] = .building(stop: false, kill: false)
            let (registry, openStream) = (registry, openStream)
            let run = onLoop { (runner: UnitRunner, built: Built) in runner.run(key, built) }
            background.async { run(Self.build(assignment, registry: registry, context: context, blobs: blobs, openStream)) }
        case .evaluate:
            let end = completion(of: key)
            let span = context.span
            let round = ConditionRound(assignment, registry: registry, context: context) { answers, isUnbegun in
                span?.end(.answers(answers))
                var finished = Finished(.answers(answers))
                finished.isUnbegun = isUnbegun
                end(finished)
            }
            bodies[key] = .evaluating(round)
            background.async { if let span { span.run { round.begin() } } else { round.begin() } }
        case .conclude, .UNRECOGNIZED:
            let failure = WireOperationFailure.parameters(
                "this worker cannot do units of kind \(assignment.kind): it is older than the coordinator",
                publisher: assignment.operation, host: hostName)
            bodies[key] = .deciding
            ended(key, Finished(.failure([failure])))
        }
    }

    private enum Built: Sendable {
        /// `sends`: what it sends while it runs can be read elsewhere.
        /// `redaction`: what nothing that is told of it may have.
        case operation(any ClusterOperation, sends: Bool, redaction: Redaction, BodySpan?)
        case failure(WireOperationFailure)
    }

    private static func build(
        _ assignment: WireAssignment, registry: OperationRegistry, context: UnitContext, blobs: [BlobDigest: Data],
        _ openStream: (@Sendable (WireAssignment) -> any StreamCursor)?
    ) -> Built {
        var context = context
        func failure(_ message: String) -> Built {
            let failure = WireOperationFailure.parameters(message, publisher: assignment.operation, host: context.host.hostName)
            return .failure(context.redaction.apply(to: failure))
        }
        guard let entry = registry.entries[assignment.operation] else {
            return failure("the operation `\(assignment.operation)` is not registered on \(context.worker)")
        }
        let name = assignment.operation
        guard !entry.decides else {
            return failure("`\(name)` is a group that decides what it does next; submit it from Swift with a ClusterQueue")
        }
        do {
            // Elements, which come from outside, name no secrets.
            let given = try context.host.secrets.resolve(
                assignment.parameters, isTemplated: assignment.templated, noting: &context.redaction)
            let parameters = assignment.templated ? try Template.render(given, bindings: context.bindings) : given
            let operation = try entry.make(parameters)
            if assignment.described { operation.leaveDescription() }
            // Bodies are given up by ExecutorState, whose report has to wait for their real end.
            operation.grace = .seconds(1_000_000)
            operation.adoptFencingTokens(context.fences.tokens)
            operation.adopt(context.resources.resources)
            operation.adoptUniqueId()
            (operation as? any HostedOperation)?.host(in: context)
            if !assignment.inputs.isEmpty {
                try give(assignment, to: operation, entry.interface, blobs: blobs)
            }
            if assignment.hasStream {
                guard let receiver = operation as? any StreamReceiver else { return failure("`\(name)` receives no stream") }
                guard let openStream else { return failure("`\(name)` receives a stream, which nobody reads here") }
                receiver.receive(streamOf: assignment.stream.path) { openStream(assignment) }
            }
            if let span = context.span { operation.surroundBody { span.run($0) } }
            return .operation(operation, sends: entry.sends, redaction: context.redaction, context.span)
        } catch let missing as ReceivedValue.Missing {
            return failure("`\(name)`: \(missing.reason)")
        } catch let malformed as JSONScanner.Malformed {
            return failure("the parameters of `\(name)` are not JSON: \(malformed)")
        } catch {
            return failure("`\(name)`: \(error.localizedDescription)")
        }
    }

    private static func give(
        _ assignment: WireAssignment, to operation: any ClusterOperation, _ interface: ClusterInterface,
        blobs: [BlobDigest: Data]
    ) throws {
        let received = try assignment.inputs.map { input in
            try ReceivedValue(input) { reference in reference.blobDigest.flatMap { blobs[$0] } }
        }
        // Takes any one value: `[EncodedValue]` takes any number of them and gets them one by one.
        let untouched = interface.input.map { $0.takesAnything && $0.elementName == nil } ?? false
        try operation.receive(ReceivedInput(received, asArray: assignment.receivesArray, untouched: untouched))
    }

    private func run(_ key: UnitKey, _ built: Built) {
        guard case .building(let stop, let kill)? = bodies[key] else { return }
        switch built {
        case .failure(let failure):
            ended(key, Finished(.failure([failure])))
        case .operation(let operation, let sends, let redaction, let span):
            bodies[key] = .running(operation)
            if sends { relayElements(of: operation, key) }
            _ = relay(operation, key, redaction, span)
            operation.add(to: queue)
            if stop || kill { self.stop(key) }
            if kill { _ = self.kill(key) }
        }
    }

    /// Before it is added to the queue.
    private func relay(_ operation: any ClusterOperation, _ key: UnitKey, _ redaction: Redaction, _ span: BodySpan?) -> UnitRelay {
        whenStarting(key)
        let relay = UnitRelay(
            of: operation, key, for: self, on: loop, line: line, progress: progress, hostName: hostName, redaction, span)
        relay.listen()
        return relay
    }

    // MARK: The line

    /// Prepares it to begin when another one ends. What needs the loop to begin only keeps its place in the line.
    func lineUp(_ key: UnitKey, _ assignment: WireAssignment, context: UnitContext) {
        guard let line else { return }
        guard let ready = spare.removeValue(forKey: key) ?? prepare(key, assignment, context) else { return line.append(key, nil) }
        prepared[key] = ready
        let queue = queue
        // Strong: an order to stop may end it for the loop before it is added.
        line.append(key) {
            ready.relay.begins()
            ready.operation.add(to: queue)
        }
    }

    /// Nil: it is to be made when it begins. Secrets are read then; and what sends needs the loop.
    private func prepare(_ key: UnitKey, _ assignment: WireAssignment, _ context: UnitContext) -> Prepared? {
        guard preparing < Self.preparingMax, registry.entries[assignment.operation]?.sends == false else { return nil }
        let begin = ContinuousClock.now
        defer { preparing += begin.duration(to: .now) }
        let built = Self.build(assignment, registry: registry, context: context, blobs: [:], openStream)
        guard case .operation(let operation, _, let redaction, let span) = built, redaction == Redaction() else { return nil }
        return Prepared(operation: operation, relay: relay(operation, key, redaction, span))
    }

    /// The loop has had its turn.
    func turnEnds() {
        preparing = .zero
        guard over.count >= Self.overMax else { return over.removeAll(keepingCapacity: true) }
        // Letting go of many takes its time, too.
        let released = over
        over = []
        background.async { withExtendedLifetime(released) {} }
    }

    /// It does not begin here.
    func discard(_ key: UnitKey) { spare[key] = nil }

    func begun(_ key: UnitKey, at: Int64) {
        guard let operation = prepared.removeValue(forKey: key)?.operation else { return }
        bodies[key] = .running(operation)
        whenBegun(key, at)
    }

    /// Empties the line.
    ///
    /// - Parameter closing: nothing begins in it any more.
    /// - Returns: those that have not begun. From here on the others are bodies as any other.
    func takeBackLine(closing: Bool = false) -> Set<UnitKey> {
        guard let line else { return [] }
        let waiting = line.takeAll(closing: closing)
        for key in waiting { spare[key] = prepared.removeValue(forKey: key) }
        for (key, begun) in prepared { bodies[key] = .running(begun.operation) }
        prepared.removeAll(keepingCapacity: true)
        return waiting
    }

    /// The program's own code, within a span.
    private static func within(_ span: BodySpan?, _ body: () -> Finished) -> Finished {
        guard let span else { return body() }
        var finished: Finished?
        span.run { finished = body() }
        guard let finished else { preconditionFailure("a span has not called its body") }
        span.end(finished.ending)
        return finished
    }

    private static func decide(_ assignment: WireAssignment, blobs: [BlobDigest: Data], hostName: String) -> Finished {
        do {
            let received = try assignment.inputs.map { input in
                try ReceivedValue(input) { reference in reference.blobDigest.flatMap { blobs[$0] } }
            }
            let producer = assignment.operation.isEmpty ? nil : assignment.operation
            var filled = WireElements()
            filled.elements = try Decision.elements(of: received, producer: producer)
            guard filled.elements.reduce(0, { $0 + $1.count + 8 }) >= Limits.inlineReceivedBytes else {
                return Finished(.elements(filled))
            }
            let bytes: Data = try filled.serializedBytes()
            let digest = BlobDigest(hashing: bytes)
            return Finished(
                .storedElements(WireBlobReference(digest: digest, size: UInt64(bytes.count))), blob: (digest, bytes))
        } catch let missing as ReceivedValue.Missing {
            return Finished(.failure([.parameters(missing.reason, publisher: "forEach", host: hostName)]))
        } catch {
            let error = AOperationError(error, state: .execution, publisher: "forEach")
            return Finished(.failure([WireOperationFailure(error, host: hostName)]))
        }
    }

    /// Calls of `cancel()` that have not returned.
    private(set) var cancelling = 0

    /// Bodies that have not ended.
    var bodyCount: Int { bodies.count }

    /// Whether its body has not ended, also if it has begun without the loop knowing.
    func isRunning(_ key: UnitKey) -> Bool { bodies[key] != nil || prepared[key] != nil }

    private func relayElements(of operation: any ClusterOperation, _ key: UnitKey) {
        guard let sender = operation as? any PartialResultOperation else { return }
        let deliver = onLoop { (runner: UnitRunner, event: ElementRelay.Event) in
            runner.whenSent(key, event)
            // Its outcome is known: it cannot send what it wants to.
            if case .failed = event { runner.stop(key) }
        }
        let relay = ElementRelay(name: operation.name ?? "", host: hostName, deliver: deliver)
        let relaying = sender.relayPartialResults { await relay.pass($0) }
        whenSending(key, relay.gate, relaying.sentCount)
    }

    /// Nobody looks for what comes behind the end.
    func logged(_ key: UnitKey, _ log: LogRelay) {
        if bodies[key] != nil { whenLogged(key, log.take()) }
    }

    func produced(_ key: UnitKey, _ result: Result<WireAddition, ProductRefused>, _ publisher: String) {
        whenProduced(key, result, publisher)
        // It cannot have what it wants to.
        if case .failure = result { stop(key) }
    }

    // MARK: Stopping

    func stop(_ key: UnitKey) {
        switch bodies[key] {
        case .building(_, let kill)?: bodies[key] = .building(stop: true, kill: kill)
        // Somebody's `cancel()` may take its time.
        case .running(let operation)?:
            cancelling += 1
            let done = onLoop { (runner: UnitRunner, _: Void) in runner.cancelling -= 1 }
            background.async {
                operation.cancel()
                done(())
            }
        case .evaluating(let round)?: background.async { round.stop() }
        case .deciding?, nil: break
        }
    }

    /// - Returns: false when the body cannot be ended by force.
    func kill(_ key: UnitKey) -> Bool {
        switch bodies[key] {
        case .building(let stop, _)?: bodies[key] = .building(stop: stop, kill: true)
        case .running(let operation)?:
            guard let killable = operation as? any KillableOperation else { return false }
            killable.kill()
        case .evaluating(let round)?: background.async { round.kill() }
        case .deciding?, nil: break
        }
        return true
    }

    // MARK: Ends

    private func completion(of key: UnitKey) -> @Sendable (Finished) -> Void {
        onLoop { (runner: UnitRunner, finished: Finished) in runner.ended(key, finished) }
    }

    func ended(_ key: UnitKey, _ finished: Finished) {
        guard let body = bodies.removeValue(forKey: key) else { return }
        if case .running(let operation) = body { over.append(operation) }
        whenEnded(key, finished)
    }

    /// A way for other threads to call `body` on the loop's thread.
    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (UnitRunner, Value) -> Void
    ) -> @Sendable (Value) -> Void {
        // Only dereferenced on the loop's thread.
        nonisolated(unsafe) let runner = self
        let loop = loop
        return { value in loop.submit { body(runner, value) } }
    }
}
