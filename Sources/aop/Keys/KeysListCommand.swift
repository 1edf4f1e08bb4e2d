import ArgumentParser
import Shapes
import Wire

struct KeysListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Who may do what, join tokens that were not used, and the coordinator's public key.",
        discussion: "Example:\n  aop keys list")

    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let (server, keys) = try withKeys {
            let coordinator = try CoordinatorKeys(directory: directory.path)
            return (coordinator.pair.publicKey, try coordinator.authorized())
        }
        let open = keys.enrolments.filter { $0.isOpen(at: WallClock.milliseconds()) }
        if console.isJSON {
            try await console.writeValue(
                .shape([
                    ("serverKey", .string(server.text)), ("authorized", .array(keys.principals.map(\.json))),
                    ("tokens", .array(open.map(\.json))),
                ]))
        } else {
            var table = Table(["NAME", "ROLES", "PUBLIC KEY", "LIMITS"])
            for principal in keys.principals {
                table.add([
                    principal.name, principal.roleNames.joined(separator: ", "), principal.key.text,
                    Self.limits(principal.operations, principal.labels),
                ])
            }
            try await console.write(table.text)
            if !open.isEmpty {
                var table = Table(["JOIN TOKEN FOR", "ROLES", "PUBLIC KEY", "UNTIL", "LIMITS"])
                for enrolment in open {
                    table.add([
                        enrolment.name, enrolment.roleNames.joined(separator: ", "), enrolment.token.text, enrolment.untilText,
                        Self.limits(enrolment.operations, enrolment.labels),
                    ])
                }
                try await console.write("\n" + table.text)
            }
            console.hint("the coordinator's public key (server-key): \(server)")
        }
        return .success
    }

    private static func limits(_ operations: [String], _ labels: [String]) -> String {
        var limits: [String] = []
        if !operations.isEmpty { limits.append("operations \(operations.joined(separator: ", "))") }
        if !labels.isEmpty { limits.append("labels \(labels.joined(separator: ", "))") }
        return limits.joined(separator: "; ")
    }
}
