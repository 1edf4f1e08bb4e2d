import Glibc
import Wire

/// How many files and connections this process may have open: one each for its peers.
package enum OpenFiles {
    /// Raises the limit to what the host allows. Not for processes that begin others, which would have it as well.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        // As it was is enough to begin with; when it is not any more, that is told.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Why a coordinator cannot begin with this limit, and what to do about it; nil: it can.
    package static func lowLimit() -> String? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(CoordinatorLimits.openFilesMin)
        else { return nil }
        return
            "this process may open \(limit.rlim_cur) files, and needs \(CoordinatorLimits.openFilesMin) (openFilesMin); raise that (LimitNOFILE=, ulimit -n)"
    }

    /// Why no file and no connection can be opened now, and what to do about it; nil: they can.
    static func shortage() -> String? {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        let code = errno
        guard code == EMFILE else { return SystemCallError(operation: "open", errno: code).description }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return
            "this process has \(limit.rlim_cur) files and connections open, its limit; raise that (LimitNOFILE=, ulimit -n) and restart it"
    }
}
