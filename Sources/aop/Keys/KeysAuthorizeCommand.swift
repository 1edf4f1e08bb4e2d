import ArgumentParser
import Wire

struct KeysAuthorizeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "authorize",
        abstract: "Let a key in, and say what it may do; or change that.",
        discussion: """
            Roles: submit (and watch and steer what it has submitted itself), work (be a worker), observe (read everything), admin
            (everything). A running coordinator sees the change within a second.

            Examples:
              aop keys authorize ci --role submit --role observe
              aop keys authorize host2 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7' --role work --label zone=b
            """)

    @Argument(help: "What its owner is called; what is submitted belongs to this name.")
    var name: String
    @Argument(help: ArgumentHelp("The public key; by default that of NAME.key, or what is authorised under the name.", valueName: "key"))
    var publicKey: String?
    @Option(help: "submit, work, observe or admin; may be repeated.")
    var role: [KeyRole] = []
    @Option(
        help: ArgumentHelp(
            "An operation, group or condition that it may submit, or run as a worker; may be repeated. Any by default.", valueName: "name"))
    var operation: [String] = []
    @Option(help: ArgumentHelp("A label that it may have as a worker; may be repeated. Any by default.", valueName: "label"))
    var label: [String] = []
    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard Principal.isName(name) else { throw ValidationError("\(KeyError.name(name))") }
        guard !role.isEmpty else { throw ValidationError("say what it may do: --role submit, --role work, --role observe or --role admin") }
        if let publicKey, PublicKey(publicKey) == nil {
            throw ValidationError("`\(publicKey)` is no public key of \(PublicKey.characters) characters; put it between single quotes")
        }
        for text in operation + label where !Principal.isListed(text) {
            throw ValidationError("`\(text)` cannot be listed: it is empty, or has a space or a comma")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let changed = try withKeys {
            try AuthorizedKeys.change(at: directory.authorizedPath) { keys throws(KeyError) in
                let changed = try named(in: keys).map {
                    Principal(name: name, key: $0, roles: Set(role), operations: operation, labels: label)
                }
                for principal in changed { try keys.authorize(principal) }
                return changed
            }
        }
        if console.isJSON {
            try await console.writeValue(.shape([("authorized", .array(changed.map(\.json)))]))
        } else if console.mode == .text {
            for principal in changed {
                try await console.write("\(name) (\(principal.roleNames.joined(separator: ", "))) \(principal.key)\n")
            }
        }
        return .success
    }

    private func named(in keys: AuthorizedKeys) throws(KeyError) -> [PublicKey] {
        if let key = publicKey.flatMap({ PublicKey($0) }) { return [key] }
        let known = keys.principals.filter { $0.name == name }.map(\.key)
        return known.isEmpty ? [try KeyFile(contentsOf: directory.file("\(name).key")).pair.publicKey] : known
    }
}
