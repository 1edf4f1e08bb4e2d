import ArgumentParser
import Cluster
import Shapes

struct RetryCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Submit the graph of a submission that has ended again; prints the new id.",
        discussion: """
            All of it runs again, as a new submission. With --failed what has succeeded, and came after nothing that has not, keeps
            its value and does not run; a forEach is kept as a whole, or runs again as a whole, as one always does whose elements have
            unique ids or operations that conditions depend on. With --force operations of it that are kept from workers, because
            their like has ended too many worker processes, are let go; so are others like them.

            Examples:
              aop retry last
              aop retry last --failed
              aop retry 7fk2 --force
            """)

    @Argument(help: "A submission's id, a unique prefix of it, or `last`.")
    var id: String
    @Flag(help: "Let operations go that are kept from workers (quarantine).")
    var force = false
    @Flag(help: "Run only what has not succeeded, and what comes after that.")
    var failed = false
    @Option(help: "Name the new submission for yourself: the same key is submitted once.")
    var key: String?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if key?.isEmpty == true { throw ValidationError("--key needs a text that is not empty") }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let retried = try await connection.retry(id, force: force, failedOnly: failed, key: key)
            // A key that was drawn is known before when the request had to be repeated.
            let isExisting = key != nil && retried.isExisting
            switch console.mode {
            case .json, .jsonl:
                try await console.writeValue(
                    .shape([
                        ("id", .string(retried.id)), ("lifted", .integer(Int64(retried.lifted))), ("existing", .bool(isExisting)),
                    ]))
            case .quiet: try await console.write("\(retried.id)\n")
            case .text:
                if isExisting { console.note("the key was used before: this is submission \(retried.id)\n") }
                try await console.write("\(retried.id)\n")
                if retried.lifted > 0 { console.note("let go: \(retried.lifted) kind\(retried.lifted == 1 ? "" : "s") of operations\n") }
                console.note("next:\n  aop watch \(retried.id)\n  aop show \(retried.id)\n")
            }
        }
        return .success
    }
}
