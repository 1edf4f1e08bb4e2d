import ArgumentParser
import Foundation
import Logging
import Settings
import Worker

/// What standard output carries.
enum OutputMode: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json, jsonl, quiet
}

enum ColorMode: String, ExpressibleByArgument, CaseIterable, Sendable {
    case auto, always, never
}

/// Flags that every command has.
struct OutputOptions: ParsableArguments, Sendable {
    @Option(name: [.short, .long], help: "text, json (one value), jsonl (a value per line) or quiet (the bare result).")
    var output: OutputMode = .text

    @Option(help: "Colours: auto, always or never. NO_COLOR turns `auto` off.")
    var color: ColorMode = Settings.text(.color).flatMap(ColorMode.init(rawValue:)) ?? .auto

    @Option(help: "Stop after this time, e.g. 90s or 1h30m, with exit code 124.")
    var timeout: DurationArgument?

    @Option(help: "Log messages from this level on: trace, debug, info, notice, warning, error, critical. AOP_LOG_LEVEL sets it, too.")
    var logLevel: Logger.Level?

    @Option(help: "Log messages as text, or as json: an object a line. AOP_LOG_FORMAT sets it, too.")
    var logFormat: LogFormat = Settings.text(.logFormat).flatMap(LogFormat.init(rawValue:)) ?? .text

    @Option(
        help: ArgumentHelp(
            "The configuration file; ~/.config/aop/config.yaml and /etc/aop/config.yaml by default. AOP_CONFIG sets it, too.",
            valueName: "file"), completion: .file(extensions: ["yaml"]))
    var config: String?

    func style(for output: FileOutput) -> Style {
        switch color {
        case .always: Style(isEnabled: true)
        case .never: Style(isEnabled: false)
        case .auto:
            Style(
                isEnabled: output.isTerminal && Environment["NO_COLOR"].isEmpty && Environment["TERM"] != "dumb")
        }
    }

    /// Log level by flag, then environment, then the command's default.
    func effectiveLogLevel(default level: Logger.Level) -> Logger.Level {
        logLevel ?? Settings.text(.logLevel).flatMap { Logger.Level(rawValue: $0.lowercased()) } ?? level
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The process's environment; a variable that is not set reads as empty.
enum Environment {
    static subscript(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }
}
