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

    @Option(
        name: .long,
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical; notice by default.", valueName: "level"))
    public var logLevel: String?

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
        if case .failure(let error) = Settings.current { throw ValidationError("\(error)") }
        // A worker of `aop run` has that one's environment, and that one has told it.
        if !passesEverything {
            for variable in Settings.takeMisspeltVariables() { FileHandle.standardError.write(Data("warning: \(variable)\n".utf8)) }
        }
        shell = shell ?? Settings.text(.shell).flatMap { Shell(rawValue: $0) }
        secrets = secrets ?? Settings.text(.secrets)
        logLevel = logLevel ?? Settings.text(.logLevel)
        _ = try endpoint()
        for (name, value) in [("processes", processes), ("slots", slots)] where !(1...4096).contains(value) {
            throw ValidationError("--\(name) is \(value): it must be from 1 to 4096")
        }
        let lists: [(Setting, [String])] = [
            (.labels, label), (.resources, resource), (.passEnv, passedNames), (.secrets, secrets.map { [$0] } ?? []), (.grace, [grace]),
        ]
        for (setting, values) in lists { try Self.checkWithOrigin(setting, values) }
        _ = try level()
    }

    /// Reads what a flag, a variable or a file says of a setting as a worker does.
    ///
    /// - Throws: `ValidationError` that names the flag, the value and a remedy.
    public static func check(_ setting: Setting, _ values: [String]) throws {
        switch setting {
        case .labels: try validate(labels: values, resources: [])
        case .resources: try validate(labels: [], resources: values)
        case .passEnv:
            for name in values where name.isEmpty || name.contains("=") {
                throw ValidationError("--pass-env \(name): give the name of a variable, without its value")
            }
        case .secrets: for value in values { _ = try secretsDirectory(value) }
        case .grace: for value in values { _ = try graceMilliseconds(value) }
        case .logLevel, .color, .coordinator, .connectTimeout, .keyFile, .keys, .listen, .http, .data, .partialResultBytes, .diskReserve,
            .snapshotBytes, .retain, .retainBytes, .flightRecorder, .connect, .processes, .slots, .shell:
            break
        }
    }

    /// Errors of a value that no flag has given say where it comes from.
    private static func checkWithOrigin(_ setting: Setting, _ values: [String]) throws {
        do { try check(setting, values) } catch let error as ValidationError {
            guard let said = Settings.value(setting), said.texts == values else { throw error }
            throw ValidationError("\(said.origin): \(setting.name): \(error.message)")
        }
    }

    /// Absolute: executors may have another working directory.
    func secretsDirectory() throws -> String? { try Self.secretsDirectory(secrets) }

    /// - Throws: `ValidationError` where there is no such directory.
    public static func secretsDirectory(_ secrets: String?) throws -> String? {
        guard let secrets else { return nil }
        let path = URL(fileURLWithPath: secrets).path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw ValidationError("--secrets \(secrets): there is no such directory; make it (mode 0700), or leave the setting out")
        }
        return path
    }

    func endpoint() throws -> Endpoint {
        do { return try Endpoint(connect) } catch { throw ValidationError("--connect: \(error)") }
    }

    func graceMilliseconds() throws -> Int64 { try Self.graceMilliseconds(grace) }

    private static func graceMilliseconds(_ grace: String) throws -> Int64 {
        guard let milliseconds = DurationText.milliseconds(of: grace) else {
            throw ValidationError("--grace is \"\(grace)\": write a duration as 30s, 1m30s or 500ms")
        }
        return milliseconds
    }

    func level() throws -> Logger.Level? {
        guard let logLevel else { return nil }
        guard let level = Logger.Level(rawValue: logLevel.lowercased()) else {
            let known = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--log-level is \"\(logLevel)\": it must be one of \(known)")
        }
        return level
    }

    /// Whether `shell` is registered: as asked for, else only where nobody but this host can reach the coordinator.
    func allowsShell() throws -> Bool { Self.allowsShell(shell, over: try endpoint()) }

    /// - Parameter shell: what was asked for; nil: nothing.
    public static func allowsShell(_ shell: Shell?, over endpoint: Endpoint) -> Bool { shell.map { $0 == .on } ?? endpoint.isLoopback }
}
