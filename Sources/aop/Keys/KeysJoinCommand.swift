import ArgumentParser
import Glibc
import Settings
import Shapes
import Wire

struct KeysJoinCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Make a key for this host, and have it authorised with a join token (`aop keys token`).",
        discussion: """
            The key is made here, and its secret never leaves this host. It goes to worker.key, where `aop worker` looks for it (to admin.key or
            submit.key where the token says so). One that may work and submit is one file, for both: commands that do not look for it under its name
            are told it with --key-file. What is there is never written over. A join that was interrupted is done again with the same
            command.

            Examples:
              aop keys join - --connect tcp://COORDINATOR:7600     # and paste the token: so it is in no list of processes
              aop keys join TOKEN
            """)

    @Argument(help: "The token; - reads it from standard input.")
    var token: String
    @Option(help: ArgumentHelp("The coordinator's address; by default that in the token.", valueName: "url"), transform: Endpoint.argument)
    var connect: Endpoint?
    @Option(help: "How long to try to reach the coordinator before exit code 69.")
    var connectTimeout: DurationArgument =
        Settings.text(.connectTimeout).flatMap(DurationArgument.init(argument:)) ?? ConnectionOptions.standardTimeout
    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    static func check(_ endpoint: Endpoint, of flag: String) throws(ValidationError) {
        guard endpoint.port != nil, !endpoint.isForListeners else {
            throw ValidationError("\(flag) \(endpoint) is nowhere where another host can connect with a key; write tcp://COORDINATOR:7600")
        }
    }

    func validate() throws {
        if let connect { try Self.check(connect, of: "--connect") }
        guard token != "-" else { return }
        do throws(JoinTokenError) { _ = try JoinToken(token) } catch { throw ValidationError("\(error)") }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let token = try await read(console)
        guard let endpoint = connect ?? token.endpoint else {
            throw ToolError(.usage, "usage", "the token does not say where the coordinator listens: --connect tcp://COORDINATOR:7600")
        }
        let directory = directory.path
        switch try withKeys({ try JoiningKey.prepare(token, directory: directory) }) {
        case .joined(let path, let key):
            try await tell(Joined(name: token.name, roles: Self.names(token), path: path, key: key, endpoint: endpoint), console)
        case .joining(let key):
            let limit = connectTimeout.milliseconds
            let answer = try await Self.enrolling {
                try EnrolmentLink.enrol(key.publicKey, with: token, at: endpoint, limitMilliseconds: limit, context: try ZMQContext())
            }
            try withKeys { try key.finish() }
            try await tell(Joined(name: answer.name, roles: answer.roles, path: key.path, key: key.publicKey, endpoint: endpoint), console)
        }
        return .success
    }

    private static func names(_ token: JoinToken) -> [String] { KeyRole.allCases.filter(token.roles.contains).map(\.rawValue) }

    private func read(_ console: Console) async throws -> JoinToken {
        var text = token
        if text == "-" {
            if isatty(STDIN_FILENO) == 1 { console.hint("paste the token, and press Enter:") }
            text = try await OwnThread.run { readLine() ?? "" }
        }
        do throws(JoinTokenError) { return try JoinToken(text) } catch { throw ToolError(.usage, "token", "\(error)") }
    }

    private static func enrolling<Answer: Sendable>(_ body: @escaping @Sendable () throws -> Answer) async throws -> Answer {
        do { return try await OwnThread.run(body) } catch let error as EnrolmentError {
            let (status, code): (ExitStatus, String) =
                switch error.cause {
                case .unreachable: (.unavailable, "unreachable")
                case .unavailable: (.busy, "busy")
                case .denied, .otherCoordinator, .withoutKeys: (.notPermitted, "notPermitted")
                case .refused(let refusal) where refusal.code == .notPermitted: (.notPermitted, "notPermitted")
                case .refused: (.toolError, "refused")
                case .socket: (.toolError, "key")
                }
            throw ToolError(status, code, "\(error)")
        } catch let error as ZMQError { throw ToolError(.toolError, "key", "\(error)") }
    }

    // MARK: What is said

    private struct Joined {
        let name: String
        let roles: [String]
        let path: String
        let key: PublicKey
        let endpoint: Endpoint
    }

    private func tell(_ joined: Joined, _ console: Console) async throws {
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(
                .shape([
                    ("name", .string(joined.name)), ("roles", .array(joined.roles.map { .string($0) })), ("path", .string(joined.path)),
                    ("publicKey", .string(joined.key.text)), ("coordinator", .string("\(joined.endpoint)")),
                ]))
        case .quiet: try await console.write("\(joined.path)\n")
        case .text:
            try await console.write(
                "\(joined.path)\njoined as \(joined.name) (\(joined.roles.joined(separator: ", "))), public key \(joined.key)\n")
            for line in next(joined) { console.hint("next: \(line)") }
        }
    }

    /// What the key may be used for, each with the flag that names it where it is not found under its name. Keys of the standard folder are found, on
    /// loopback only beside a coordinator's.
    private func next(_ joined: Joined) -> [String] {
        let isInPlace = directory.path == KeyDirectory.standard() && !joined.endpoint.isLoopback
        func key(_ names: [String]) -> String {
            let isFound = isInPlace && names.contains { joined.path.hasSuffix("/\($0)") }
            return isFound ? "" : " --key-file \(joined.path.shellWord)"
        }
        func has(_ roles: KeyRole...) -> Bool { roles.contains { joined.roles.contains($0.rawValue) } }
        var lines: [String] = []
        if has(.work) {
            lines.append(
                "aop worker --connect \(joined.endpoint)\(key(KeyDirectory.workerFiles))   # off loopback it runs commands only with --shell on"
            )
        }
        if has(.submit, .admin) {
            lines.append("aop submit FILE --wait --coordinator \(joined.endpoint)\(key(KeyDirectory.clientFiles))")
        } else if has(.observe) {
            lines.append("aop list --coordinator \(joined.endpoint)\(key(KeyDirectory.clientFiles))")
        }
        return lines
    }
}
