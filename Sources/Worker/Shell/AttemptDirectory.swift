import Foundation
import Logging
import Synchronization
import Wire

/// Where one attempt of a command runs: a given directory, or a fresh one that is removed afterwards.
struct AttemptDirectory: Sendable {
    let path: String
    private let isFresh: Bool
    private static let counter = Atomic<UInt64>(0)

    /// - Throws: ``UnbegunAttempt`` when there is no place for a fresh one any more, ``OperationFault`` when it cannot be made in that.
    init(_ given: String?, settings: HostSettings) throws {
        if let path = given ?? settings.workingDirectory {
            self.path = path.hasPrefix("/") ? path : (settings.workingDirectory ?? settings.temporaryDirectory) + "/" + path
            isFresh = false
            return
        }
        let number = Self.counter.add(1, ordering: .relaxed).newValue
        path = "\(settings.temporaryDirectory)/attempt-\(number)"
        isFresh = true
        func fault(_ error: any Error) -> OperationFault {
            OperationFault(.spawn, "no working directory on \(settings.hostName): \(error)")
        }
        if mkdir(path, 0o700) == 0 { return }
        let problem = errno
        // Also when something else is in its place.
        if problem == ENOENT || problem == ENOTDIR {
            do { try TemporaryDirectory.ensure(settings.temporaryDirectory) } catch { throw UnbegunAttempt(fault: fault(error)) }
            if mkdir(path, 0o700) == 0 { return }
            throw fault(SystemCallError(operation: "mkdir", subject: path, errno: errno))
        }
        throw fault(SystemCallError(operation: "mkdir", subject: path, errno: problem))
    }

    /// Removes a fresh directory with all it holds.
    func remove(logger: Logger) async {
        guard isFresh, rmdir(path) != 0 else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do {
                    try FileManager.default.removeItem(atPath: path)
                } catch {
                    logger.warning("the working directory \(path) could not be removed: \(error)")
                }
                continuation.resume()
            }
        }
    }
}
