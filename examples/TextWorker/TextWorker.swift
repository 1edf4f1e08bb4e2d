import AOperation
import Worker

/// A worker with operations of its own: `TextWorker --connect tcp://127.0.0.1:7600`.
@main struct TextWorker: WorkerCommand {
    static let abstract = "Runs text operations for a coordinator."
    static let operations: [any ClusterOperation.Type] = [ReadText.self, CountWords.self]
}
