import ArgumentParser
import Settings

extension ParsableCommand {
    /// For flags that cannot be used: what is wrong with files and variables as well, where the error does not say it itself. Empty: nothing.
    ///
    /// The parser ends at the first flag that it cannot read, before anybody asks for settings.
    package static func settingsText(beside error: any Error) -> String {
        let problems = Settings.current.problems
        // A command that ends with a code has told why.
        guard !(error is ExitCode), exitCode(for: error) == .validationFailure, !problems.isEmpty else { return "" }
        let text = problems.text
        return message(for: error).contains(text) ? "" : text
    }
}
