import ArgumentParser
import Cluster
import Shapes
import Wire

struct CancelCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a submission, or an operation or group of it.",
        discussion: """
            Returns when the request is on the coordinator's disk. Commands get SIGTERM, and after their grace SIGKILL.

            Examples:
              aop cancel last
              aop cancel 7fk2/count/3 --reason "wrong input"
              aop cancel 7fk2 --wait --now
            """)

    @Argument(help: "ID, or ID/PATH of an operation or group.")
    var reference: OperationReference
    @Option(help: "Why; kept with the submission.")
    var reason: String = ""
    @Flag(help: "Wait until nothing of it runs any more; exit code 4 when it ended as cancelled.")
    var wait = false
    @Flag(help: "End commands at once, without their grace.")
    var now = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            let accepted = try await connection.cancel(reference.submission, path: reference.path, reason: reason, now: now)
            let name = reference.path.isEmpty ? accepted.id : "\(accepted.id)/\(reference.path)"
            guard wait else {
                let state = accepted.alreadyEnded ? "it had already ended" : "cancellation requested"
                try await say(console, id: accepted.id, alreadyEnded: accepted.alreadyEnded, state: nil, text: "\(name): \(state)")
                return .success
            }
            let state = try await waitForEnd(of: accepted.id, console, connection)
            let remark = accepted.alreadyEnded ? "; it had already ended" : ""
            try await say(
                console, id: accepted.id, alreadyEnded: accepted.alreadyEnded, state: state.word, text: "\(name): \(state.word)\(remark)")
            return state == .cancelled ? .cancelled : .success
        }
    }

    /// What stops at once has stopped; longer than that is something to explain.
    private static let patience = Duration.seconds(3)
    /// Operations that are named then.
    private static let namedMax = 3

    /// Waits for the end, and says for whom when that takes a while.
    private func waitForEnd(of id: String, _ console: Console, _ connection: ClusterConnection) async throws -> WireOperationState {
        try await withThrowingTaskGroup(of: WireOperationState?.self) { tasks in
            tasks.addTask { try await end(of: id, connection) }
            tasks.addTask {
                try await Task.sleep(for: Self.patience)
                try await sayWhoStillRuns(in: id, console, connection)
                return nil
            }
            defer { tasks.cancelAll() }
            while let state = try await tasks.next() { if let state { return state } }
            throw CancellationError()
        }
    }

    private func sayWhoStillRuns(in id: String, _ console: Console, _ connection: ClusterConnection) async throws {
        var running: [WireOperationView] = []
        for try await page in connection.operations(of: id, path: reference.path) {
            running += page.filter { $0.kind == .operation && !$0.state.isFinal && !$0.worker.isEmpty }
        }
        for view in running.prefix(Self.namedMax) {
            console.hint("\(id)/\(view.path) has not stopped yet on \(view.worker); `aop explain \(id)/\(view.path)` says what is known")
        }
        if running.count > Self.namedMax { console.hint("and \(running.count - Self.namedMax) others") }
    }

    /// Waits for the end of the submission, or of the operation in it, and gives its final state.
    private func end(of id: String, _ connection: ClusterConnection) async throws -> WireOperationState {
        if reference.path.isEmpty {
            let view = try await connection.outcome(of: id)
            return view.state == .cancelled ? .cancelled : view.state == .failed ? .failed : .succeeded
        }
        // Also of groups.
        for try await event in connection.followDetails(of: id) {
            switch event {
            case .view:
                if let state = try await currentState(id, connection), state.isFinal { return state }
            case .events(let events, let view):
                let ends = events.last { $0.path == reference.path && $0.state.isFinal }
                if let ends { return ends.state }
                if view.state.isFinal, let state = try await currentState(id, connection) { return state }
            case .interrupted: break
            }
        }
        throw CancellationError()
    }

    private func currentState(_ id: String, _ connection: ClusterConnection) async throws -> WireOperationState? {
        for try await page in connection.operations(of: id, path: reference.path) { return page.first?.state }
        return nil
    }

    private func say(_ console: Console, id: String, alreadyEnded: Bool, state: String?, text: String) async throws {
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(
                .shape([
                    ("id", .string(id)), ("path", .optional(reference.path)), ("alreadyEnded", .bool(alreadyEnded)),
                    ("state", state.map(JSONValue.string) ?? .null),
                ]))
        case .text: try await console.write("\(text)\n")
        case .quiet: break
        }
    }
}
