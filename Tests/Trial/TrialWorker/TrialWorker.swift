import AOperation
import ConformanceOperations
import ConformanceRemote
import TrialOperations
import Worker

/// A worker for tests.
@main struct TrialWorker: WorkerCommand {
    static let abstract = "Runs the operations of the tests."
    static let operations: [any ClusterOperation.Type] =
        [Emit.self, Join.self, Shout.self, Only.self, Drip.self, Gather.self, Sprout.self, Crash.self, Witness.self, Deed.self]
        + DecideTypes.operations + SequenceTypes.operations
        + ServiceTypes.operations + ConformanceTypes.operations
    static let conditions: [any ClusterCondition.Type] = [FileThere.self] + ConformanceTypes.conditions
    static let errors: [any PortableError.Type] = {
        RemoteFaults.register()
        return [TrialError.self] + ServiceTypes.errors + ConformanceTypes.errors
    }()
}
