import Glibc

/// How large a file this process may make (`ulimit -f`, `LimitFSIZE=`).
package enum FileSizeLimit {
    /// In bytes; nil: as large as the file system lets it.
    package static var bytes: UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return UInt64(limit.rlim_cur)
    }

    /// What it is, and what to do about it; nil: there is none.
    package static var text: String? {
        bytes.map { "a file of this process may have \($0) bytes, its limit; raise that (LimitFSIZE=, ulimit -f) and restart it" }
    }

    /// A write that would exceed it fails from now on, so that it can be told. By default the system kills the process. Not for processes that
    /// begin others, which would have it as well.
    package static func letWritesFail() { signal(SIGXFSZ, SIG_IGN) }
}
