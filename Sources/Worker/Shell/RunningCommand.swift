import CLinux
import Foundation
import Wire

/// One command, from its start until nothing of it is left: reads and writes its pipes, signals it, and sweeps up what
/// its leader leaves behind. Lives on the loop's thread.
final class RunningCommand {
    private enum Phase {
        case running
        /// Was told to end; the timer kills it.
        case stopping(EventLoop.Timer)
        /// Its leader has ended of that; the rest of its process group, which was told so, too, has as long as it would have had. `round`
        /// counts the looks at the process table.
        case outlasting(EventLoop.Timer, round: Int64)
        /// Was killed.
        case killed
        /// The leader has ended; what it left behind is being killed. `round` counts the looks at the process table.
        case sweeping(round: Int64)
        case over
    }

    let start: CommandStart
    private let host: CommandHost
    private let whenOver: (CommandTrace) -> Void
    private var phase = Phase.running
    private var trace = CommandTrace()
    private var kept: OutputKeeper
    /// stdout is not read: the disk is slower than the command.
    private var isHeldBack = false
    private var openOutputs: [UnitContext.Stream: Int32]
    private var input: Data.SubSequence
    private var stdin: Int32?

    /// Reads of one pipe in a row before others get their turn.
    private static let readsInARow = 16
    /// Writes to its stdin in a row, likewise: a command that reads fast would have the loop to itself.
    private static let writesInARow = 16
    private static let writeBytes = 64 * 1024

    init(_ start: CommandStart, host: CommandHost, whenOver: @escaping (CommandTrace) -> Void) {
        self.start = start
        self.host = host
        self.whenOver = whenOver
        kept = OutputKeeper(in: start.outputDirectory)
        openOutputs = [.stdout: start.stdout, .stderr: start.stderr]
        input = start.input
        stdin = start.stdin
    }

    /// `self` is kept alive by the loop's handlers until the command is over.
    func begin() {
        if start.processDescriptor >= 0 {
            watch(start.processDescriptor, .readable) { $0.leaderEnded() }
        } else {
            abandon(
                SystemCallError(
                    operation: "pidfd_open", errno: EMFILE, remedy: "raise how many files it may have (LimitNOFILE=, ulimit -n)"))
        }
        for (stream, descriptor) in openOutputs { watch(descriptor, .readable) { $0.read(stream) } }
        if let stdin { watch(stdin, .writable) { $0.writeInput() } }
    }

    private func watch(_ descriptor: Int32, _ interest: EventLoop.Interest, _ handler: @escaping (RunningCommand) -> Void) {
        do {
            try host.loop.watch(descriptor, interest) { handler(self) }
        } catch {
            abandon(error)
        }
    }

    /// Out of kernel memory or descriptors: a command nobody watches must not go on.
    private func abandon(_ error: any Error) {
        host.logger.error("command \(start.process) cannot be watched and is killed: \(error)")
        if trace.cut == nil { trace.cut = .unwatched(error) }
        killEverything()
        awaitLeader(round: 0)
    }

    /// The end of a leader of which nothing tells. Before it is dead nobody else may look for its end: they would wait for what tells of it.
    private func awaitLeader(round: Int64) {
        guard case .killed = phase else { return }
        guard !clinux_has_ended(start.process) else { return leaderEnded() }
        lookAgain(after: round) { self.awaitLeader(round: round + 1) }
    }

    // MARK: Stopping

    func stop(_ mode: CommandControl.Mode) {
        switch (phase, mode) {
        case (.running, .gently):
            kill(-start.process, SIGTERM)
            phase = .stopping(host.loop.after(milliseconds: start.graceMilliseconds) { [weak self] in self?.stop(.now) })
        case (.running, .now):
            killEverything()
        case (.stopping(let timer), .now):
            host.loop.cancel(timer)
            killEverything()
        case (.outlasting(let timer, _), .now):
            host.loop.cancel(timer)
            beginSweep()
        case (.stopping, .gently), (.outlasting, .gently), (.killed, _), (.sweeping, _), (.over, _):
            break
        }
    }

    private func killEverything() {
        phase = .killed
        // Where the processes cannot be looked at now, the sweep kills those that are left.
        let members = (try? members()) ?? []
        // The shell first, with its group: it would see its child die and begin what comes next.
        kill(-start.process, SIGKILL)
        for member in members where !mayBeGuardian(member) { kill(member, SIGKILL) }
    }

    // MARK: The end

    private func leaderEnded() {
        host.loop.unwatch(start.processDescriptor)
        switch phase {
        case .stopping(let timer):
            phase = .outlasting(timer, round: 0)
            awaitGroup()
        case .running, .killed: beginSweep()
        case .outlasting, .sweeping, .over: break
        }
    }

    /// A shell ends at once when it is told to; what it waited for may have to clean up.
    private func awaitGroup() {
        guard case .outlasting(let timer, let round) = phase else { return }
        guard host.mayHaveOrphans(), mayBeLeftOfGroup() else {
            host.loop.cancel(timer)
            return beginSweep()
        }
        phase = .outlasting(timer, round: round + 1)
        lookAgain(after: round) { self.awaitGroup() }
    }

    private func mayBeLeftOfGroup() -> Bool {
        guard let table = try? ProcessTable.current() else { return true }
        return table.entries.contains { $0.group == start.process && $0.id != start.process && !$0.isZombie }
    }

    private func beginSweep() {
        // The leader is not reaped yet, so its process group's number is still its own.
        kill(-start.process, SIGKILL)
        phase = .sweeping(round: 0)
        sweep()
    }

    /// Soon at first.
    private func lookAgain(after round: Int64, _ look: @escaping () -> Void) {
        host.loop.after(milliseconds: min(1 + round / 4, 50), look)
    }

    private func sweep() {
        guard case .sweeping(let round) = phase else { return }
        guard host.mayHaveOrphans() else { return conclude() }
        let left: [pid_t]
        do { left = try members() } catch {
            // Nothing is concluded from what was not seen.
            if round % 200 == 0 {
                host.logger.warning("what the ended command \(start.process) has left cannot be looked for; trying again: \(error)")
            }
            phase = .sweeping(round: round + 1)
            return lookAgain(after: round) { self.sweep() }
        }
        guard !left.isEmpty else { return conclude() }
        // The guardian of a worker that the command has started kills what is left of that one, which is nobody else's, and ends.
        for member in left where round >= Self.guardianRounds || !mayBeGuardian(member) { kill(member, SIGKILL) }
        if round == 200 {
            host.logger.warning("processes \(left) of the ended command \(start.process) do not die; waiting for them")
        }
        phase = .sweeping(round: round + 1)
        lookAgain(after: round) { self.sweep() }
    }

    /// For some two seconds.
    private static let guardianRounds = 120

    /// The living processes of this command but its leader: of its process group, of its session, and those that left
    /// the session and whose parents have ended.
    /// - Throws: `SystemCallError` when they cannot be looked at now.
    private func members() throws -> [pid_t] {
        let ownID = getpid()
        return try ProcessTable.current().entries.filter { entry in
            guard !entry.isZombie, entry.id != start.process, entry.id != ownID else { return false }
            if entry.session == start.process || entry.group == start.process { return true }
            // An orphan that belongs to no running command.
            return try entry.parent == ownID && !host.isRunning(session: entry.session)
                && ProcessTable.environment(of: entry.id, contains: start.markers)
        }.map(\.id)
    }

    private func mayBeGuardian(_ process: pid_t) -> Bool { (try? ProcessTable.isGuardian(process)) ?? true }

    private func conclude() {
        for stream in Array(openOutputs.keys) {
            // Nobody writes any more; what is in the pipe is all.
            while openOutputs[stream] != nil, readOnce(stream) {}
            closeOutput(stream)
        }
        closeInput()
        trace.stdout = kept.finish(written: written)
        phase = .over
        whenOver(trace)
    }

    // MARK: Pipes

    private func read(_ stream: UnitContext.Stream) {
        for _ in 0..<Self.readsInARow {
            guard !(isHeldBack && stream == .stdout), readOnce(stream) else { return }
        }
    }

    /// - Returns: whether there may be more at once.
    private func readOnce(_ stream: UnitContext.Stream) -> Bool {
        guard let descriptor = openOutputs[stream] else { return false }
        let count = Glibc.read(descriptor, &host.scratch, host.scratch.count)
        if count > 0 {
            take(Array(host.scratch[..<count]), from: stream)
            return true
        }
        if count < 0 && (errno == EAGAIN || errno == EINTR) { return errno == EINTR }
        closeOutput(stream)
        return false
    }

    private func take(_ bytes: [UInt8], from stream: UnitContext.Stream) {
        start.output(stream, bytes)
        switch stream {
        case .stderr:
            trace.stderrTail += bytes
            let excess = trace.stderrTail.count - Limits.stderrTailBytes
            if excess > 0 { trace.stderrTail.removeFirst(excess) }
        case .stdout:
            trace.stdoutBytes += bytes.count
            guard trace.cut == nil else { return }
            if trace.stdoutBytes > start.outputBytesMax {
                cut(.limit)
            } else if start.keepsOutput {
                keep(bytes)
            }
        }
    }

    private func cut(_ cut: CommandTrace.Cut) {
        trace.cut = cut
        kept.drop()
        stop(.now)
    }

    private func keep(_ bytes: [UInt8]) {
        kept.append(bytes, written: written)
        guard kept.isBehind, !isHeldBack, let descriptor = openOutputs[.stdout] else { return }
        isHeldBack = true
        host.loop.unwatch(descriptor)
    }

    private var written: OutputKeeper.Written {
        // Only dereferenced on the loop's thread.
        nonisolated(unsafe) let command = self
        let loop = host.loop
        return { bytes, error in loop.submit { command.wrote(bytes, error) } }
    }

    /// What is not wanted when this comes is known to whoever reads what was kept.
    private func wrote(_ bytes: Int, _ error: (any Error)?) {
        kept.wrote(bytes)
        if let error, trace.cut == nil { cut(.disk(error)) }
        guard isHeldBack, !kept.isBehind, let descriptor = openOutputs[.stdout] else { return }
        isHeldBack = false
        watch(descriptor, .readable) { $0.read(.stdout) }
    }

    private func writeInput() {
        guard let stdin else { return }
        for _ in 0..<Self.writesInARow where !input.isEmpty {
            let count = input.prefix(Self.writeBytes).withUnsafeBytes { Glibc.write(stdin, $0.baseAddress, $0.count) }
            if count > 0 {
                input = input.dropFirst(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                return closeInput()  // EPIPE: the command does not read (any more), which is its own business
            }
        }
        if input.isEmpty { closeInput() }
    }

    private func closeInput() {
        guard let descriptor = stdin else { return }
        host.loop.unwatch(descriptor)
        close(descriptor)
        stdin = nil
        input = Data()
    }

    private func closeOutput(_ stream: UnitContext.Stream) {
        guard let descriptor = openOutputs.removeValue(forKey: stream) else { return }
        host.loop.unwatch(descriptor)
        close(descriptor)
    }
}
