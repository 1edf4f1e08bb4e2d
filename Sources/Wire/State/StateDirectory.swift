import Foundation
import Glibc

/// Where a user's coordinator and clients keep what must survive: `$XDG_STATE_HOME/aop`, else `~/.local/state/aop`.
public enum StateDirectory {
    /// The directory's path; it need not exist.
    ///
    /// A relative `XDG_STATE_HOME` is ignored, as the XDG Base Directory Specification says.
    public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return join(state, "aop") }
        return join(home(environment: environment), ".local/state/aop")
    }

    /// The user's home directory.
    package static func home(environment: [String: String]) -> String {
        if let home = environment["HOME"], home.hasPrefix("/") { return home }
        return accountHome() ?? "/"
    }

    /// Creates `path` and what is missing above it, for this user only (0700).
    ///
    /// - Parameter remedy: what to do where it cannot be made.
    /// - Throws: ``SystemCallError`` with the path and a remedy.
    public static func create(
        _ path: String, remedy: String = "set XDG_STATE_HOME to a directory you can write to"
    ) throws(SystemCallError) {
        for directory in missing(of: path).directories.reversed() where mkdir(directory, 0o700) != 0 && errno != EEXIST {
            throw SystemCallError(operation: "mkdir", subject: directory, errno: errno, remedy: remedy)
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw SystemCallError(operation: "stat", subject: path, errno: errno, remedy: remedy)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw SystemCallError(operation: "opening", subject: path, errno: ENOTDIR, remedy: "move that file away")
        }
    }

    /// Whether ``create(_:remedy:)`` can make it, without changing anything.
    ///
    /// - Throws: ``SystemCallError`` with the path and a remedy.
    package static func checkCanBeCreated(
        _ path: String, remedy: String = "set XDG_STATE_HOME to a directory you can write to"
    ) throws(SystemCallError) {
        let (directories, place) = missing(of: path)
        var status = stat()
        guard stat(place, &status) == 0 else {
            throw SystemCallError(operation: "stat", subject: place, errno: errno, remedy: remedy)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            guard let first = directories.last else {
                throw SystemCallError(operation: "opening", subject: path, errno: ENOTDIR, remedy: "move that file away")
            }
            throw SystemCallError(operation: "mkdir", subject: first, errno: ENOTDIR, remedy: remedy)
        }
        guard access(place, W_OK | X_OK) == 0 else {
            let operation = directories.isEmpty ? "writing" : "mkdir"
            throw SystemCallError(operation: operation, subject: directories.last ?? path, errno: errno, remedy: remedy)
        }
    }

    /// What of `path` is not there, from itself upwards, and the nearest of what is above it that is.
    private static func missing(of path: String) -> (directories: [String], place: String) {
        var directories: [String] = []
        var current = path
        while access(current, F_OK) != 0, current.hasPrefix("/"), current != "/" {
            directories.append(current)
            current = parent(of: current)
        }
        return (directories, current)
    }

    private static func parent(of path: String) -> String {
        let trimmed = path.hasSuffix("/") ? path.dropLast() : path[...]
        guard let slash = trimmed.lastIndex(of: "/"), slash != trimmed.startIndex else { return "/" }
        return String(trimmed[..<slash])
    }

    private static func join(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    private static func accountHome() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var text = [CChar](repeating: 0, count: 16 * 1024)
        guard getpwuid_r(geteuid(), &entry, &text, text.count, &found) == 0, found != nil, let home = entry.pw_dir else { return nil }
        return String(cString: home)
    }
}
