import Foundation
import Testing

/// A command that sees a directory as one that cannot be written, as it sees a medium of that kind.
enum ReadOnlyMount {
    /// Whether this machine lets us mount something in a namespace of its own.
    static let isPossible: Bool = {
        let directory = NSTemporaryDirectory() + "aop-mount-" + UUID().uuidString
        guard (try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)) != nil else { return false }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        // It is not enough that nothing is refused.
        process.arguments = arguments(directory, ["/bin/sh", "-c", "! touch \"$0/x\" 2>/dev/null", directory])
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    static let program = "/usr/bin/unshare"

    static func arguments(_ directory: String, _ command: [String]) -> [String] {
        ["-rm", "/bin/sh", "-c", "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && exec \"$@\"", directory] + command
    }
}

extension SystemTests {
    /// Backups on a medium that cannot be written, and data on a disk that the kernel does not write to any more.
    @Suite(.enabled(if: ReadOnlyMount.isPossible, "this machine lets nobody mount anything in a namespace of its own"))
    struct ReadOnlyMedia {
        @Test func backupsAndData_areVerifiedRestoredAndBackedUp_whereNothingCanBeWritten() async throws {
            try await ProcessHarness.with { harness in
                let media = try harness.folders("media")[0]
                let data = "\(harness.directory)/data"
                let coordinator = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "1")
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write("two.yaml", "group:\n  - {id: a, op: noop}\n  - {id: b, op: noop, after: a}\n")
                #expect(try await harness.aop("submit", graph, "-o", "quiet").status == 0)
                #expect(try await harness.aop("journal", "backup", "\(media)/backup", "--data", data).status == 0)
                try await coordinator.send(SIGKILL)
                _ = try await coordinator.finish()
                // What it left is in SQLite's log, of which one copy has the index and the other one has not.
                for name in ["killed", "copied"] { try FileManager.default.copyItem(atPath: data, toPath: "\(media)/\(name)") }
                for name in try FileManager.default.contentsOfDirectory(atPath: "\(media)/copied") where name.hasSuffix("-shm") {
                    try FileManager.default.removeItem(atPath: "\(media)/copied/\(name)")
                }
                func aop(_ arguments: String...) async throws -> Finished {
                    try await harness.start(ReadOnlyMount.program, ReadOnlyMount.arguments(media, [BuiltProducts.aop] + arguments)).finish()
                }
                for name in ["backup", "killed", "copied"] {
                    let verified = try await aop("journal", "verify", "--values", "--data", "\(media)/\(name)")
                    #expect(verified.status == 0 && verified.text.contains("1 submissions"), "\(name): \(verified)")
                    let restored = try await aop("journal", "restore", "\(media)/\(name)", "--data", "\(harness.directory)/new-\(name)")
                    #expect(restored.status == 0 && restored.text.contains("1 submissions"), "\(name): \(restored)")
                    let copied = try await aop("journal", "backup", "\(harness.directory)/copy-\(name)", "--data", "\(media)/\(name)")
                    #expect(copied.status == 0 && copied.text.contains("1 submissions"), "\(name): \(copied)")
                    let started = try await aop("coordinator", "--no-http", "--listen", harness.endpoint, "--data", "\(media)/\(name)")
                    #expect(started.status == 1 && started.stderr.contains("Read-only file system"), "\(name): \(started)")
                }
            }
        }
    }
}
