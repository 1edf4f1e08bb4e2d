import ArgumentParser
import Foundation
import Settings
import Shapes
import Wire

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Keys for a cluster of several hosts: make them, and say who may do what.",
        discussion: """
            Run it on the coordinator's host, as the user who runs the coordinator; `join` on the host that joins.

            Examples:
              aop keys init
              aop keys token host2
              aop keys join -
              aop keys generate ci
              aop keys authorize ci --role submit --operation shell
              aop keys revoke ci
              aop keys list
            """,
        subcommands: [
            KeysInitCommand.self, KeysTokenCommand.self, KeysJoinCommand.self, KeysGenerateCommand.self, KeysAuthorizeCommand.self,
            KeysRevokeCommand.self, KeysListCommand.self,
        ])
}

/// Where the files are that `aop keys` works on.
struct KeyDirectoryOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Where the keys are: ~/.config/aop/keys, for root /etc/aop/keys, by default. AOP_KEYS sets it, too.", valueName: "directory"),
        completion: .directory)
    var dir: String?

    var path: String {
        if case .directory(let directory) = KeyChoice(file: nil, directory: dir, environment: ["AOP_KEYS": Settings.text(.keys) ?? ""]) {
            return directory
        }
        return KeyDirectory.standard()
    }

    func validate() throws {
        // A variable of a script that was not set: the keys would be in the working directory.
        guard dir != "" else { throw ValidationError("--dir is empty; name the directory of the keys, or leave --dir out") }
    }

    /// What makes a command that is copied work on the same directory; empty: it does so by itself.
    var flag: String { path == KeyDirectory.standard() ? "" : " --dir \(path.shellWord)" }

    /// Whether there is something that says who is let in.
    var hasList: Bool { access(authorizedPath, F_OK) == 0 }

    var authorizedPath: String { file(KeyDirectory.authorizedFile) }

    /// The coordinator's public key; nil: it is not here.
    func coordinatorKey() throws(KeyError) -> PublicKey? {
        do throws(KeyError) { return try CoordinatorKeys(directory: path).pair.publicKey } catch {
            guard case .noCoordinatorKey = error else { throw error }
            return nil
        }
    }

    func create() throws(KeyError) { try KeyDirectory.create(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

extension KeyRole: ExpressibleByArgument {}

extension ToolCommand {
    /// Errors of key files are those of the tool here: nobody was refused.
    func withKeys<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as KeyError {
            throw ToolError(.toolError, "key", "\(error)")
        } catch let error as ZMQError { throw ToolError(.toolError, "key", "\(error)") }
    }
}

extension Principal {
    var json: JSONValue {
        .object([
            ("name", .string(name)), ("publicKey", .string(key.text)), ("roles", .array(roleNames.map { .string($0) })),
            ("operations", .array(operations.map { .string($0) })), ("labels", .array(labels.map { .string($0) })),
        ])
    }
}

extension Enrolment {
    var json: JSONValue {
        .object([
            ("name", .string(name)), ("publicKey", .string(token.text)), ("roles", .array(roleNames.map { .string($0) })),
            ("operations", .array(operations.map { .string($0) })), ("labels", .array(labels.map { .string($0) })),
            ("until", .string(untilText)),
        ])
    }
}

struct KeysInitCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a cluster's keys: coordinator, worker, submit and admin.",
        discussion: """
            Writes coordinator.key, worker.key, submit.key, admin.key and authorized, all of the mode 0600. What is there is never
            written over. One that was interrupted is done again with the same command.

            Example:
              aop keys init
            """)

    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let server = try withKeys { try InitialKeys.make(in: directory.path) }
        let names = [KeyDirectory.coordinatorFile, KeyDirectory.authorizedFile] + InitialKeys.roles.map { "\($0.name).key" }
        if console.isJSON {
            try await console.writeValue(
                .shape([
                    ("directory", .string(directory.path)), ("files", .array(names.map { .string($0) })),
                    ("serverKey", .string(server.text)),
                ]))
        } else if console.mode == .quiet {
            try await console.write(names.map { "\(directory.file($0))\n" }.joined())
        } else {
            try await console.write(text)
        }
        return .success
    }

    private var text: String {
        let isStandard = directory.path == KeyDirectory.standard()
        let flag = isStandard ? "" : " --keys \(directory.path.shellWord)"
        let host = HostName.current
        return """
            keys in \(directory.path), each file of the mode 0600:
              coordinator.key  stays here; a coordinator that finds it lets nobody in without a key
              authorized       stays here: who may do what (`aop keys list\(directory.flag)`)
              worker.key       for hosts that work      copy it, and only it, to ~/.config/aop/keys/ there (of root: /etc/aop/keys/)
              submit.key       for those who submit     likewise
              admin.key        for those who may do everything

            next:
              aop coordinator\(flag) --listen tcp://0.0.0.0:7600
              scp -p \(directory.file("worker.key").shellWord) WORKER:.config/aop/keys/      # the directory has to be there; or: aop keys token WORKER\(directory.flag)
              aop worker --connect tcp://\(host):7600 --shell on                   # on WORKER
              scp -p \(directory.file("submit.key").shellWord) HOST:.config/aop/keys/
              aop submit FILE --wait --coordinator tcp://\(host):7600              # on HOST

            """
    }
}

struct KeysGenerateCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make one more key; it may do nothing before it is authorised.",
        discussion: """
            Run it where the key is to be used, with --server-key, and no secret ever travels; or on the coordinator's host.

            Examples:
              aop keys generate ci
              aop keys generate host2 --server-key 'Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID'
            """)

    @Argument(help: "What its owner is called.")
    var name: String
    @Option(help: ArgumentHelp("The coordinator's public key; by default that of coordinator.key in the directory.", valueName: "key"))
    var serverKey: String?
    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let serverKey, PublicKey(serverKey) == nil {
            throw ValidationError(
                "--server-key \(serverKey): a public key has \(PublicKey.characters) characters; put it between single quotes")
        }
        guard Principal.isName(name) else { throw ValidationError("\(KeyError.name(name))") }
        guard "\(name).key" != KeyDirectory.coordinatorFile else {
            throw ValidationError("the coordinator's key is made by `aop keys init`")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let path = directory.file("\(name).key")
        let pair = try withKeys {
            let server = try serverKey.flatMap { PublicKey($0) } ?? CoordinatorKeys(directory: directory.path).pair.publicKey
            try directory.create()
            let pair = try KeyPair()
            try KeyFile(name: name, pair: pair, serverKey: server).write(to: path)
            return pair
        }
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(
                .shape([("name", .string(name)), ("path", .string(path)), ("publicKey", .string(pair.publicKey.text))]))
        case .quiet: try await console.write("\(pair.publicKey)\n")
        case .text:
            try await console.write("\(path)\npublic key \(pair.publicKey)\n")
            // With --server-key it is made elsewhere than where it is authorised.
            let flag = serverKey == nil ? directory.flag : ""
            console.hint("next, on the coordinator's host: aop keys authorize \(name) '\(pair.publicKey)' --role submit\(flag)")
        }
        return .success
    }
}
