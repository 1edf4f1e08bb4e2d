import Foundation
import Scheduling
import Wire

/// The files in a store of large values that nothing names, as no coordinator runs on it: what was forgotten and not removed by then, and
/// uploads that came to nothing.
struct UnnamedValues: Sendable {
    /// With those that stand for values that were given up.
    private var paths: [String] = []
    /// Values, and parts of them.
    private(set) var count = 0
    private(set) var bytes: UInt64 = 0

    static let none = UnnamedValues()

    private init() {}

    /// - Parameters:
    ///   - scheduler: says what is named. Where it has work that is not over, a worker may have an input in its line that was stored for it, and
    ///     that nothing names: such a file stays for as long as beside a coordinator.
    /// - Throws: `BlobStoreError`: a folder cannot be read.
    /// - Complexity: O(units), and O(values in the store).
    init(below root: String, of scheduler: Scheduler) throws(BlobStoreError) {
        guard DurableFiles.isThere(root) else { return }
        let named = Set(scheduler.namedValues.map(\.hexadecimal))
        let isOver = scheduler.submissionCounts.unfinished == 0
        let kept = Date(timeIntervalSinceNow: -TimeInterval(CoordinatorLimits.handedOverValueSeconds))
        for folder in try Self.names(in: root) {
            guard folder.utf8.count == 2 || folder == "incoming" else { continue }
            for name in try Self.names(in: root + "/" + folder) where !named.contains(folder + BlobFile.value(named: name)) {
                let path = root + "/" + folder + "/" + name
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                guard isOver || !BlobFile.isHandedOver(status) || BlobFile.isUnused(status, since: kept) else { continue }
                paths.append(path)
                guard !name.hasSuffix(LostValues.suffix) else { continue }
                (count, bytes) = (count + 1, bytes + UInt64(status.st_size))
            }
        }
    }

    /// - Throws: `BlobStoreError`. Those that are left are found again.
    func remove() throws(BlobStoreError) {
        for path in paths {
            guard unlink(path) == 0 || errno == ENOENT else { throw BlobStoreError(path: path, action: "remove", code: errno) }
        }
    }

    private static func names(in directory: String) throws(BlobStoreError) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: directory).sorted() } catch {
            throw BlobStoreError(path: directory, action: "list the directory", reason: "\(error)")
        }
    }
}

extension Scheduler {
    /// The large values that outcomes name.
    ///
    /// - Complexity: O(units).
    var namedValues: Set<BlobDigest> {
        var digests: Set<BlobDigest> = []
        forEachNamedValue { value in
            guard let digest = BlobDigest(value.digest) else { return }
            digests.insert(digest)
        }
        return digests
    }
}
