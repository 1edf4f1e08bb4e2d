import AOperation
import Executing
import Foundation
import Wire

/// Asks a registered group what it does next: makes it and the child that has ended again, and takes what it adds.
struct GroupDecider: Sendable {
    let assignment: WireAssignment
    let registry: OperationRegistry
    let worker: String
    let hostName: String
    let blobs: [BlobDigest: Data]

    /// Takes as long as the group's own code does.
    func decide() -> FinishedUnit {
        do {
            return FinishedUnit(.decided(try decision()))
        } catch let missing as ReceivedValue.Missing {
            return failure(OperationFault(.parameters, missing.reason))
        } catch {
            return failure(error)
        }
    }

    private func failure(_ error: any Error) -> FinishedUnit {
        let error = AOperationError(error, state: .execution, publisher: assignment.operation)
        return FinishedUnit(.failure([WireOperationFailure(error, host: hostName)]))
    }

    private func decision() throws -> WireDecision {
        guard let entry = registry.entries[assignment.operation] else {
            throw OperationFault(.parameters, "the group `\(assignment.operation)` is not registered on \(worker)")
        }
        guard let group = try entry.make(assignment.parameters) as? any ClusterGroup else {
            throw OperationFault(.parameters, "`\(assignment.operation)` is registered on \(worker), but is no ClusterGroup")
        }
        // Those that it begins with are somewhere else.
        defer { for child in group.operations { child.cancelUnqueued() } }
        if assignment.decision.hasState { try group.restore(state: assignment.decision.state) }
        let child = assignment.decision.hasChild ? try self.child() : nil
        let onFailure = group.onFailure
        let additions = group.decide(after: child, number: Int(assignment.decision.number))
        defer { for operation in additions.operations { operation.cancelUnqueued() } }
        if group.isCancelled {
            throw OperationFault(
                .operation,
                "the group `\(assignment.operation)` cancels itself when it decides, which nobody but the program that has submitted it can do;"
                    + " let it fail (`aggregateError`), or add nothing")
        }
        if group.onFailure != onFailure {
            throw OperationFault(
                .operation,
                "the group `\(assignment.operation)` sets `onFailure` when it decides, which is too late; set it in its initializer")
        }
        var decision = WireDecision()
        decision.failures = additions.errors.map { WireOperationFailure($0, host: hostName) }
        if let state = try group.encodedState() {
            guard state.count < Limits.inlineValueBytes else {
                throw OperationFault(
                    .limit,
                    "its State has \(state.count) bytes; it must have less than \(Limits.inlineValueBytes) (inlineValueBytes): keep what is"
                        + " large in the value of an operation")
            }
            decision.state = state
        }
        let forgiven = Set(additions.forgiven.map { ObjectIdentifier($0) })
        if let child, forgiven.contains(ObjectIdentifier(child)) { decision.forgiven = [assignment.decision.childUnit] }
        guard !additions.operations.isEmpty else { return decision }
        let made = try ProducedGraph(additions.operations, from: .worker)
        func nodes(where isMeant: (AOperation) -> Bool) -> [UInt32] {
            made.graph.members.indices.filter { made.graph.members[$0].operation.map(isMeant) ?? false }.map { UInt32($0) }
        }
        decision.addition = made.addition
        decision.forgivenNodes = nodes { forgiven.contains(ObjectIdentifier($0)) }
        // What a sequence adds besides its step runs beside that.
        if group is OperationSequence { decision.addition.products = nodes { $0 === additions.step } }
        return decision
    }

    /// The child as it is known where it has not run.
    private func child() throws -> AOperation {
        let question = assignment.decision
        let made = try registry.entries[question.type].map { try $0.make(question.parameters) }
        let received = try assignment.inputs.first.map { input in
            try ReceivedValue(input) { reference in reference.blobDigest.flatMap { blobs[$0] } }
        }
        let ending: RemoteEnding =
            switch received {
            case .value(let value)?: .success(value)
            case .list?: .success(received?.folded ?? .void)
            case .failure(let failures)?: isCancelled(failures) ? .cancelled : .failure(failures.map { AOperationError($0) })
            case nil: .success(.void)
            }
        let operation: AOperation = made ?? EndedOperation(operationType: question.type)
        operation.recall(ending, path: question.child)
        return operation
    }

    /// Whether the child was cancelled that has these errors. One that has failed may have an error like that from something else: a group,
    /// of what was cancelled in it; a receiver, of its producer.
    private func isCancelled(_ failures: [WireOperationFailure]) -> Bool {
        let question = assignment.decision
        return question.hasChildCancelled ? question.childCancelled : failures.first?.code == .cancelled
    }
}
