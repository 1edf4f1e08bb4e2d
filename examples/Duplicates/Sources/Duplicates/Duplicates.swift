import AOperation
import ArgumentParser
import Cluster
import DuplicateSearch
import Foundation

/// The program: it finds duplicates in this process, or with `--cluster` on the workers of a cluster.
@main struct Duplicates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Duplicates", abstract: "Finds files that have the same content.",
        discussion: "Exit codes: 0 all was read · 2 something could not be read · 69 no coordinator")

    @Argument(help: "Folders to look in; on a cluster the workers must see them under these paths.")
    var folders: [String]

    @Option(help: ArgumentHelp("The coordinator of the cluster to run on.", valueName: "tcp://host:port"))
    var cluster: String?

    @Option(help: "Leave out files that have fewer bytes.")
    var minimumSize = 1

    func run() async throws {
        PortableErrors.register(NotReadable.self)
        // Workers have another current directory.
        let paths = folders.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        guard let cluster else { return try report(await search(on: AOperationQueue(), in: paths)) }
        let queue: ClusterQueue
        do {
            queue = try await ClusterQueue.connect(cluster)
        } catch {
            try complain("no coordinator at \(cluster): \(error.localizedDescription)")
            throw ExitCode(69)
        }
        // A worker that is started later will do.
        queue.waitsForWorkers = true
        let found = await search(on: queue, in: paths)
        await queue.close()
        try report(found)
    }

    private func search(on queue: AOperationQueue, in paths: [String]) async -> Search.Found {
        await Search(queue: queue, minimumSize: minimumSize).duplicates(in: paths)
    }

    private func report(_ found: Search.Found) throws {
        for duplicates in found.duplicates {
            print("\(duplicates.paths.count) files of \(duplicates.size) bytes:")
            for path in duplicates.paths { print("  \(path)") }
        }
        let spare = found.duplicates.reduce(0) { $0 + $1.size * ($1.paths.count - 1) }
        print("\(found.files) files, \(found.duplicates.count) contents more than once, \(spare) bytes to spare")
        for problem in found.problems { try complain(problem) }
        if !found.problems.isEmpty { throw ExitCode(2) }
    }

    private func complain(_ text: String) throws {
        try FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
    }
}
