import Foundation
import Logging
import Wire

/// A worker's private directory.
enum TemporaryDirectory {
    /// - Throws: `SystemCallError` that names the place tried.
    static func make() throws -> String {
        let parent = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/aop-worker-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemCallError(
                operation: "mkdtemp", subject: "\(parent)/aop-worker-XXXXXX", errno: errno,
                remedy: "set TMPDIR to a directory that can be written to")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes an executor's part of it again, and itself, where somebody has removed them: cleaners of temporary files do.
    ///
    /// - Throws: `SystemCallError`, also when there is something of another user's in that place.
    static func ensure(_ path: String) throws {
        for directory in [(path as NSString).deletingLastPathComponent, path] where mkdir(directory, 0o700) != 0 {
            let problem = errno
            var found = stat()
            guard problem == EEXIST, lstat(directory, &found) == 0, found.st_mode & S_IFMT == S_IFDIR, found.st_uid == geteuid() else {
                throw SystemCallError(
                    operation: "mkdir", subject: directory, errno: problem,
                    remedy: "start the worker again, with TMPDIR in a place that is not cleaned")
            }
        }
    }

    static func remove(_ path: String, logger: Logger) {
        guard access(path, F_OK) == 0 else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            logger.warning("the temporary directory \(path) could not be removed: \(error)")
        }
    }
}
