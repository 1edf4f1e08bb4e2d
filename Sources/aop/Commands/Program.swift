import ArgumentParser
import Foundation
import Shapes
import Worker

/// The program: an executor if a supervisor started it as one, else the command line.
@main
enum Program {
    @MainActor
    static func main() async {
        SpanTracer.bootstrap(arguments: CommandLine.arguments)
        // Executors and supervisors have the process's first thread for themselves.
        WorkerRuntime.runExecutorIfAsked(operations: [], shutdown: SpanTracer.end)
        do {
            var command = try AOP.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            SpanTracer.end()
        } catch {
            SpanTracer.end()
            await reportUsage(error)
            AOP.exit(withError: error)
        }
    }

    /// What is wrong with settings is told together with flags that cannot be used. For a program that reads JSON a usage error is JSON, too.
    private static func reportUsage(_ error: any Error) async {
        // A command that ends with a code has told why.
        let code = AOP.exitCode(for: error)
        let isUsage = code == .validationFailure
        guard !(error is ExitCode), isUsage || code != .success && ServiceNotice.format == .json else { return }
        let settings = AOP.settingsText(beside: error)
        guard asksForJSON || ServiceNotice.format == .json else {
            if !settings.isEmpty { FileHandle.standardError.write(Data("Error: \(settings)\n".utf8)) }
            return
        }
        let console = Console(output: asksForJSON ? .json : .text, logFormat: ServiceNotice.format)
        let message = AOP.fullMessage(for: error)
        let status: ExitStatus = isUsage ? .usage : .toolError
        await console.report(ToolError(status, isUsage ? "usage" : "internal", settings.isEmpty ? message : "\(settings)\n\(message)"))
        exit(status.rawValue)
    }

    private static var asksForJSON: Bool {
        let arguments = CommandLine.arguments
        return zip(arguments, arguments.dropFirst()).contains { ["-o", "--output"].contains($0) && $1.hasPrefix("json") }
            || arguments.contains { $0.hasPrefix("--output=json") || $0.hasPrefix("-ojson") }
    }
}
