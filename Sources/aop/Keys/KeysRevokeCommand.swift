import ArgumentParser
import Shapes
import Wire

struct KeysRevokeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Let a key in no more, and end its connections; take a join token back.",
        discussion: """
            A running coordinator does so within a second. What was submitted with it goes on; `aop cancel` ends that. A name stands for
            its join tokens, too.

            Examples:
              aop keys revoke ci
              aop keys revoke 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7'
            """)

    @Argument(help: "A name, for all of its keys and join tokens, or one public key.")
    var name: String
    @OptionGroup var directory: KeyDirectoryOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        let (keys, tokens) = try withKeys {
            try AuthorizedKeys.change(at: directory.authorizedPath) { keys throws(KeyError) in
                let (removed, withdrawn) = (keys.revoke(name), keys.withdraw(name))
                if removed.isEmpty, withdrawn.isEmpty {
                    let used = keys.enrolments.first { $0.token.text == name }
                    if let used, let key = used.key { throw .usedToken(name: used.name, key: key, path: directory.authorizedPath) }
                    throw .unknownPrincipal(name, path: directory.authorizedPath)
                }
                return (removed, withdrawn)
            }
        }
        if console.isJSON {
            try await console.writeValue(.shape([("revoked", .array(keys.map(\.json))), ("tokens", .array(tokens.map(\.json)))]))
        } else if console.mode == .text {
            for principal in keys { try await console.write("revoked \(principal.name) \(principal.key)\n") }
            for enrolment in tokens { try await console.write("revoked the join token for \(enrolment.name) \(enrolment.token)\n") }
        }
        return .success
    }
}
