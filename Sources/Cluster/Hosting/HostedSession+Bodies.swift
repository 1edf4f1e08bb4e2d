import AOperation
import Executing
import Foundation
import Wire

/// What executes: operations, further attempts of them, and conditions.
extension HostedSession {
    /// What the program does may take its time.
    static let background = DispatchQueue.global()

    func start(_ key: UnitKey, _ assignment: WireAssignment) {
        let graph = state.withLock { state -> OperationGraph? in
            if let graph = state.graphs[assignment.submission] { return graph }
            state.unclaimed[assignment.submission, default: []].append((key, assignment))
            return nil
        }
        guard let graph else { return }
        guard let member = graph.member(at: assignment.path), let operation = member.operation else {
            return fail(key, "the operation `\(assignment.path)` is not known in the process that submitted it", of: assignment)
        }
        switch assignment.kind {
        case .execute: execute(key, assignment, operation, graph)
        case .evaluate:
            let conditions = HostedConditions(assignment.conditions, of: member, operation) { [weak self] answers, failed in
                graph.hostedErrors.keep(failed.map(\.error), as: failed.map(\.failure), of: assignment.path)
                guard let self else { return }
                desk.async { self.ended(key, FinishedUnit(.answers(answers))) }
            }
            state.withLock { $0.bodies[key] = .conditions(conditions) }
            Self.background.async { conditions.begin() }
        case .decide, .UNRECOGNIZED:
            fail(key, "the process of a submitter does no units of kind \(assignment.kind)", of: assignment)
        }
    }

    private func execute(_ key: UnitKey, _ assignment: WireAssignment, _ operation: AOperation, _ graph: OperationGraph) {
        let tokens = Dictionary(assignment.fences.map { ($0.key, $0.token) }) { $1 }
        let end: @Sendable (HostedEnding) -> Void = { [weak self] ending in
            let finished = Self.finished(ending, of: assignment.path, graph)
            guard let self else { return }
            desk.async { self.ended(key, finished) }
        }
        state.withLock { $0.bodies[key] = .operation(operation) }
        guard !operation.executeHosted(underTokens: tokens, whenEnded: end) else { return }
        guard let attempt = operation.makeHostedAttempt(underTokens: tokens) else {
            state.withLock { $0.bodies[key] = nil }
            return fail(
                key, "its body has run in this process, which lost the coordinator meanwhile, and it is no RetryableOperation",
                of: assignment)
        }
        state.withLock { $0.bodies[key] = .attempt(attempt) }
        attempt.whenOver { [weak self] in
            // One that was given up counts no more.
            guard let self, state.withLock({ $0.bodies[key] != nil }) else { return }
            end(operation.takeHostedAttempt(attempt))
        }
        queue.addOperation(attempt)
    }

    private static func finished(_ ending: HostedEnding, of path: String, _ graph: OperationGraph) -> FinishedUnit {
        switch ending {
        case .success(let operation):
            do {
                return FinishedUnit(try operation.hostedValue() ?? .void)
            } catch {
                return failed([AOperationError(error, state: .execution, publisher: operation.errorName)], of: path, graph)
            }
        case .failure(let errors): return failed(errors, of: path, graph)
        case .cancelled: return FinishedUnit(.cancelled)
        }
    }

    private static func failed(_ errors: [AOperationError], of path: String, _ graph: OperationGraph) -> FinishedUnit {
        let failures = errors.map { WireOperationFailure($0, host: HostName.current) }
        graph.hostedErrors.keep(errors, as: failures, of: path)
        return FinishedUnit(.failure(failures))
    }

    private func fail(_ key: UnitKey, _ message: String, of assignment: WireAssignment) {
        let failure = WireOperationFailure.with {
            $0.code = .submitterGone
            $0.message = message
            $0.publisher = assignment.operation
            $0.typeName = "SubmitterGone"
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
        case nil: break
        }
    }

    func ended(_ key: UnitKey, _ finished: FinishedUnit) {
        let whenIdle = state.withLock { state -> (@Sendable () -> Void)? in
            state.bodies[key] = nil
            if let blob = finished.blob { state.shelf.put(blob.bytes, digest: blob.digest, for: key) }
            return state.bodies.isEmpty ? state.whenIdle.take() : nil
        }
        step { $0.ended(key, finished.ending, now: $1, at: $2) }
        whenIdle?()
    }
}
