import ArgumentParser
import Cluster
import Shapes
import Wire

struct ShowCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "One submission: its state, and its operations.",
        discussion: """
            Examples:
              aop show last
              aop show 7fk2 --operations failed
            """)

    @Argument(help: "A submission's id, a unique prefix of it, or `last`.")
    var id: String
    @Option(help: "Which operations to list: none, failed or all.")
    var operations: ShownOperations = .all
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        try await connection.withConnection { connection in
            if console.isJSON {
                let result = try await connection.result(of: id)
                try await console.writeValue(.shape(result.members + result.showMembers(operations)), connection: connection)
                return
            }
            let view = try await connection.show(id)
            if console.mode == .quiet { return try await console.write("\(view.state.word)\n") }
            try await console.write(head(view, style: console.outStyle))
            guard operations != .none else { return }
            var listed: [WireOperationView] = []
            for try await page in connection.operations(of: view.id, failedOnly: operations == .failed) { listed += page }
            // Of the whole: the table has what is in it.
            if let root = listed.first(where: \.path.isEmpty), case let message = message(of: root), !message.isEmpty {
                try await console.write("message    \(DisplayWidth.cut(PlainText.of(message), to: 200))\n")
            }
            try await console.write(table(OperationTree(listed, isPartial: operations == .failed), style: console.outStyle))
        }
        return .success
    }

    private func head(_ view: WireSubmissionView, style: Style) -> String {
        let counts = view.counts
        var lines = [
            "id         \(view.id)", "name       \(view.name)", "state      \(style.state(view.state.word))",
            "submitted  \(TimeText.rfc3339(view.submittedAt))",
        ]
        if view.finishedAt != 0 { lines.append("finished   \(TimeText.rfc3339(view.finishedAt))") }
        if !view.principal.isEmpty { lines.append("of         \(PlainText.of(view.principal))") }
        if !view.cancelReason.isEmpty { lines.append("cancelled  \(PlainText.of(view.cancelReason))") }
        lines.append("time       \(TimeText.duration(milliseconds: view.durationMilliseconds))")
        lines.append(
            "operations \(counts.total): \(counts.succeeded) succeeded, \(counts.failed) failed, "
                + "\(counts.cancelled) cancelled, \(counts.running) running, \(counts.pending) pending")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Its error, or what it waits for.
    private func message(of view: WireOperationView) -> String {
        view.errors.first?.message ?? WaitText.reason(view)
    }

    /// When which conditions said what, and how operations were stopped; empty: neither.
    private func stages(of views: [WireOperationView]) -> String {
        var table = Table(["PATH", "AT", "STAGE"])
        var isEmpty = true
        for view in views {
            let conditions = view.conditions.map { (at: $0.at, text: $0.text) }
            let history = view.history.map { (at: $0.at, text: "\($0.event): \(PlainText.of($0.text))") }
            for stage in conditions + history {
                table.add([view.path, TimeText.rfc3339(stage.at), DisplayWidth.cut(stage.text, to: 200)])
                isEmpty = false
            }
        }
        return isEmpty ? "" : "\n" + table.text
    }

    private func table(_ tree: OperationTree, style: Style) -> String {
        let views = tree.depthFirst().map(\.view).filter { !$0.path.isEmpty }
        guard !views.isEmpty else { return "" }
        var table = Table(["PATH", "TYPE", "STATE", "ATTEMPTS", "TIME", "WORKER", "MESSAGE"])
        for view in views {
            let end = view.finishedAt == 0 ? WallClock.milliseconds() : view.finishedAt
            table.add([
                view.path, view.kind == .operation ? view.type : view.kind.word, view.state.word, "\(view.attempts)",
                view.startedAt == 0 ? "-" : TimeText.duration(milliseconds: end - view.startedAt),
                view.worker.isEmpty ? "-" : view.worker,
                DisplayWidth.cut(message(of: view), to: 200),
            ])
        }
        return "\n" + table.text + stages(of: views)
    }
}

extension ShownOperations: ExpressibleByArgument {}
