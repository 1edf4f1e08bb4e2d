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
        let environment = try Self.environment(of: configuration, inherited: ProcessInfo.processInfo.environment)
        let name = (CommandLine.arguments.first as NSString?)?.lastPathComponent ?? "worker"
        let program = program()
        var process: pid_t = 0
        let result = withCStrings([name, ExecutorConfiguration.subcommand]) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                clinux_spawn(program, arguments, environment, ends[1], &process)
            }
        }
        guard result == 0 else {
            close(ends[0])
            throw SystemCallError(operation: "posix_spawn", subject: program, errno: result)
        }
        return Started(process: process, channel: ends[0])
    }

    /// What an executor is started with.
    static func environment(of configuration: ExecutorConfiguration, inherited: [String: String]) throws -> [String: String] {
        var configuration = configuration
        var environment = inherited
        for variable in ServiceManager.variables { environment[variable] = nil }
        // That it has died is to be known at once. Whoever says anything about it has what they say.
        configuration.hasBacktracesOff = inherited[Backtraces.environmentName] == nil
        if configuration.hasBacktracesOff { environment[Backtraces.environmentName] = Backtraces.off }
        environment[ExecutorConfiguration.environmentName] = try configuration.encoded()
        // From its first moment on, and for whatever its operations start by themselves.
        environment[WorkerMark.environmentName] = configuration.mark
        return environment
    }

    /// This binary, by its own name where that still names it: the kernel calls a process by the last part of it. A binary
    /// that was replaced or removed meanwhile goes on as the one that runs.
    static func program() -> String {
        let link = "/proc/self/exe"
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink(link, &buffer, buffer.count - 1)
        guard length > 0 else { return link }
        let path = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        var (own, named) = (stat(), stat())
        guard stat(link, &own) == 0, stat(path, &named) == 0, own.st_dev == named.st_dev, own.st_ino == named.st_ino else {
            return link
        }
        return path
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
