import CLinux
import Foundation
import Subprocess
import Synchronization
import SystemPackage
import Wire

/// Starts one command and waits for its end.
struct CommandRun: Sendable {
    let program: ShellParameters.Program
    let environment: [String: String]
    let workingDirectory: String
    let input: Data
    let outputBytesMax: Int
    let keepsOutput: Bool
    let context: UnitContext
    let control: CommandControl

    /// - Throws: ``OperationFault`` with code `SPAWN` when the command could not be started.
    func run() async throws -> (CommandEnding, CommandTrace) {
        guard context.host.commands.spawns.isOpen else {
            throw OperationFault(.spawn, "cannot run \(name) on \(context.host.hostName): the worker is ending")
        }
        let pipes: CommandPipes
        do {
            pipes = try CommandPipes(input: input, nullDescriptor: context.host.commands.nullDescriptor)
        } catch {
            throw fault(for: error)
        }
        return try await withCheckedThrowingContinuation { continuation in
            let answer = Answer(continuation)
            Task {
                do { answer.give(.success(try await run(pipes, answer))) } catch { answer.give(.failure(error)) }
            }
        }
    }

    /// What becomes of a command, told once.
    private final class Answer: Sendable {
        typealias Result = Swift.Result<(CommandEnding, CommandTrace), any Error>

        private let continuation: Mutex<CheckedContinuation<(CommandEnding, CommandTrace), any Error>?>

        init(_ continuation: CheckedContinuation<(CommandEnding, CommandTrace), any Error>) { self.continuation = Mutex(continuation) }

        func give(_ result: sending Result) {
            let continuation = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            continuation?.resume(with: result)
        }
    }

    private func run(_ pipes: CommandPipes, _ answer: Answer) async throws -> (CommandEnding, CommandTrace) {
        let isWatched = Atomic(false)
        do {
            let result = try await Subprocess.run(
                executable, arguments: arguments, environment: .custom(rawEnvironment),
                workingDirectory: FilePath(workingDirectory), platformOptions: options,
                input: .fileDescriptor(FileDescriptor(rawValue: pipes.childInput), closeAfterSpawningProcess: pipes.closesChildInput),
                output: .fileDescriptor(FileDescriptor(rawValue: pipes.childOutput), closeAfterSpawningProcess: true),
                error: .fileDescriptor(FileDescriptor(rawValue: pipes.childError), closeAfterSpawningProcess: true)
            ) { execution in
                isWatched.store(true, ordering: .relaxed)
                let process = execution.processIdentifier
                let trace = await watch(process, pipes, answer)
                if process.processDescriptor < 0 {
                    // There was no descriptor left for what tells of its end, and who waits for that waits for ever. It has been killed.
                    var code: Int32 = 0
                    _ = clinux_reap(process.value, &code)
                    answer.give(.success((.signalled(SIGKILL), trace)))
                }
                return trace
            }
            return (CommandEnding(result.terminationStatus), result.closureResult)
        } catch let error as SubprocessError {
            if !isWatched.load(ordering: .relaxed) { pipes.closeOwnEnds() }
            throw fault(for: error)
        }
    }

    private func watch(_ process: ProcessIdentifier, _ pipes: CommandPipes, _ answer: Answer) async -> CommandTrace {
        let start = CommandStart(
            process: process.value, processDescriptor: process.processDescriptor, stdout: pipes.output,
            stderr: pipes.error, stdin: pipes.input, input: pipes.unwritten, outputBytesMax: outputBytesMax,
            keepsOutput: keepsOutput, outputDirectory: context.host.temporaryDirectory, graceMilliseconds: context.graceMilliseconds,
            markers: ["AOP_IDEMPOTENCY_KEY=\(context.idempotencyKey)", "AOP_ATTEMPT=\(context.attemptNumber)"], output: context.output,
            control: control)
        let commands = context.host.commands
        return await withCheckedContinuation { continuation in
            commands.loop.submit {
                commands.watch(start) { trace in
                    // Nothing of it is left but what is to be reaped: that is seen to while the slot goes on.
                    if let ending = CommandEnding(ofEnded: start.process) { answer.give(.success((ending, trace))) }
                    continuation.resume(returning: trace)
                }
            }
        }
    }

    private var executable: Executable {
        switch program {
        case .shell: .path("/bin/sh")
        case .executable(let name, _): name.contains("/") ? .path(FilePath(name)) : .name(name)
        }
    }

    private var arguments: Arguments {
        switch program {
        case .shell(let line): Arguments(executablePathOverride: "sh", remainingValues: ["-c", line])
        case .executable(let name, let arguments): Arguments(executablePathOverride: name, remainingValues: arguments)
        }
    }

    /// As the kernel takes it: "NAME=value", each closed by a zero.
    private var rawEnvironment: [[UInt8]] {
        environment.map { name, value in
            var entry: [UInt8] = []
            entry.reserveCapacity(name.utf8.count + value.utf8.count + 2)
            entry += name.utf8
            entry.append(UInt8(ascii: "="))
            entry += value.utf8
            entry.append(0)
            return entry
        }
    }

    /// A session of its own: the leader's number is that of session and process group.
    private var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        return options
    }

    var name: String {
        switch program {
        case .shell: "/bin/sh"
        case .executable(let name, _): name
        }
    }

    private func fault(for error: any Error) -> OperationFault {
        let place = "on \(context.host.hostName)"
        let code = (error as? SystemCallError)?.errno ?? ((error as? SubprocessError)?.underlyingError as? Errno)?.rawValue
        if code == EMFILE {
            return OperationFault(
                .spawn,
                "cannot run \(name) \(place): its executor may have \(OpenFileLimit.current) files open and has them; raise that (LimitNOFILE=, ulimit -n)"
            )
        }
        if code == EAGAIN || code == ENOMEM {
            return OperationFault(
                .spawn,
                """
                cannot run \(name) \(place): the host has no more processes or memory for it (\(error)); raise that (TasksMax=, ulimit -u), or give the \
                worker fewer slots
                """)
        }
        guard let error = error as? SubprocessError else { return OperationFault(.spawn, "cannot run \(name) \(place): \(error)") }
        switch error.code {
        case .executableNotFound:
            // What is there is said to be not found, too, when the system will not run it.
            if name.hasPrefix("/"), access(name, F_OK) == 0, access(name, X_OK) != 0 {
                return OperationFault(.spawn, "cannot run \(name) \(place): it is not executable; `chmod +x` it, or run what reads it")
            }
            let searched = name.contains("/") ? "" : " in PATH (\(environment["PATH"] ?? "not set"))"
            return OperationFault(.spawn, "cannot run \(name) \(place): no such executable\(searched)")
        case .failedToChangeWorkingDirectory:
            let reason = error.underlyingError.map { ": \($0)" } ?? ""
            return OperationFault(.spawn, "cannot run \(name) \(place): working directory \(workingDirectory)\(reason)")
        default:
            return OperationFault(.spawn, "cannot run \(name) \(place): \(error)")
        }
    }
}

extension CommandEnding {
    /// nil: it has not ended, or was reaped.
    fileprivate init?(ofEnded process: pid_t) {
        var code: Int32 = 0
        switch clinux_peek_ending(process, &code) {
        case 0: self = .exited(code)
        case 1: self = .signalled(code)
        default: return nil
        }
    }

    init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .exited(code)
        case .signaled(let signal): self = .signalled(signal)
        }
    }
}

/// The pipes between this process and one command, before the command exists.
struct CommandPipes: Sendable {
    let childInput: Int32
    let closesChildInput: Bool
    let childOutput: Int32
    let childError: Int32
    /// Our end of stdin; nil when all is in the pipe already.
    let input: Int32?
    let unwritten: Data.SubSequence
    let output: Int32
    let error: Int32

    init(input bytes: Data, nullDescriptor: Int32) throws {
        var out: [Int32] = [-1, -1]
        var err: [Int32] = [-1, -1]
        var feed: [Int32] = [-1, -1]
        func closeAll() { for descriptor in out + err + feed where descriptor >= 0 { close(descriptor) } }
        do {
            _ = try SystemCallError.check(clinux_output_pipe(&out), "pipe2")
            _ = try SystemCallError.check(clinux_output_pipe(&err), "pipe2")
            if !bytes.isEmpty { _ = try SystemCallError.check(clinux_input_pipe(&feed), "pipe2") }
        } catch {
            closeAll()
            throw error
        }
        (output, childOutput, error, childError) = (out[0], out[1], err[0], err[1])
        guard !bytes.isEmpty else {
            (childInput, closesChildInput, input, unwritten) = (nullDescriptor, false, nil, Data())
            return
        }
        (childInput, closesChildInput) = (feed[0], true)
        // What fits the pipe is written before the command exists: most inputs need no watching.
        let written = bytes.prefix(64 * 1024).withUnsafeBytes { max(0, Glibc.write(feed[1], $0.baseAddress, $0.count)) }
        if written == bytes.count {
            close(feed[1])
            (input, unwritten) = (nil, Data())
        } else {
            (input, unwritten) = (feed[1], bytes.dropFirst(written))
        }
    }

    /// For a command that was not started.
    func closeOwnEnds() {
        for descriptor in [output, error, input].compactMap(\.self) { close(descriptor) }
    }
}
