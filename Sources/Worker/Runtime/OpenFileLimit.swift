import CLinux
import Foundation
import Wire

/// How many files, pipes and connections this process may have open. The limit is not raised: commands would have it as well, and some of them
/// close, or watch, as many as there may be.
enum OpenFileLimit {
    static var current: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// - Throws: `SystemCallError` when there is none left for looking.
    static func inUse() throws(SystemCallError) -> Int {
        guard let directory = opendir("/proc/self/fd") else {
            throw SystemCallError(operation: "opendir", subject: "/proc/self/fd", errno: errno)
        }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // "." and "..", and the folder itself.
        return count - 3
    }
}
