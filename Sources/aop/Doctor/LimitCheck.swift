import Foundation

/// What the system allows this user's processes.
enum LimitCheck {
    /// Of the coordinator, which takes all it may: a connection each for workers, clients and browsers.
    private static let openFilesMin: UInt = 4096
    /// Of a user who runs workers.
    private static let processesMin: UInt = 1024

    static func findings() -> [Finding] {
        [temporary(), openFiles(limit(RLIMIT_NOFILE)?.rlim_max), processes(limit(__RLIMIT_NPROC)?.rlim_cur), shell(path: "/bin/sh")]
    }

    static func openFiles(_ most: rlim_t?) -> Finding {
        guard let most else {
            return Finding(.limits, .warning, "the limit of open files is not known: \(String(cString: strerror(errno)))")
        }
        guard most < openFilesMin else {
            return Finding(.limits, .ok, "\(most == rlim_t.max ? "any number of" : "\(most)") open files for a coordinator")
        }
        return Finding(
            .limits, .warning,
            "a coordinator may have \(most) files and connections open, and needs one for each worker process and client",
            remedy: "raise it to \(openFilesMin) or more: `ulimit -Hn` in the shell of root, LimitNOFILE= in a systemd unit")
    }

    static func processes(_ most: rlim_t?) -> Finding {
        guard let most else {
            return Finding(.limits, .warning, "the limit of processes is not known: \(String(cString: strerror(errno)))")
        }
        guard most < processesMin else {
            return Finding(.limits, .ok, "\(most == rlim_t.max ? "any number of" : "\(most)") processes for workers")
        }
        return Finding(
            .limits, .warning, "you may have \(most) processes and threads, which all commands of your workers share",
            remedy: "raise it to \(processesMin) or more: `ulimit -u`, LimitNPROC= in a systemd unit")
    }

    static func shell(path: String) -> Finding {
        access(path, X_OK) == 0
            ? Finding(.shell, .ok, path)
            : Finding(
                .shell, .error, "there is no \(path), which runs the commands of graphs", remedy: "install one, e.g. apt-get install dash")
    }

    /// Where `aop run` and `aop dev` keep what they need.
    private static func temporary() -> Finding {
        do {
            let directory = try PrivateDirectory()
            try PrivateDirectory.remove(directory.path)
            return Finding(.temporary, .ok, "\((directory.path as NSString).deletingLastPathComponent) for `aop run`")
        } catch { return Finding(.temporary, message: ToolError(error).message) }
    }

    private static func limit(_ resource: __rlimit_resource) -> rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? limit : nil
    }
}
