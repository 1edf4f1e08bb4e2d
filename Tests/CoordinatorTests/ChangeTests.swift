import Foundation
import Testing
import Wire

@testable import Coordinator

/// What those who look without following a submission are woken by.
@Suite struct ChangeTests {
    /// Serves nothing, and tells each version that there is to see.
    private struct Watcher: CoordinatorHTTP {
        let versions = Collector<UInt64>()

        func run(_ access: CoordinatorAccess, listening: @escaping @Sendable (HTTPAddress) -> Void) async throws {
            listening(try HTTPAddress("127.0.0.1:1"))
            var seen = UInt64.max
            while let version = await access.change(since: seen) {
                seen = version
                versions.add(version)
            }
        }
    }

    let temporary: TemporaryDirectory
    init() throws { temporary = try TemporaryDirectory() }

    @Test func start_ofAnOperation_isShown_thoughItIsNotJournaled() async throws {
        let watcher = Watcher()
        try await TestCoordinator.run(in: temporary.path + "/data", http: watcher) { coordinator in
            let worker = try coordinator.peer()
            _ = try worker.attach(.executor, incarnation: 1)
            let client = try coordinator.peer()
            _ = try client.attach(.client, incarnation: 2)
            let id = try client.submit(.group([.noop("a")]))
            let given = try worker.assignments(1)[0]
            // What was given out is on the disk, and so is all that led to it.
            #expect(try client.operations(id).map(\.state) == [.running, .queued])
            _ = watcher.versions.rest()
            try worker.report(given.unit, given.attempt, .started(.with { $0.startedAt = 5 }))
            _ = try watcher.versions.wait { !$0.isEmpty }
            #expect(try client.operations(id).map(\.state) == [.running, .running])
            worker.close()
            client.close()
        }
    }
}
