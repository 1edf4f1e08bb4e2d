import ArgumentParser
import Wire

/// To what a key is limited beside its roles.
struct KeyLimitOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "An operation, group or condition that it may submit, or run as a worker; may be repeated. Any by default.", valueName: "name"))
    var operation: [String] = []
    @Option(help: ArgumentHelp("A label that it may have as a worker; may be repeated. Any by default.", valueName: "label"))
    var label: [String] = []

    func validate() throws {
        for text in operation + label where !Principal.isListed(text) {
            throw ValidationError("`\(text)` cannot be listed: it is empty, or has a space or a comma")
        }
    }
}
