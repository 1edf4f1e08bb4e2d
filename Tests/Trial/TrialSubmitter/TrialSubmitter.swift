import AOperation
import Cluster
import Foundation
import TrialOperations

/// A submitter for tests, to be killed: its graph has code that only this process has.
///
/// The argument is a folder. It writes "+runs" into `log` there when that code begins, which never ends, and holds the key
/// `key`. The remote `first` waits for the file `go`. If it lives to see the end it says of what it was the submitter that
/// is gone, and submits something else.
@main struct TrialSubmitter {
    static func main() async throws {
        let folder = CommandLine.arguments[1]
        let log = "\(folder)/log"
        let runs = AOperationBlock { _ in note("+runs", in: log) }.exclusive("key")
        runs.name = "runs"
        let (first, after) = (Emit("first", until: "\(folder)/go"), Emit("after", log: log))
        first.name = "first"
        after.name = "after"
        after.addDependency(runs)
        let waits = MapOperationBlock<String, String> { received, finish in finish(received ?? .success("nothing")) }
        waits.name = "waits"
        let guarded = Emit("guarded").condition { $0(.success) }
        guarded.name = "guarded"
        guarded.addDependency(first)
        first.deliver(to: waits)
        let cluster = try await ClusterQueue.connect(.environment)
        let submission = try await cluster.submit(GroupOperation(runs, first, waits, guarded, after), key: "killed")
        print(submission.id)
        for error in try await submission.outcome().errors where error.publishedError is SubmitterGone {
            note("gone \(error.publisher ?? "")", in: log)
        }
        note(runs.isCancelled ? "stopped" : "not stopped", in: log)
        let again = MapOperationBlock<Void, String> { _, finish in finish(.success("again")) }
        note(try await again.value(on: cluster), in: log)
        await cluster.close()
    }

    static func note(_ line: String, in log: String) {
        guard let file = fopen(log, "a") else { return }
        fputs("\(line)\n", file)
        fclose(file)
    }
}
