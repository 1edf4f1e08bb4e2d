import AOperation
import Conformance
import ConformanceOperations
import Executing
import TrialOperations
import Worker

/// A worker for tests.
@main struct TrialWorker: WorkerCommand {
    static let abstract = "Runs the operations of the tests."
    static let operations: [any ClusterOperation.Type] =
        [Emit.self, Join.self, Shout.self, Only.self, Drip.self] + ConformanceTypes.operations
    static let conditions: [any ClusterCondition.Type] = [FileThere.self] + ConformanceTypes.conditions
    static let errors: [any PortableError.Type] = {
        FaultKinds.register { error in (error as? RemoteFailure)?.kind }
        FaultKinds.registerNames { error in error.nameInItsProgram }
        return [TrialError.self] + ConformanceTypes.errors
    }()
}

extension RemoteFailure {
    /// What a receiver here notes of an error that is not its own.
    fileprivate var kind: Fault.Kind? {
        switch failure.code {
        case .timeout: failure.typeName == "AOperationError.QueueTimeout" ? .queueTimeout : .timeout
        case .deadline: .deadline
        case .duplicate: .duplicate
        case .workerLost: .workerLost
        case .condition: .own(failure.message)
        default: nil
        }
    }
}

extension AOperationError {
    /// A worker knows the operations of others by their types and paths: the last part of that is the program's name.
    fileprivate var nameInItsProgram: String? {
        guard state == .execution, let origin = (transit as? Transit)?.failure.origin, !origin.isEmpty else { return nil }
        return origin.split(separator: "/").last.map(String.init)
    }
}
