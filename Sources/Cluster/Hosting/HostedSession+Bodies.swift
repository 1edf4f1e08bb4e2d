import AOperation
import Executing
import Foundation
import Wire

/// What executes: operations, further attempts of them, and conditions.
extension HostedSession {
    /// What the program does may take its time.
    static let background = DispatchQueue.global()

    func start(_ key: UnitKey, _ assignment: WireAssignment) {
        let (mirrors, known) = state.withLock { state -> (Mirrors?, OperationGraph.Member?) in
            let mirrors = state.graphs[assignment.submission]
            var member = mirrors?.graph.member(at: assignment.path)
            // Of what was added while the graph ran it may not be known yet that it is part of it. A group ends with that.
            if assignment.kind == .conclude, member?.hasChildren(assignment.conclusion.children) == false { member = nil }
            if member == nil { state.unclaimed[assignment.submission, default: []].append((key, assignment)) }
            return (mirrors, member)
        }
        guard let mirrors, let member = known else { return }
        if assignment.kind == .decide { return decide(key, assignment, member, mirrors) }
        if assignment.kind == .conclude { return conclude(key, assignment, mirrors) }
        let graph = mirrors.graph
        guard let operation = member.operation, !(operation is AddedOperation) else {
            return fail(key, "the operation `\(assignment.path)` is not known in the process that submitted it", of: assignment)
        }
        switch assignment.kind {
        case .execute: execute(key, assignment, operation, member, mirrors)
        case .evaluate:
            let error: @Sendable (WireOperationFailure) -> AOperationError = { failure in
                graph.error(failure, of: graph.places[assignment.path] ?? 0)
            }
            let conditions = HostedConditions(assignment.conditions, of: member, operation, error: error) { [weak self] answers, failed in
                graph.hostedErrors.keep(failed.map(\.error), as: failed.map(\.failure), of: assignment.path)
                guard let self else { return }
                desk.async { self.ended(key, FinishedUnit(.answers(answers))) }
            }
            state.withLock { $0.bodies[key] = .conditions(conditions) }
            Self.background.async { conditions.begin() }
        case .decide, .conclude, .UNRECOGNIZED:
            fail(key, "the process of a submitter does no units of kind \(assignment.kind)", of: assignment)
        }
    }

    private func execute(
        _ key: UnitKey, _ assignment: WireAssignment, _ operation: AOperation, _ member: OperationGraph.Member, _ mirrors: Mirrors
    ) {
        let tokens = Dictionary(assignment.fences.map { ($0.key, $0.token) }) { $1 }
        // An attempt of its own is connected below.
        let disconnect = operation.isHostable ? connectStreams(of: operation, key, assignment, mirrors) : nil
        let span = traces?.span(.run, of: assignment, on: "submitter")
        let end: @Sendable (HostedEnding) -> Void = { [weak self] ending in
            disconnect?()
            let finished = Self.finished(ending, of: assignment.path, mirrors, key)
            span?.end(finished.ending)
            guard let self else { return }
            desk.async { self.ended(key, finished) }
        }
        state.withLock { state in
            state.bodies[key] = .operation(operation)
            state.products.open(key)
        }
        relayProducts(of: operation, at: assignment.path, key, mirrors)
        if let span { operation.surroundBody { span.run($0) } }
        guard !operation.executeHosted(underTokens: tokens, whenEnded: end) else { return }
        // The condition that it is done for gives another one for each attempt.
        let again = member.dependent.flatMap { dependent in
            mirrors.graph.members[member.parent].operation.flatMap { dependent.again(for: $0) }
        }
        guard let attempt = operation.makeHostedAttempt(underTokens: tokens, again) else {
            state.withLock { $0.bodies[key] = nil }
            return fail(
                key,
                "its body was stopped in this process, which had not heard the coordinator for too long to keep a lock, and it is no "
                    + "RetryableOperation, so that it does not run again",
                of: assignment, .workerLost)
        }
        state.withLock { $0.bodies[key] = .attempt(attempt) }
        relayProducts(of: attempt, at: assignment.path, key, mirrors)
        _ = connectStreams(of: attempt, key, assignment, mirrors)
        if let span { attempt.surroundBody { span.run($0) } }
        attempt.whenOver { [weak self] in
            // One that was given up counts no more.
            guard let self, state.withLock({ $0.bodies[key] != nil }) else { return }
            let products = attempt.takeProducts()
            let ending = operation.takeHostedAttempt(attempt)
            guard case .success = ending, !products.isEmpty else {
                for product in products { product.cancelUnqueued() }
                return end(ending)
            }
            let finished = Self.adding(
                products, to: Self.finished(ending, of: assignment.path, mirrors, key), of: assignment.path, mirrors, key)
            span?.end(finished.ending)
            desk.async { self.ended(key, finished) }
        }
        queue.addOperation(attempt)
    }

    private static func finished(_ ending: HostedEnding, of path: String, _ mirrors: Mirrors, _ key: UnitKey) -> FinishedUnit {
        let graph = mirrors.graph
        switch ending {
        case .success(let operation):
            do {
                let products = operation.takeProducts()
                return adding(products, to: FinishedUnit(try operation.hostedValue() ?? .void), of: path, mirrors, key)
            } catch {
                return failed([AOperationError(error, state: .execution, publisher: operation.errorName)], of: path, graph)
            }
        case .failure(let errors): return failed(errors, of: path, graph)
        case .cancelled: return FinishedUnit(.cancelled)
        }
    }

    /// What a success has produced goes with it, as a whole; if it cannot, there is no success.
    private static func adding(
        _ products: [Foundation.Operation], to finished: FinishedUnit, of path: String, _ mirrors: Mirrors, _ key: UnitKey
    ) -> FinishedUnit {
        guard !products.isEmpty else { return finished }
        do {
            guard case .success = finished.ending else { throw ProductRefused(reason: "the operation has failed") }
            let made = try ProducedGraph(products, from: .submitter(requiresRemote: false))
            try mirrors.keep(made, by: path, attempt: key.attempt, id: nil)
            return finished.adding(made.addition)
        } catch {
            for product in products { product.cancelUnqueued() }
            guard case .success = finished.ending else { return finished }
            return failed([AOperationError(error, state: .execution, publisher: path)], of: path, mirrors.graph)
        }
    }

    private static func failed(_ errors: [AOperationError], of path: String, _ graph: OperationGraph) -> FinishedUnit {
        let failures = errors.map { WireOperationFailure($0, in: graph) }
        graph.hostedErrors.keep(errors, as: failures, of: path)
        return FinishedUnit(.failure(failures))
    }

    func fail(_ key: UnitKey, _ message: String, of assignment: WireAssignment, _ code: WireFailureCode = .submitterGone) {
        let failure = WireOperationFailure.with {
            $0.code = code
            $0.message = message
            $0.publisher = assignment.operation
            $0.typeName = code == .workerLost ? "WorkerLost" : "SubmitterGone"
            $0.host = HostName.current
        }
        step { $0.ended(key, .failure([failure]), now: $1, at: $2) }
    }

    /// A body does not end, or is not to be waited for.
    func abandon(_ key: UnitKey) {
        switch state.withLock({ $0.bodies[key] }) {
        case .operation(let operation)?: operation.abandonHosted()
        case .attempt(let attempt)?:
            AOperation.Debugger.error(
                "an attempt of \(attempt.errorName) still runs after it was told to stop; its slot and locks are given to others")
            ended(key, FinishedUnit(.cancelled))
        case .conditions(let conditions)?: conditions.stop()
        case .decision(let giveUp)?: giveUp()
        // It was never begun: what it asks about is forgotten.
        case nil: ended(key, FinishedUnit(.cancelled))
        }
    }

    func ended(_ key: UnitKey, _ finished: FinishedUnit) {
        let whenIdle = state.withLock { state -> (@Sendable () -> Void)? in
            state.bodies[key] = nil
            state.ending += 1
            if let blob = finished.blob { state.shelf.put(blob.bytes, digest: blob.digest, for: key) }
            return state.bodies.isEmpty ? state.whenIdle.take() : nil
        }
        // Within one process everything comes as it is.
        let ending = connection.memory == nil ? finished.ending : finished.whole
        step { $0.ended(key, ending, now: $1, at: $2) }
        state.withLock { $0.ending -= 1 }
        whenIdle?()
    }
}

extension OperationGraph.Member {
    /// Whether a group that may end knows of so many children.
    fileprivate func hasChildren(_ count: UInt32) -> Bool {
        guard let group = operation as? GroupOperation, !group.isFinished, !group.isCancelled else { return true }
        return group.operations.count >= Int(count)
    }
}

extension WireOperationFailure {
    /// The wire form of an error with which something ends that executes in this process.
    ///
    /// Paths of another submission, from which it may have come, mean nothing in `graph`.
    init(_ error: AOperationError, in graph: OperationGraph) {
        self.init(error, host: HostName.current)
        guard let other = (error.transit as? Transit)?.graph, other != graph.hostedErrors.graph else { return }
        (origin, publisher) = ("", error.publisher ?? publisher)
    }
}
