import AOperation
import Executing
import Foundation
import Logging
import Wire

/// The thread of a cluster in memory, and what its workers share.
///
/// `@unchecked Sendable`: `registry` is changed and read on the loop's thread only; the rest is constant.
package final class MemoryHost: @unchecked Sendable {
    let loop: EventLoop
    let settings: HostSettings
    private(set) var registry: OperationRegistry

    package init() throws {
        loop = try EventLoop()
        registry = try OperationRegistry([], withShell: false)
        let folder = FileManager.default.temporaryDirectory.path
        settings = HostSettings(
            hostName: "memory", environment: CommandEnvironment(passedNames: [], passesEverything: false),
            workingDirectory: nil, temporaryDirectory: folder,
            commands: try CommandHost(loop: loop, logger: Logger(label: "aop.memory")))
    }

    /// Does `work` on the cluster's thread.
    package func submit(_ work: @escaping @Sendable () -> Void) { loop.submit(work) }

    /// - Throws: `ThreadError` when the system has no thread to give.
    package func start(afterEachTurn turn: @escaping @Sendable () -> Void) throws(ThreadError) {
        _ = try OSThread(name: "aop-memory") { [loop] in loop.run(afterEachTurn: turn) }
    }

    package func stop() { loop.submit { [loop] in loop.stop() } }

    /// Lets workers run operations of this type, which `make` makes of their parameters.
    /// - Throws: `OperationRegistry.Refused`.
    package func register(_ type: any ClusterOperation.Type, make: (@Sendable (Data) throws -> any ClusterOperation)?) throws {
        try registry.allow(type, make: make)
    }

    package func register(_ type: any ClusterCondition.Type) throws { try registry.allow(type) }
}
