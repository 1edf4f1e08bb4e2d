import AOperation
import TrialOperations
import Worker

/// A worker for tests.
@main struct TrialWorker: WorkerCommand {
    static let abstract = "Runs the operations of the tests."
    static let operations: [any ClusterOperation.Type] = [Emit.self, Join.self, Shout.self, Only.self, Drip.self, Sprout.self]
    static let conditions: [any ClusterCondition.Type] = [FileThere.self]
    static let errors: [any PortableError.Type] = [TrialError.self]
}
