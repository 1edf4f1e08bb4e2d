import AOperation
import Executing
import Foundation
import Wire

/// What groups decide in this process: by what they do themselves when their mirrors' children end, so that each of them is
/// told once, however often the coordinator asks.
extension HostedSession {
    func decide(_ key: UnitKey, _ assignment: WireAssignment, _ decider: OperationGraph.Member, _ mirrors: Mirrors) {
        let graph = mirrors.graph
        let question = "\(assignment.path)#\(assignment.decision.child)"
        if let made = mirrors.decision(question, for: key.attempt) { return ended(key, FinishedUnit(.decided(made))) }
        if let wrapper = graph.members[decider.parent].operation, !(wrapper is GroupOperation) {
            return wrap(key, assignment, wrapper, question, mirrors)
        }
        guard let group = graph.members[decider.parent].operation as? GroupOperation else {
            return fail(key, "the group of `\(assignment.path)` is not known in the process that submitted it", of: assignment)
        }
        var child: AOperation?
        if assignment.decision.hasChild {
            guard let member = graph.member(at: assignment.decision.child) else {
                // It was added, and that is not known yet.
                return state.withLock { $0.unclaimed[assignment.submission, default: []].append((key, assignment)) }
            }
            child = member.operation
        }
        let giveUp: @Sendable () -> Void = { [weak self] in
            guard let self else { return }
            desk.async { self.ended(key, FinishedUnit(.cancelled)) }
        }
        let place = "\(assignment.submission)/\(question)"
        let isAsked = state.withLock { state in
            state.bodies[key] = .decision(giveUp: giveUp)
            return state.asking.updateValue(key, forKey: place) != nil
        }
        // It is asked once; whoever asked last has the answer.
        guard !isAsked else { return }
        group.decision(after: child) { [weak self] additions in
            guard let self else {
                for operation in additions.operations { operation.cancelUnqueued() }
                return
            }
            desk.async {
                guard let latest = self.state.withLock({ $0.asking.removeValue(forKey: place) }) else { return }
                self.ended(latest, Self.decided(additions, question, assignment.path, mirrors, latest))
            }
        }
    }

    /// A wrapper is asked once what it runs: what belongs to that counts through it alone.
    private func wrap(
        _ key: UnitKey, _ assignment: WireAssignment, _ wrapper: AOperation, _ question: String, _ mirrors: Mirrors
    ) {
        guard !assignment.decision.hasChild else { return ended(key, FinishedUnit(.decided(WireDecision()))) }
        let giveUp: @Sendable () -> Void = { [weak self] in
            guard let self else { return }
            desk.async { self.ended(key, FinishedUnit(.cancelled)) }
        }
        state.withLock { $0.bodies[key] = .decision(giveUp: giveUp) }
        let path = assignment.path
        let isWrapper = wrapper.whenPartIsMade { [weak self] made in
            guard let self else { return }
            desk.async {
                // Another attempt has asked as well, and has been answered.
                if let decision = mirrors.decision(question, for: key.attempt) {
                    return self.ended(key, FinishedUnit(.decided(decision)))
                }
                var additions = DecidedAdditions()
                switch made {
                case .success(let operation): additions.operations = [operation]
                case .failure(let error): additions.errors = [error]
                }
                self.ended(key, Self.decided(additions, question, path, mirrors, key, isWrapper: true))
            }
        }
        if !isWrapper { fail(key, "`\(path)` decides for an operation that is no group", of: assignment) }
    }

    private static func decided(
        _ additions: DecidedAdditions, _ question: String, _ path: String, _ mirrors: Mirrors, _ key: UnitKey, isWrapper: Bool = false
    ) -> FinishedUnit {
        var decision = WireDecision()
        let graph = mirrors.graph
        let forgiven = Set(additions.forgiven.map { ObjectIdentifier($0) })
        func isForgiven(_ member: OperationGraph.Member) -> Bool {
            member.operation.map { forgiven.contains(ObjectIdentifier($0)) } ?? false
        }
        if !forgiven.isEmpty { decision.forgiven = graph.members.indices.filter { isForgiven(graph.members[$0]) }.map { UInt32($0) } }
        if !additions.errors.isEmpty {
            decision.failures = additions.errors.map { WireOperationFailure($0, in: graph) }
            graph.hostedErrors.keep(additions.errors, as: decision.failures, of: path)
        }
        do {
            if !additions.operations.isEmpty {
                let made = try ProducedGraph(additions.operations, from: .submitter(requiresRemote: false))
                try mirrors.keep(made, by: path, attempt: key.attempt, id: nil)
                decision.addition = made.addition
                decision.forgivenNodes = made.graph.members.indices.filter { node in
                    guard isWrapper else { return isForgiven(made.graph.members[node]) }
                    return node > 0 && made.graph.members[node].parent == 0
                        && made.graph.members[node].operation !== additions.operations[0]
                }.map { UInt32($0) }
            }
        } catch {
            for operation in additions.operations { operation.cancelUnqueued() }
            return FinishedUnit(.failure([.product(error, publisher: "", host: HostName.current)]))
        }
        mirrors.keep(decision, question, attempt: key.attempt)
        return FinishedUnit(.decided(decision))
    }
}
