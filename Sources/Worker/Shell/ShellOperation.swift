import AOperation
import Foundation
import Synchronization
import Wire

/// Runs a command: a shell line or a program. Registered as `shell`.
///
/// It receives anything: the value's bytes are the command's standard input. What fails it carries ``OperationFault``.
///
/// `@unchecked Sendable`: `context` and `receivedValue` are set before the operation is added to a queue and only read
/// afterwards.
final class ShellOperation: ResultableOperation<EncodedValue>, ReceiverOperation, HostedOperation, KillableOperation,
    @unchecked Sendable
{
    static let operationName = "shell"

    let parameters: ShellParameters
    var receivedValue: Result<EncodedValue, AOperationError>?
    private var context: UnitContext?
    private let control = CommandControl()

    init(_ parameters: ShellParameters) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) { self.context = context }

    override func execute() {
        guard let context else {
            return finish(with: .failure(AOperationError(OperationFault(.operation, "shell runs only on a worker"))))
        }
        Task {
            do {
                finish(with: .success(try await run(in: context)))
            } catch {
                finish(with: .failure(AOperationError(error)))
            }
        }
    }

    override func cancel() {
        super.cancel()
        control.stop(.gently)
    }

    func kill() { control.stop(.now) }

    private func run(in context: UnitContext) async throws -> EncodedValue {
        let program = try parameters.program()
        try parameters.checkWorkingDirectory()
        let form = parameters.output ?? .text
        let limit = OutputLimit(parameters.maxOutput, of: form)
        let environment = try context.host.environment.make(for: parameters, context: context)
        let room = context.host.commands.room
        guard await room.enter(control) else { throw AOperationError.isCancelled(self) }
        defer { room.leave() }
        let directory = try AttemptDirectory(parameters.workingDirectory, settings: context.host)
        guard !control.isStopped else {
            await directory.remove(logger: context.host.commands.logger)
            throw AOperationError.isCancelled(self)
        }
        let command = CommandRun(
            program: program, environment: environment, workingDirectory: directory.path, input: try input(context),
            outputBytesMax: limit.bytes, keepsOutput: form != .none, context: context, control: control)
        let result: Result<(CommandEnding, CommandTrace), any Error>
        do { result = .success(try await command.run()) } catch { result = .failure(error) }
        await directory.remove(logger: context.host.commands.logger)
        let (ending, trace) = try result.get()
        switch trace.cut {
        case .limit?: throw limit.fault(found: trace.stdoutBytes)
        case .disk(let error)?: throw CommandOutput.fault(for: error, host: context.host.hostName)
        case .unwatched(let error)?:
            throw OperationFault(
                .spawn, "\(command.name) on \(context.host.hostName) was killed as it began, because it cannot be watched: \(error)")
        case nil: break
        }
        if let fault = ending.fault(host: context.host.hostName, stderr: trace.stderrTail, context.redaction) { throw fault }
        return try await CommandOutput.value(of: trace.stdout, as: form, on: context.host)
    }

    /// The received value as it is, else `stdin`, else nothing. A command that is to run although its producer failed
    /// gets `stdin`, or the error in JSON.
    private func input(_ context: UnitContext) throws -> Data {
        switch receivedValue {
        case .success(let value)?: value.bytes
        case .failure(let error)? where parameters.stdin == nil: try ReceivedError(error, host: context.host.hostName).json
        case .failure?, nil: Data((parameters.stdin ?? "").utf8)
        }
    }
}
