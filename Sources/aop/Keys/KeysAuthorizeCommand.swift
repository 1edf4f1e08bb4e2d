import ArgumentParser
import Shapes
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
    @OptionGroup var limits: KeyLimitOptions
    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard Principal.isName(name) else { throw ValidationError("\(KeyError.name(name))") }
        guard !role.isEmpty else { throw ValidationError("say what it may do: --role submit, --role work, --role observe or --role admin") }
        if let publicKey, PublicKey(publicKey) == nil {
            throw ValidationError("`\(publicKey)` is no public key of \(PublicKey.characters) characters; put it between single quotes")
        }
    }

    func execute(_ console: Console) async throws -> ExitStatus {
        let changed = try withKeys {
            let own = try directory.coordinatorKey()
            // A list that is made where no coordinator's key is would be read by nobody: the directory is another one.
            if own == nil, !directory.hasList { throw KeyError.noCoordinatorKey(directory: directory.path) }
            return try AuthorizedKeys.change(at: directory.authorizedPath) { keys throws(KeyError) in
                let changed = try named(in: keys).map {
                    Principal(name: name, key: $0, roles: Set(role), operations: limits.operation, labels: limits.label)
                }
                for principal in changed {
                    guard principal.key != own else { throw .ownKey(principal.key) }
                    try keys.authorize(principal)
                }
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
