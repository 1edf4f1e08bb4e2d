import AOperation
import Foundation
import Logging
import Synchronization
import Wire

@testable import Worker

/// Runs shell operations as an executor would, in this process.
final class CommandRunner: Sendable {
    let host: HostSettings
    let queue = AOperationQueue()
    private let loop: EventLoop
    private let output = Mutex<[UnitContext.Stream: [UInt8]]>([:])

    init(passedNames: [String] = [], workingDirectory: String? = nil) throws {
        let loop = try EventLoop()
        self.loop = loop
        try loop.runOnOwnThread(name: "test-commands")
        host = HostSettings(
            hostName: "testhost", environment: CommandEnvironment(passedNames: passedNames), workingDirectory: workingDirectory,
            temporaryDirectory: try TemporaryDirectory.make(),
            commands: try CommandHost(loop: loop, logger: Logger(label: "test")))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: host.temporaryDirectory)
        let loop = loop
        loop.submit { loop.stop() }
    }

    func streamed(_ stream: UnitContext.Stream) -> String {
        String(decoding: output.withLock { $0[stream] ?? [] }, as: UTF8.self)
    }

    /// A command ready to be added to the queue.
    func make(
        _ parameters: ShellParameters, input: EncodedValue? = nil, bindings: Bindings = Bindings(), grace: Int64 = 5000,
        path: String = UUID().uuidString
    ) -> ShellOperation {
        let operation = ShellOperation(parameters)
        operation.grace = .seconds(1000)
        if let input { operation.receivedValue = .success(input) }
        operation.host(in: context(bindings: bindings, grace: grace, path: path))
        return operation
    }

    func context(bindings: Bindings = Bindings(), grace: Int64 = 5000, path: String = UUID().uuidString) -> UnitContext {
        UnitContext(
            submission: "s1", path: path, attemptNumber: 2, worker: "testhost/0", bindings: bindings,
            graceMilliseconds: grace,
            output: { [self] stream, bytes in output.withLock { $0[stream, default: []] += bytes } },
            host: host)
    }

    /// Runs a command to the end of its body.
    func run(
        _ parameters: ShellParameters, input: EncodedValue? = nil, bindings: Bindings = Bindings(),
        path: String = UUID().uuidString
    ) async -> ClusterOutcome {
        await end(of: make(parameters, input: input, bindings: bindings, path: path))
    }

    func end(of operation: ShellOperation) async -> ClusterOutcome { await queue.end(of: operation) }
}

extension ClusterOutcome {
    var text: String? {
        if case .success(let value) = self { String(decoding: value.bytes, as: UTF8.self) } else { nil }
    }

    var fault: OperationFault? {
        if case .failure(let errors) = self { errors.first?.publishedError as? OperationFault } else { nil }
    }

    var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }
}

/// Waits until `condition` holds.
/// - Returns: false when it does not within `seconds`.
func eventually(within seconds: Double = 60, _ condition: @Sendable () -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !condition() {
        if ContinuousClock.now >= deadline { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}

/// Living processes whose command line holds `text`.
func processes(with text: String) -> [pid_t] {
    ProcessTable.now().entries.filter { entry in
        guard !entry.isZombie, entry.id != getpid(),
            let line = FileManager.default.contents(atPath: "/proc/\(entry.id)/cmdline")
        else { return false }
        return String(decoding: line, as: UTF8.self).replacingOccurrences(of: "\0", with: " ").contains(text)
    }.map(\.id)
}

extension ProcessTable {
    /// A test process has files left to look.
    static func now() -> ProcessTable {
        do { return try current() } catch { preconditionFailure("\(error)") }
    }
}
