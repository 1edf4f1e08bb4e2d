import ArgumentParser
import Wire

/// Runs graphs of operations on a cluster of worker processes.
struct AOP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aop",
        abstract: "Runs graphs of operations on a cluster of worker processes, durably.",
        discussion: """
            Try it on this machine, with nothing to set up:
              aop run examples/word-count.yaml

            Or as a cluster, in separate terminals:
              aop coordinator
              aop worker
              aop submit examples/word-count.yaml --watch

            Ids may be shortened to any unique prefix; `last` is the newest submission.
            Exit codes: 0 succeeded · 1 error of the tool · 2 work failed · 3 timed out · 4 cancelled · 5 not found ·
            6 refused by check · 64 usage · 69 no coordinator · 75 busy · 77 not permitted · 124 --timeout · 130 interrupted
            """,
        version: "aop \(ProductVersion.current)",
        subcommands: [
            RunCommand.self, DevCommand.self, CoordinatorCommand.self, WorkerSubcommand.self, ExecutorSubcommand.self,
            SubmitCommand.self, CheckCommand.self, ListCommand.self, ShowCommand.self, ExplainCommand.self, WatchCommand.self,
            WaitCommand.self, ResultCommand.self, LogsCommand.self, GraphCommand.self, TimelineCommand.self, EventsCommand.self,
            CancelCommand.self, RetryCommand.self, PauseCommand.self, ResumeCommand.self, WorkersCommand.self, LocksCommand.self,
            JournalCommand.self, KeysCommand.self, ConfigCommand.self, DoctorCommand.self, BenchCommand.self,
        ])
}
