import CLinux
import Foundation
import Wire

/// Starts executors: this same binary again.
enum ExecutorLaunch {
    struct Started {
        let process: pid_t
        /// This side's end of the channel; not blocking.
        let channel: Int32
    }

    /// - Throws: `SystemCallError`.
    static func start(_ configuration: ExecutorConfiguration) throws -> Started {
        var ends: [Int32] = [-1, -1]
        _ = try SystemCallError.check(clinux_socket_pair(&ends), "socketpair")
        defer { close(ends[1]) }
        var environment = ProcessInfo.processInfo.environment
        environment[ExecutorConfiguration.environmentName] = try configuration.encoded()
        let name = (CommandLine.arguments.first as NSString?)?.lastPathComponent ?? "worker"
        var process: pid_t = 0
        let result = withCStrings([name, ExecutorConfiguration.subcommand]) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                clinux_spawn("/proc/self/exe", arguments, environment, ends[1], &process)
            }
        }
        guard result == 0 else {
            close(ends[0])
            throw SystemCallError(operation: "posix_spawn", subject: "/proc/self/exe", errno: result)
        }
        return Started(process: process, channel: ends[0])
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
