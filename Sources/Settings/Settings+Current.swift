import Foundation
import Synchronization

extension Settings {
    /// Those of this process, read once.
    ///
    /// `--config` is looked for here, before flags are parsed: what flags have as defaults comes from it.
    public static let current = Settings(environment: ProcessInfo.processInfo.environment, named: named(CommandLine.arguments))

    /// The file that `--config` names.
    static func named(_ arguments: [String]) -> String? {
        let arguments = arguments.prefix { $0 != "--" }
        for (index, argument) in arguments.enumerated() {
            if argument == "--config" { return arguments.dropFirst(index + 1).first }
            if argument.hasPrefix("--config=") { return String(argument.dropFirst("--config=".count)) }
        }
        return nil
    }

    /// For a process of one's own that is to have the same settings.
    public static var arguments: [String] { named(CommandLine.arguments).map { ["--config", $0] } ?? [] }

    /// What is said of a setting; nil: nothing, or something that is said of any setting is wrong: then nothing counts, and the problems are told.
    public static func value(_ setting: Setting) -> Value? { current.problems.isEmpty ? current[setting] : nil }

    public static func text(_ setting: Setting) -> String? { value(setting)?.texts.first }

    public static func list(_ setting: Setting) -> [String] { value(setting)?.texts ?? [] }

    public static func number(_ setting: Setting) -> Int64? { text(setting).flatMap { Int64($0) } }

    /// Variables of this process that look like misspelt settings. Told once: the second one who asks gets none.
    public static func takeMisspeltVariables() -> [MisspeltVariable] {
        misspelt.withLock { misspelt in
            defer { misspelt = [] }
            return misspelt
        }
    }

    private static let misspelt = Mutex(MisspeltVariable.all(in: ProcessInfo.processInfo.environment))

    /// The process's environment, with what files say of keys in the place of variables.
    public static var keyEnvironment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for setting in [Setting.keyFile, .keys] { environment[setting.variable] = text(setting) }
        return environment
    }
}
