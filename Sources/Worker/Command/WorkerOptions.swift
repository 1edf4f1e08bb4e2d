import ArgumentParser
import CLinux
import Executing
import Foundation
import Logging
import Settings
import Wire

/// The flags of `aop worker`, for every binary that is a worker.
///
/// Each has an environment variable and a setting of configuration files that it overrides (`Setting`).
public struct WorkerOptions: ParsableArguments, Sendable {
    /// Whether commands may be run.
    public enum Shell: String, ExpressibleByArgument, CaseIterable, Sendable {
        case on, off
    }

    @Option(name: .long, help: ArgumentHelp("The coordinator's address.", valueName: "url"))
    public var connect = Settings.text(.connect) ?? Settings.text(.coordinator) ?? Endpoint.standard.description

    @Option(name: .long, help: ArgumentHelp("Executor processes.", valueName: "n"))
    public var processes = Settings.number(.processes).map { Int($0) } ?? 1

    @Option(name: .long, help: ArgumentHelp("Operations at once, per process; as many as processors by default.", valueName: "n"))
    public var slots = Settings.number(.slots).map { Int($0) } ?? Int(clinux_processor_count())

    @Option(name: .long, help: ArgumentHelp("A label of this host, e.g. fast or zone=a; may be repeated.", valueName: "label"))
    public var label: [String] = Settings.list(.labels)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What this host has, e.g. gpus=2, licence=3 or memory=16GiB; may be repeated. cpus and memory are what there is by default.",
            valueName: "name=amount"))
    public var resource: [String] = Settings.list(.resources)

    @Option(name: .long, help: "Whether commands may be run: on by default over loopback or ipc, off otherwise.")
    public var shell: Shell?

    @Option(
        name: .customLong("pass-env"),
        help: ArgumentHelp("An environment variable that commands get; may be repeated.", valueName: "name"))
    public var passedNames: [String] = Settings.list(.passEnv)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where the secrets are that graphs name: a file of the mode 0600 for each.", valueName: "directory"))
    public var secrets: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The key of this host, for a coordinator that asks for one; worker.key of --keys or of the standard folder by default. AOP_KEY sets it, too.",
            valueName: "file"))
    public var keyFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where keys are: ~/.config/aop/keys, for root /etc/aop/keys, by default. AOP_KEYS sets it, too.", valueName: "directory"))
    public var keys: String?

    @Option(
        name: .long,
        help: ArgumentHelp("What running operations get when the worker is told to end, e.g. 30s.", valueName: "duration"))
    public var grace = Settings.text(.grace) ?? "30s"

    package static let defaultLogLevel = Logger.Level.notice

    @Option(
        name: .long,
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical; notice by default.", valueName: "level"))
    public var logLevel: String?

    @Option(name: .long, help: "Log lines as text, or as json: an object a line. AOP_LOG_FORMAT sets it, too.")
    public var logFormat = Settings.text(.logFormat).flatMap(LogFormat.init(rawValue:)) ?? .text

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration file; ~/.config/aop/config.yaml and /etc/aop/config.yaml by default. AOP_CONFIG sets it, too.",
            valueName: "file"))
    public var config: String?

    @Flag(name: .customLong("pass-everything"), help: ArgumentHelp("Commands get this process's environment.", visibility: .hidden))
    public var passesEverything = false

    @Option(name: .long, help: ArgumentHelp("Where commands run that name no directory.", visibility: .hidden))
    public var workingDirectory: String?

    @Option(name: .long, help: ArgumentHelp("Where the cookie is.", visibility: .hidden))
    public var cookieDirectory: String?

    public init() {}

    public mutating func validate() throws {
        // A worker of `aop run` has that one's environment, and that one has told it.
        if !passesEverything {
            for variable in Settings.takeMisspeltVariables() {
                ServiceNotice.write(.warning, "\(variable)", logger: "aop.worker", text: "warning: \(variable)")
            }
        }
        let problems = problems()
        guard problems.isEmpty else { throw ValidationError(problems.text) }
        shell = shell ?? Settings.text(.shell).flatMap { Shell(rawValue: $0) }
        secrets = secrets ?? Settings.text(.secrets)
        logLevel = logLevel ?? Settings.text(.logLevel)
    }

    /// Everything that is wrong with files, variables and flags.
    ///
    /// What files and variables say is the default of flags, but only where all of it is sound (``Settings/value(_:)``): a value here that is
    /// wrong is a flag's.
    private func problems() -> [SettingProblem] {
        let flags: [(Setting, [String])] = [
            (.logLevel, logLevel.map { [$0] } ?? []), (.connect, [connect]), (.processes, ["\(processes)"]), (.slots, ["\(slots)"]),
            (.labels, label), (.resources, resource), (.passEnv, passedNames), (.grace, [grace]),
        ]
        let problems = Settings.current.problems + flags.flatMap { setting, texts in setting.problems(ofFlag: texts) }
        guard let secrets else { return problems + Self.problemsOfThisHost(Settings.current) }
        return problems + Self.problems(ofSecrets: secrets)
    }

    /// What is wrong with settings on this host, and not with their text: a directory of secrets that is missing. Others than workers may not
    /// be able to see it.
    public static func problemsOfThisHost(_ settings: Settings) -> [SettingProblem] {
        guard let said = settings[.secrets], Setting.secrets.problems(said).isEmpty else { return [] }
        return missingSecrets(said)
    }

    /// What is wrong with a value of `--secrets`.
    public static func problems(ofSecrets path: String) -> [SettingProblem] {
        let problems = Setting.secrets.problems(ofFlag: [path])
        return problems.isEmpty ? missingSecrets(Settings.Value(texts: [path], origin: .flag(Setting.secrets.flag))) : problems
    }

    private static func missingSecrets(_ said: Settings.Value) -> [SettingProblem] {
        said.texts.compactMap { path in
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
                return SettingProblem(
                    said.origin, .secrets, value: path, "is `\(path)`, and there is no such directory",
                    remedy: "make it (mode 0700), or leave the setting out")
            }
            return nil
        }
    }

    /// Absolute: executors may have another working directory.
    ///
    /// - Throws: `ValidationError` where there is no such directory.
    func secretsDirectory() throws -> String? {
        guard let secrets else { return nil }
        let problems = Self.problems(ofSecrets: secrets)
        guard problems.isEmpty else { throw ValidationError(problems.text) }
        return URL(fileURLWithPath: secrets).path
    }

    func endpoint() throws -> Endpoint {
        do { return try Endpoint(connect) } catch { throw ValidationError("--connect: \(error)") }
    }

    func graceMilliseconds() throws -> Int64 {
        let problems = Setting.grace.problems(ofFlag: [grace])
        guard problems.isEmpty, let milliseconds = DurationText.milliseconds(of: grace) else { throw ValidationError(problems.text) }
        return milliseconds
    }

    func level() throws -> Logger.Level? {
        guard let logLevel else { return nil }
        guard let level = Logger.Level(rawValue: logLevel.lowercased()) else {
            throw ValidationError(Setting.logLevel.problems(ofFlag: [logLevel]).text)
        }
        return level
    }

    /// Whether `shell` is registered: as asked for, else only where nobody but this host can reach the coordinator.
    func allowsShell() throws -> Bool { Self.allowsShell(shell, over: try endpoint()) }

    /// - Parameter shell: what was asked for; nil: nothing.
    public static func allowsShell(_ shell: Shell?, over endpoint: Endpoint) -> Bool { shell.map { $0 == .on } ?? endpoint.isLoopback }
}
