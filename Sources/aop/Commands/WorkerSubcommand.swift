import ArgumentParser
import Foundation
import Wire
import Worker

/// Blocks in the supervisor, on the process's first thread: not an asynchronous command.
struct WorkerSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "A worker host: a supervisor and its executor processes.",
        discussion: """
            Tries to reach its coordinator for ever. SIGTERM or Ctrl-C: finishes what runs, up to --grace, gives the rest
            back and ends; a second one stops at once.

            Examples:
              aop worker
              aop worker --processes 4 --slots 2 --label fast --label zone=a
              aop worker --resource gpus=2 --resource licence=3 --resource memory=16GiB
            """)

    @OptionGroup var options: WorkerOptions
    @Flag(help: ArgumentHelp("End when standard input does.", visibility: .hidden))
    var lifeline = false

    func run() throws {
        if lifeline { Lifeline.watch { kill(getpid(), SIGTERM) } }
        let code = try WorkerRuntime.runSupervisor(options, operations: [])
        if code != 0 { throw ExitCode(code) }
    }
}

/// What the supervisor starts this binary as. Started so, it never comes to parse its arguments (`Program.main`).
struct ExecutorSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "executor", abstract: "An executor process of a worker.", shouldDisplay: false)

    func run() throws { WorkerRuntime.runExecutor(operations: []) }
}
