import CLinux
import Foundation
import Logging
import Wire

/// Runs and watches the commands of one process on one event loop.
///
/// `@unchecked Sendable`: `running`, `nextNumber` and `scratch` are touched on the loop's thread only.
final class CommandHost: @unchecked Sendable {
    let loop: EventLoop
    let logger: Logger
    /// Closed when the process ends: nothing is started any more.
    let spawns: SpawnGate
    let room: CommandRoom
    /// `/dev/null`, for commands without input; shared by all.
    let nullDescriptor: Int32
    private var running: [UInt64: RunningCommand] = [:]
    private var nextNumber: UInt64 = 0
    /// What a read fills before its bytes are taken over.
    var scratch = [UInt8](repeating: 0, count: 64 * 1024)

    /// - Throws: `SystemCallError` when the process has no descriptors left.
    init(loop: EventLoop, spawns: SpawnGate = SpawnGate(), logger: Logger) throws {
        // A command may close its stdin while it is written to; that must not end this process.
        signal(SIGPIPE, SIG_IGN)
        self.loop = loop
        self.spawns = spawns
        self.logger = logger
        room = CommandRoom(max: CommandRoom.max(openFiles: OpenFileLimit.current, inUse: try OpenFileLimit.inUse()))
        nullDescriptor = try SystemCallError.check(open("/dev/null", O_RDWR | O_CLOEXEC), "open", "/dev/null")
    }

    deinit { close(nullDescriptor) }

    /// Watches a command that has just been started. On the loop's thread.
    func watch(_ start: CommandStart, _ whenOver: @escaping @Sendable (CommandTrace) -> Void) {
        nextNumber += 1
        let number = nextNumber
        let command = RunningCommand(start, host: self) { [unowned self] trace in
            running[number] = nil
            whenOver(trace)
        }
        running[number] = command
        start.control.attach(loop) { [weak command] mode in command?.stop(mode) }
        command.begin()
    }

    /// Whether `session` is that of a command that has not ended. On the loop's thread.
    func isRunning(session: pid_t) -> Bool { running.values.contains { $0.start.process == session } }

    /// Reaps orphans that this process inherited.
    /// - Returns: false when it is certain that no descendant of an ended command is alive.
    ///
    /// Only a subreaper's first thread can be certain: it inherits all orphans, and all commands are children of
    /// another thread.
    func mayHaveOrphans() -> Bool {
        guard clinux_is_main_thread() else { return true }
        while true {
            let result = clinux_reap_orphan()
            if result == 0 { return true }
            if result < 0 { return errno != ECHILD }
        }
    }
}

/// A command that was started and is to be watched.
struct CommandStart: Sendable {
    /// The leader of the command's session and process group. It is not reaped before the watching is over.
    let process: pid_t
    /// Becomes readable when the leader ends.
    let processDescriptor: Int32
    /// Reading ends of pipes; not blocking.
    let stdout: Int32
    let stderr: Int32
    /// Writing end of a pipe for what `input` still holds; not blocking. nil: all is written.
    let stdin: Int32?
    let input: Data.SubSequence
    /// Bytes of stdout that are kept; one more ends the command.
    let outputBytesMax: Int
    let keepsOutput: Bool
    /// Where what is kept goes that is too large for memory.
    let outputDirectory: String
    let graceMilliseconds: Int64
    /// "NAME=value" that together only this command's processes have in their environment.
    let markers: [String]
    let output: @Sendable (UnitContext.Stream, [UInt8]) -> Void
    let control: CommandControl
}

/// What is known of a command when nothing of it is left.
struct CommandTrace: Sendable {
    /// Why a command was killed.
    enum Cut: Sendable {
        /// It grew beyond its limit.
        case limit
        /// The disk does not take what is kept of it.
        case disk(any Error)
        /// It could not be watched.
        case unwatched(any Error)
    }

    var stdout = KeptOutput.memory([])
    var stdoutBytes = 0
    var stderrTail: [UInt8] = []
    var cut: Cut?
}
