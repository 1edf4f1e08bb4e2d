import Settings

/// Whether files and variables say what commands can use.
enum ConfigurationCheck {
    static func findings(_ current: Result<Settings, SettingsError>, _ misspelt: [MisspeltVariable]) -> [Finding] {
        var findings: [Finding] = []
        switch current {
        case .failure(let error):
            findings += error.problems.map { Finding(.configuration, message: $0) }
            findings.append(Finding(.configuration, .warning, "what follows is checked with defaults, as the configuration cannot be used"))
        case .success(let settings):
            let problems = SettingCheck.problems(settings)
            findings += problems.map { Finding(.configuration, message: $0) }
            if problems.isEmpty { findings.append(Finding(.configuration, .ok, text(settings))) }
        }
        return findings + misspelt.map { Finding(.configuration, .warning, message: "\($0)") }
    }

    private static func text(_ settings: Settings) -> String {
        let files = settings.files.filter(\.isThere).map(\.path)
        if !files.isEmpty { return files.joined(separator: ", ") }
        return "no configuration file (\(settings.files.map(\.path).joined(separator: ", "))): defaults and AOP_ variables hold"
    }
}
