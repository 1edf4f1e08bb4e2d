import Settings
import Worker

/// Whether files and variables say what commands can use.
enum ConfigurationCheck {
    static func findings(_ settings: Settings, _ misspelt: [MisspeltVariable]) -> [Finding] {
        let problems = settings.problems + WorkerOptions.problemsOfThisHost(settings)
        var findings = problems.map { Finding(.configuration, .error, $0.text, remedy: $0.remedy) }
        if !settings.problems.isEmpty {
            findings.append(Finding(.configuration, .warning, "what follows is checked with defaults, as the configuration cannot be used"))
        } else if problems.isEmpty {
            findings.append(Finding(.configuration, .ok, text(settings)))
        }
        return findings + misspelt.map { Finding(.configuration, .warning, message: "\($0)") }
    }

    private static func text(_ settings: Settings) -> String {
        let files = settings.files.filter(\.isThere).map(\.path)
        if !files.isEmpty { return files.joined(separator: ", ") }
        return "no configuration file (\(settings.files.map(\.path).joined(separator: ", "))): defaults and AOP_ variables hold"
    }
}
