import AOperation
import Foundation

/// Takes its time, and leaves a line when it begins and one when it ends, for tests that kill whomever they can.
///
/// Its value names the execution that it is of, so that it can be told which one counts.
public final class Deed: AsyncOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        /// Unique in the file.
        public var name: String
        /// The file: `+ NAME EXECUTION PROCESS NANOSECONDS KEY alone` when it begins, with `-` when it has succeeded, with `!` when it fails;
        /// `beside` instead of `alone` if somebody else was inside under the key.
        public var log: String
        public var milliseconds: Int
        /// The key that it is run under.
        public var key: String?
        /// How many of its executions fail.
        public var failures: Int

        public init(name: String, log: String, milliseconds: Int, key: String? = nil, failures: Int = 0) {
            self.name = name
            self.log = log
            self.milliseconds = milliseconds
            self.key = key
            self.failures = failures
        }
    }

    public let parameters: Parameters
    public var receivedValue: Result<String, AOperationError>?

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func run() async throws -> String {
        let execution = "\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let inside = parameters.key.map { Inside("\(parameters.log).\($0)") }
        // Given back by the kernel when the process dies, and not before.
        defer { inside?.leave() }
        let how = inside?.isAlone == false ? "beside" : "alone"
        write("+", execution, how)
        let received = try receivedValue?.get()
        try await Task.sleep(for: .milliseconds(parameters.milliseconds))
        if parameters.failures > 0, failuresSoFar() < parameters.failures {
            append("!", to: "\(parameters.log).\(parameters.name)")
            write("!", execution, how)
            throw TrialError(text: parameters.name)
        }
        write("-", execution, how)
        return "\(parameters.name)=\(execution)\(received.map { "<\($0)" } ?? "")"
    }

    private func write(_ sign: String, _ execution: String, _ how: String) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        append("\(sign) \(parameters.name) \(execution) \(getpid()) \(nanoseconds) \(parameters.key ?? "-") \(how)\n", to: parameters.log)
    }

    /// In one piece: others write to the same file.
    private func append(_ text: String, to path: String) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { fatalError("\(path) cannot be written") }
    }

    private func failuresSoFar() -> Int {
        var status = stat()
        return stat("\(parameters.log).\(parameters.name)", &status) == 0 ? Int(status.st_size) : 0
    }
}

/// A place in which one execution is at a time, as the kernel says.
private struct Inside {
    private let descriptor: Int32
    let isAlone: Bool

    init(_ path: String) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        isAlone = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    func leave() { if descriptor >= 0 { close(descriptor) } }
}
