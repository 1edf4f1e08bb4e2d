import ArgumentParser
import CLinux
import Foundation
import Settings
import Shapes
import Wire
import Worker

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "What is configured: settings of files and of the environment.",
        discussion: """
            Example:
              aop config show
            """,
        subcommands: [ConfigShowCommand.self])
}

struct ConfigShowCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Every setting, its value, and where that comes from.",
        discussion: """
            A flag outranks its environment variable, which outranks the configuration file, which outranks the default.

            Examples:
              aop config show
              aop config show --config cluster.yaml -o json
            """)

    /// It tells all that is wrong, and not only what every command does.
    static let reportsSettings = true

    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) async throws -> ExitStatus {
        for variable in Settings.takeMisspeltVariables() { await console.warn("\(variable)") }
        let settings = Settings.current
        let problems = settings.problems + WorkerOptions.problemsOfThisHost(settings)
        guard problems.isEmpty else { throw ToolError(.usage, "usage", problems.text) }
        switch console.mode {
        case .json, .jsonl:
            try await console.writeValue(
                .shape([
                    (
                        "files",
                        .array(settings.files.map { .object([("path", .string($0.path)), ("isThere", .bool($0.isThere))]) })
                    ), ("settings", .array(Setting.allCases.map { Self.json($0, settings) })),
                ]))
        case .quiet, .text:
            var table = Table(["SETTING", "VALUE", "FROM"])
            for setting in Setting.allCases {
                for effective in EffectiveSetting.all(of: setting, settings) {
                    let name = effective.users.isEmpty ? setting.name : "\(setting.name) (\(effective.users))"
                    table.add([name, effective.value ?? "-", effective.reason])
                }
                guard EffectiveSetting.all(of: setting, settings).isEmpty else { continue }
                let value = Self.said(setting, settings)
                let text = (value?.texts ?? Self.standard(setting)).joined(separator: ", ")
                table.add([setting.name, text.isEmpty ? "-" : text, value.map { "\($0.origin)" } ?? "default"])
            }
            try await console.write(table.text)
            for file in settings.files { console.hint("\(file.path): \(file.isThere ? "read" : "not there")") }
        }
        return .success
    }

    /// A worker that is told nothing connects where clients do.
    private static func said(_ setting: Setting, _ settings: Settings) -> Settings.Value? {
        settings[setting] ?? (setting == .connect ? settings[.coordinator] : nil)
    }

    private static func json(_ setting: Setting, _ settings: Settings) -> JSONValue {
        let value = said(setting, settings)
        let effective = EffectiveSetting.all(of: setting, settings)
        let texts = effective.count == 1 ? effective.compactMap(\.value) : value?.texts ?? standard(setting)
        var members: [(String, JSONValue)] = [
            ("name", .string(setting.name)), ("variable", .string(setting.variable)), ("flag", .string(setting.flag)),
            ("value", setting.form.isList ? .array(texts.map { .string($0) }) : texts.first.map { .string($0) } ?? .null),
        ]
        switch value?.origin {
        case nil: members.append(("from", .string("default")))
        case .flag(let flag): members += [("from", .string("flag")), ("by", .string(flag))]
        case .environment(let variable): members += [("from", .string("environment")), ("by", .string(variable))]
        case .file(let path, let line, _):
            members += [("from", .string("file")), ("file", .string(path)), ("line", .integer(Int64(line)))]
        }
        if !effective.isEmpty {
            members.append(
                (
                    "effective",
                    .array(
                        effective.map {
                            .object([
                                ("for", .string($0.users)), ("value", $0.value.map { .string($0) } ?? .null),
                                ("because", .string($0.reason)),
                            ])
                        })
                ))
        }
        return .object(members)
    }

    /// What holds where nobody says anything; empty: nothing, or it depends (``EffectiveSetting``).
    private static func standard(_ setting: Setting) -> [String] {
        switch setting {
        case .logLevel, .keyFile, .labels, .resources, .shell, .passEnv, .secrets: []
        case .logFormat: [LogFormat.text.rawValue]
        case .color: [ColorMode.auto.rawValue]
        case .coordinator, .connect, .listen: [Endpoint.standard.description]
        case .connectTimeout: [ConnectionOptions.standardTimeout.defaultValueDescription]
        case .keys: [KeyDirectory.standard()]
        case .http: ["127.0.0.1:7601"]
        case .data: [DataOption.standard]
        case .partialResultBytes: ["\(CoordinatorCommand.Defaults.partialResultBytes)"]
        case .diskReserve: ["\(CoordinatorCommand.Defaults.diskReserve)"]
        case .snapshotBytes: ["\(CoordinatorCommand.Defaults.snapshotBytes)"]
        case .retain: [RetentionArgument.standard.defaultValueDescription]
        case .retainBytes: ["\(CoordinatorCommand.Defaults.retainBytes)"]
        case .history: [HistoryArgument.standard.defaultValueDescription]
        case .flightRecorder: ["\(CoordinatorCommand.Defaults.flightRecorder)"]
        case .processes: ["1"]
        case .slots: ["\(clinux_processor_count())"]
        case .grace: ["30s"]
        }
    }
}
