import CLinux
import Foundation
import Synchronization

@testable import Worker

/// A worker binary running as a process of its own.
final class WorkerProcess: Sendable {
    let id: pid_t
    private let reaped = Mutex<Int32?>(nil)

    enum Failure: Error { case noBinary(String), notStarted(Int32) }

    /// Beside the test bundle: both are built into one directory.
    static func binary(_ name: String) throws -> String {
        let directory = (CommandLine.arguments[0] as NSString).deletingLastPathComponent
        for candidate in [directory, Bundle.main.bundlePath] where FileManager.default.isExecutableFile(atPath: "\(candidate)/\(name)") {
            return "\(candidate)/\(name)"
        }
        throw Failure.noBinary("\(directory)/\(name) is missing: build the tests with `swift build --build-tests`")
    }

    init(_ arguments: [String], environment extra: [String: String] = [:]) throws {
        let path = try Self.binary("TextWorker")
        var environment = ProcessInfo.processInfo.environment
        environment.merge(extra) { $1 }
        var process: pid_t = 0
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let result = clinux_spawn(path, argv, envp, null, &process)
        guard result == 0 else { throw Failure.notStarted(result) }
        id = process
    }

    /// Ends it however the test ended; its executors and their commands end with it.
    func end() {
        guard exitStatus() == nil else { return }
        kill(id, SIGKILL)
        var status: Int32 = 0
        guard waitpid(id, &status, 0) == id else { return }
        reaped.withLock { $0 = status }
    }

    func signal(_ number: Int32) { kill(id, number) }

    /// The status `waitpid` gave; nil while it runs.
    func exitStatus() -> Int32? {
        reaped.withLock { reaped in
            if let reaped { return reaped }
            var status: Int32 = 0
            guard waitpid(id, &status, WNOHANG) == id else { return nil }
            reaped = status
            return status
        }
    }
}
