import Foundation
import Logging
import Wire

/// A worker's private directory.
enum TemporaryDirectory {
    private static let prefix = "aop-worker-"

    private static var parent: String { ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp" }

    /// - Parameter mark: of the worker; with that of the host its name says whose it is, for ``removeThoseOfTheDead(besides:in:boot:logger:)``.
    /// - Throws: `SystemCallError` that names the place tried.
    static func make(for mark: WorkerMark? = nil) throws -> String {
        let owner = mark.flatMap { mark in boot.map { "\($0).\(mark.text)-" } } ?? ""
        let path = "\(parent)/\(prefix)\(owner)XXXXXX"
        var template = Array(path.utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemCallError(
                operation: "mkdtemp", subject: path, errno: errno, remedy: "set TMPDIR to a directory that can be written to")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Which start of which host this is, a random number of the kernel's: the place may be one that hosts share, and their marks are alike. Nil:
    /// it does not say.
    static let boot: String? = {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let digits = text.filter(\.isHexDigit)
        return digits.count == 32 ? String(digits.prefix(16)) : nil
    }()

    /// Removes the directories of workers of this user and this start of the host that were killed with all their processes at once: a worker
    /// that ends otherwise removes its own. After ``Leftovers/end(besides:logger:)``.
    ///
    /// Those of other PID and time namespaces stay: nobody can tell whether their workers live. So do those that a process may still use: of
    /// the worker by one of whose commands this one was started, and of those that did not die.
    static func removeThoseOfTheDead(besides own: WorkerMark, in parent: String = parent, boot: String? = boot, logger: Logger) {
        guard let boot else { return }
        let (names, used): ([String], Set<WorkerMark>)
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: parent)
            used = try ProcessTable.marks()
        } catch {
            return logger.warning("what earlier workers may have left in \(parent) cannot be looked for: \(error)")
        }
        for name in names {
            guard let mark = mark(in: name, boot), mark.namespace == own.namespace, !used.contains(mark), !mark.isSupervisorAlive else {
                continue
            }
            let path = "\(parent)/\(name)"
            guard isThere(path) else { continue }
            remove(path, logger: logger)
            if access(path, F_OK) != 0 {
                logger.notice("removed \(path): the worker that made it (process \(mark.supervisor)) does not live any more")
            }
        }
    }

    /// Whose directory it is; nil: no worker's of this start of the host.
    private static func mark(in name: String, _ boot: String) -> WorkerMark? {
        let start = "\(prefix)\(boot)."
        guard name.hasPrefix(start) else { return nil }
        let rest = name.dropFirst(start.count)
        return rest.lastIndex(of: "-").flatMap { WorkerMark(String(rest[..<$0])) }
    }

    /// - Returns: whether it is there, as a directory of this user's.
    static func isThere(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR && found.st_uid == geteuid()
    }

    /// Makes an executor's part of it again, itself, and what it is in, where somebody has removed them: cleaners of temporary files do.
    ///
    /// - Throws: `SystemCallError`, also when there is something of another user's in that place.
    static func ensure(_ path: String) throws {
        let own = (path as NSString).deletingLastPathComponent
        try ensureParent(of: own)
        for directory in [own, path] where mkdir(directory, 0o700) != 0 {
            let problem = errno
            guard problem == EEXIST, isThere(directory) else { throw failure(directory, problem) }
        }
    }

    /// Whosever they are, those that are there stay as they are.
    private static func ensureParent(of path: String) throws {
        let parent = (path as NSString).deletingLastPathComponent
        guard !parent.isEmpty, parent != path, access(parent, F_OK) != 0, errno == ENOENT else { return }
        try ensureParent(of: parent)
        if mkdir(parent, 0o700) != 0, case let problem = errno, problem != EEXIST { throw failure(parent, problem) }
    }

    private static func failure(_ directory: String, _ problem: Int32) -> SystemCallError {
        SystemCallError(
            operation: "mkdir", subject: directory, errno: problem,
            remedy: "make room for it there; if it is cleaned away again, start the worker with TMPDIR in a place that is not")
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
