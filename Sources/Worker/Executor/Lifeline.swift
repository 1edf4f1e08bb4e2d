import CLinux
import Foundation
import Synchronization
import Wire

/// Ends this process, with everything below it, when its supervisor is gone, however busy or stuck the rest of it is.
enum Lifeline {
    /// Watches `descriptor`, whose other end only the supervisor holds.
    /// - Throws: `ThreadError` when there is no thread for it.
    static func begin(_ descriptor: Int32, spawns: SpawnGate, temporaryDirectory: String) throws(ThreadError) {
        _ = try OSThread(name: "aop-lifeline") {
            clinux_wait_for_hangup(descriptor)
            clear(spawns: spawns, temporaryDirectory: temporaryDirectory)
            // The supervisor's own directory, if this was the last one in it.
            rmdir((temporaryDirectory as NSString).deletingLastPathComponent)
            _exit(ExecutorExit.orphaned)
        }
    }

    /// Kills everything below this process and exits. Blocks for a second at most.
    static func end(spawns: SpawnGate, temporaryDirectory: String, code: Int32) -> Never {
        clear(spawns: spawns, temporaryDirectory: temporaryDirectory)
        _exit(code)
    }

    private static func clear(spawns: SpawnGate, temporaryDirectory: String) {
        spawns.close()
        _ = Descendants.killAll(withinMilliseconds: 400)
        // A command that was being started when the gate closed shows up now.
        usleep(20_000)
        _ = Descendants.killAll(withinMilliseconds: 400)
        try? FileManager.default.removeItem(atPath: temporaryDirectory)
    }
}

/// Whether commands may still be started.
final class SpawnGate: Sendable {
    private let closed = Atomic(false)
    var isOpen: Bool { !closed.load(ordering: .acquiring) }
    func close() { closed.store(true, ordering: .releasing) }
}
