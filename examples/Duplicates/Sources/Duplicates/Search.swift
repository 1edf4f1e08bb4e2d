import AOperation
import Cluster
import DuplicateSearch

/// Finds files with the same content. Only the queue knows whether that is done in this process or on a cluster.
struct Search {
    /// Files with the same content, and how long each of them is.
    struct Duplicates {
        var size: Int
        var paths: [String]
    }

    struct Found {
        var files = 0
        var duplicates: [Duplicates] = []
        /// What could not be read; everything else is there.
        var problems: [String] = []
    }

    /// So many files are digested by one operation.
    static let batch = 32

    let queue: AOperationQueue
    let minimumSize: Int

    func duplicates(in folders: [String]) async -> Found {
        let tree = FolderTree(.init(folders: folders))
        let contents = await values(of: tree, as: FolderContents.self)
        let files = contents.values.flatMap(\.files).filter { $0.size >= minimumSize }
        // A folder that was named twice is listed twice.
        let sizes = Dictionary(files.map { ($0.path, $0.size) }) { first, _ in first }
        let unlisted = contents.values.flatMap(\.unreadable).map(\.localizedDescription)
        var found = Found(files: sizes.count, problems: contents.problems + unlisted)

        // Files of a size that no other file has are not read.
        let candidates = Dictionary(grouping: sizes.keys) { sizes[$0] ?? 0 }.values.filter { $0.count > 1 }.flatMap(\.self).sorted()
        let parts = stride(from: 0, to: candidates.count, by: Self.batch).map { start in
            DigestFiles(.init(paths: Array(candidates[start..<min(start + Self.batch, candidates.count)])))
        }
        let digests = await values(of: GroupOperation(parts), as: FileDigests.self)
        found.problems += digests.problems + digests.values.flatMap(\.unreadable).map(\.localizedDescription)
        let pathsByDigest = Dictionary(grouping: digests.values.flatMap(\.byPath), by: \.value).mapValues { $0.map(\.key).sorted() }
        found.duplicates = pathsByDigest.values.filter { $0.count > 1 }.map { .init(size: sizes[$0[0]] ?? 0, paths: $0) }
            .sorted { ($1.size, $0.paths[0]) < ($0.size, $1.paths[0]) }
        return found
    }

    /// Runs a group. What its children gave, and why others gave nothing.
    private func values<Value: Codable & Sendable>(
        of group: GroupOperation, as type: Value.Type
    ) async -> (values: [Value], problems: [String]) {
        var values: [Value] = []
        var problems: [String] = []
        let result = await group.result(on: queue)
        for outcome in group.outcomes {
            switch outcome.value {
            case let value as Value: values.append(value)
            // A child that a worker added is known by its value alone.
            case let encoded as EncodedValue:
                do { values.append(try encoded.decoded(as: Value.self)) } catch { problems.append("\(error)") }
            default: problems += outcome.errors.map(\.localizedDescription)
            }
        }
        if problems.isEmpty, case .failure(let error) = result { problems.append(error.localizedDescription) }
        return (values, problems)
    }
}
