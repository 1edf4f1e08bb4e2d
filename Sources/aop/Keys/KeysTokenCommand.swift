import ArgumentParser
import Shapes
import Wire

struct KeysTokenCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a join token: with it one host gets a key of its own, once (`aop keys join`).",
        discussion: """
            Prints the token, one word that is safe in a shell. It is kept nowhere, and is a secret until it has been used or has expired: who
            has it first, joins. `aop keys list` shows those that are open, `aop keys revoke NAME` takes them back.

            Examples:
              aop keys token host2
              aop keys token host2 --label zone=b --valid 15m --endpoint tcp://COORDINATOR:7600
              aop keys token ci --role submit --role observe
            """)

    @Argument(help: "What the host's key is called; what is submitted with it belongs to this name.")
    var name: String
    @Option(help: "What the key may do: submit, work, observe or admin; may be repeated. (default: work)")
    var role: [KeyRole] = []
    @OptionGroup var limits: KeyLimitOptions
    @Option(help: "How long the token may be used: whole seconds, from 2s to 30d.")
    var valid = DurationArgument(milliseconds: 3_600_000)
    @Option(
        help: ArgumentHelp("Where hosts reach the coordinator, for the token: `join` needs no --connect then.", valueName: "url"),
        transform: Endpoint.argument)
    var endpoint: Endpoint?
    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard Principal.isName(name) else { throw ValidationError("\(KeyError.name(name))") }
        guard JoinToken.validMilliseconds.contains(valid.milliseconds) else {
            throw ValidationError("--valid \(valid.defaultValueDescription): a token is valid for 2s to 30d, such as 15m or 1h")
        }
        guard valid.milliseconds % 1000 == 0 else {
            throw ValidationError("--valid \(valid.defaultValueDescription): say it in whole seconds, such as 90s, 15m or 1h")
        }
        if let endpoint { try KeysJoinCommand.check(endpoint, of: "--endpoint") }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let (enrolment, token) = try withKeys { try make() }
        switch console.mode {
        case .json, .jsonl:
            guard case .object(let members) = enrolment.json else { preconditionFailure("an enrolment is an object") }
            try await console.writeValue(.shape([("token", .string(token.text))] + members))
        case .quiet: try await console.write("\(token.text)\n")
        case .text:
            try await console.write("\(token.text)\n")
            let connect = endpoint == nil ? " --connect tcp://\(HostName.current):7600" : ""
            console.hint(
                """
                valid once, until \(enrolment.untilText): \(name) (\(enrolment.roleNames.joined(separator: ", "))). Tell it nobody else.
                next, on that host: aop keys join -\(connect)   # and paste it
                """)
            if let endpoint, endpoint.isLoopback { console.hint("\(endpoint) is this host: no other one gets there") }
        }
        return .success
    }

    private func make() throws -> (Enrolment, JoinToken) {
        let server = try CoordinatorKeys(directory: directory.path).pair.publicKey
        let pair = try KeyPair()
        let now = WallClock.milliseconds()
        let enrolment = Enrolment(
            name: name, token: pair.publicKey, roles: role.isEmpty ? [.work] : Set(role), operations: limits.operation,
            labels: limits.label,
            until: now + valid.milliseconds)
        try AuthorizedKeys.change(at: directory.authorizedPath) { keys throws(KeyError) in keys.offer(enrolment, at: now) }
        return (enrolment, JoinToken(enrolment, pair: pair, serverKey: server, endpoint: endpoint))
    }
}
