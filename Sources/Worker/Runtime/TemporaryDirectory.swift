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

    static func remove(_ path: String, logger: Logger) {
        guard access(path, F_OK) == 0 else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            logger.warning("the temporary directory \(path) could not be removed: \(error)")
        }
    }
}
