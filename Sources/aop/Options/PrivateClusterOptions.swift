import ArgumentParser
import CLinux
import Foundation
import Logging
import Settings
import Worker

/// What the private cluster of `aop run` and `aop dev` is like.
struct PrivateClusterOptions: ParsableArguments, Sendable {
    @Option(help: "Worker processes.")
    var workers: Int = 2
    @Option(help: "Operations that run at once in each worker process. (default: the machine's processors)")
    var slots: Int?
    @Option(help: ArgumentHelp("A label of this machine, e.g. fast or zone=a; may be repeated.", valueName: "label"))
    var label: [String] = []
    @Option(
        help: ArgumentHelp(
            "What this machine has, e.g. gpus=2 or memory=16GiB; may be repeated. cpus and memory are what there is by default.",
            valueName: "name=amount"))
    var resource: [String] = []
    @Option(
        help: ArgumentHelp("Where the secrets are that the graph names: a file of the mode 0600 for each.", valueName: "directory"),
        completion: .directory)
    var secrets: String?
    @Option(help: "Keep the journal and all values in this directory. (default: a temporary one)", completion: .directory)
    var data: String?

    func validate() throws {
        try DataOption.check(data)
        guard (1...256).contains(workers) else { throw ValidationError("--workers \(workers): use 1 to 256") }
        guard (1...10_000).contains(slots ?? 1) else { throw ValidationError("--slots \(slots ?? 1): use 1 to 10000") }
        let problems =
            Setting.labels.problems(ofFlag: label) + Setting.resources.problems(ofFlag: resource)
            + (secrets.map(WorkerOptions.problems(ofSecrets:)) ?? [])
        guard problems.isEmpty else { throw ValidationError(problems.text) }
    }

    /// - Parameter http: where its coordinator serves HTTP; nil: nowhere.
    func cluster(http: String?, logLevel: Logger.Level, logFormat: LogFormat) -> PrivateCluster.Options {
        PrivateCluster.Options(
            executors: workers, slots: slots ?? Int(clinux_processor_count()), labels: label, resources: resource,
            secrets: secrets.map(absolute), data: data.map(absolute), http: http, logLevel: logLevel.rawValue,
            logFormat: logFormat.rawValue)
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
