import ArgumentParser
import Foundation
import Shapes
import Worker

/// The program: an executor if a supervisor started it as one, else the command line.
@main
enum Program {
    @MainActor
    static func main() async {
        FileTracer.bootstrap(arguments: CommandLine.arguments)
        // Executors and supervisors have the process's first thread for themselves.
        WorkerRuntime.runExecutorIfAsked(operations: [])
        do {
            var command = try AOP.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            await reportUsage(error)
            AOP.exit(withError: error)
        }
    }

    /// For a program that reads JSON a usage error is JSON, too.
    private static func reportUsage(_ error: any Error) async {
        guard AOP.exitCode(for: error) == .validationFailure, asksForJSON else { return }
        let console = Console(output: .json)
        await console.report(ToolError(.usage, "usage", AOP.fullMessage(for: error)))
        exit(ExitStatus.usage.rawValue)
    }

    private static var asksForJSON: Bool {
        let arguments = CommandLine.arguments
        return zip(arguments, arguments.dropFirst()).contains { ["-o", "--output"].contains($0) && $1.hasPrefix("json") }
            || arguments.contains { $0.hasPrefix("--output=json") || $0.hasPrefix("-ojson") }
    }
}
