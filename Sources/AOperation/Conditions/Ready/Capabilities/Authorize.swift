/// Asks for permission to use a ``Capability``, unless it is authorized already; its result is the status afterwards.
///
/// Operations for one type of capability take turns, in the whole process, so that nobody is asked twice at once; when
/// the turn of the second comes, it sees what the first has achieved. While it waits for its turn it holds no slot.
///
/// ```swift
/// let status = try await Authorize(Camera()).value(on: queue)
/// ```
/// It fails with ``CapabilityError`` if the capability is not available. A refusal is no failure: see the status.
///
/// Invariant behind `@unchecked Sendable`: the capability is constant.
public final class Authorize<C: Capability>: ResultableOperation<C.Status>, @unchecked Sendable {
    private let capability: C
    private let turns: AuthorizationTurns

    /// Asks for `capability`, if that was not decided yet, and ends with how it stands.
    public convenience init(_ capability: C) {
        self.init(capability, turns: .shared)
    }

    init(_ capability: C, turns: AuthorizationTurns) {
        self.capability = capability
        self.turns = turns
        super.init()
    }

    private var key: String { String(reflecting: C.self) }

    public override func execute() {
        guard capability.isAvailable else { return finish(with: .failure(CapabilityError.unavailable(capability))) }
        if turns.join(key, self, { [self] turn in ask(turn) }) { giveUpSlot() }
        // Stopped before it was in the line, it was not found there.
        if !isExecuting { leaveLine() }
    }

    public override func cancel() {
        super.cancel()
        leaveLine()
    }

    /// While it waits for its turn its body does nothing, and ends with the cancellation.
    private func leaveLine() {
        if turns.leave(key, self) { endBody() }
    }

    /// Has the turn until there is an answer, however long it has been stopped by then; unless its body is given up.
    private func ask(_ turn: AuthorizationTurns.Turn) {
        onEnd { _ in turn.pass() }
        capability.getAuthorizationStatus { [self] status in
            guard isExecuting, !capability.isSufficient(status) else { return end(with: status, turn) }
            capability.requestAuthorization { [self] in
                capability.getAuthorizationStatus { [self] status in end(with: status, turn) }
            }
        }
    }

    private func end(with status: C.Status, _ turn: AuthorizationTurns.Turn) {
        finish(with: .success(status))
        turn.pass()
    }
}

extension Authorize: RetryableOperation {
    public func new() -> Authorize { Authorize(capability, turns: turns) }
}
