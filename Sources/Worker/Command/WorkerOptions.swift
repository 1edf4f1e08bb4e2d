import ArgumentParser
import CLinux
import Executing
import Foundation
import Logging
import Wire

/// The flags of `aop worker`, for every binary that is a worker.
///
/// Each has an environment variable that it overrides: `AOP_CONNECT` (or `AOP_COORDINATOR`), `AOP_PROCESSES`,
/// `AOP_SLOTS`, `AOP_LABELS`, `AOP_RESOURCES`, `AOP_SHELL`, `AOP_PASS_ENV`, `AOP_SECRETS`, `AOP_KEY`, `AOP_KEYS`, `AOP_GRACE`, `AOP_LOG_LEVEL`; lists are separated by commas.
public struct WorkerOptions: ParsableArguments, Sendable {
    /// Whether commands may be run.
    public enum Shell: String, ExpressibleByArgument, CaseIterable, Sendable {
        case on, off
    }

    @Option(name: .long, help: ArgumentHelp("The coordinator's address.", valueName: "url"))
    public var connect = WorkerEnvironment.text("AOP_CONNECT", "AOP_COORDINATOR") ?? Endpoint.standard.description

    @Option(name: .long, help: ArgumentHelp("Executor processes.", valueName: "n"))
    public var processes = WorkerEnvironment.number("AOP_PROCESSES") ?? 1

    @Option(name: .long, help: ArgumentHelp("Operations at once, per process; as many as processors by default.", valueName: "n"))
    public var slots = WorkerEnvironment.number("AOP_SLOTS") ?? Int(clinux_processor_count())

    @Option(name: .long, help: ArgumentHelp("A label of this host, e.g. fast or zone=a; may be repeated.", valueName: "label"))
    public var label: [String] = WorkerEnvironment.list("AOP_LABELS")

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What this host has, e.g. gpus=2, licence=3 or memory=16GiB; may be repeated. cpus and memory are what there is by default.",
            valueName: "name=amount"))
    public var resource: [String] = WorkerEnvironment.list("AOP_RESOURCES")

    @Option(name: .long, help: "Whether commands may be run: on by default over loopback or ipc, off otherwise.")
    public var shell: Shell?

    @Option(
        name: .customLong("pass-env"),
        help: ArgumentHelp("An environment variable that commands get; may be repeated.", valueName: "name"))
    public var passedNames: [String] = WorkerEnvironment.list("AOP_PASS_ENV")

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
    public var grace = WorkerEnvironment.text("AOP_GRACE") ?? "30s"

    @Option(
        name: .long,
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical; notice by default.", valueName: "level"))
    public var logLevel: String?

    @Flag(name: .customLong("pass-everything"), help: ArgumentHelp("Commands get this process's environment.", visibility: .hidden))
    public var passesEverything = false

    @Option(name: .long, help: ArgumentHelp("Where commands run that name no directory.", visibility: .hidden))
    public var workingDirectory: String?

    @Option(name: .long, help: ArgumentHelp("Where the cookie is.", visibility: .hidden))
    public var cookieDirectory: String?

    public init() {}

    public mutating func validate() throws {
        _ = try endpoint()
        for (name, value) in [("processes", processes), ("slots", slots)] where !(1...4096).contains(value) {
            throw ValidationError("--\(name) is \(value): it must be from 1 to 4096")
        }
        try Self.validate(labels: label, resources: resource)
        for name in passedNames where name.isEmpty || name.contains("=") {
            throw ValidationError("--pass-env \(name): give the name of a variable, without its value")
        }
        if shell == nil, let text = WorkerEnvironment.text("AOP_SHELL") {
            guard let value = Shell(rawValue: text) else { throw ValidationError("AOP_SHELL is \"\(text)\": it must be on or off") }
            shell = value
        }
        secrets = secrets ?? WorkerEnvironment.text("AOP_SECRETS")
        logLevel = logLevel ?? WorkerEnvironment.text("AOP_LOG_LEVEL")
        _ = try graceMilliseconds()
        _ = try level()
        _ = try secretsDirectory()
    }

    /// Absolute: executors may have another working directory.
    func secretsDirectory() throws -> String? { try Self.secretsDirectory(secrets) }

    /// - Throws: `ValidationError` where there is no such directory.
    public static func secretsDirectory(_ secrets: String?) throws -> String? {
        guard let secrets else { return nil }
        let path = URL(fileURLWithPath: secrets).path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw ValidationError("--secrets \(secrets): there is no such directory")
        }
        return path
    }

    func endpoint() throws -> Endpoint {
        do { return try Endpoint(connect) } catch { throw ValidationError("--connect: \(error)") }
    }

    func graceMilliseconds() throws -> Int64 {
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
    func allowsShell() throws -> Bool { try shell.map { $0 == .on } ?? endpoint().isLoopback }
}

/// Defaults from the environment.
enum WorkerEnvironment {
    static func text(_ names: String...) -> String? {
        let environment = ProcessInfo.processInfo.environment
        return names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }

    /// Text that is no number becomes -1, which is refused by name as any number out of range.
    static func number(_ name: String) -> Int? { text(name).map { Int($0) ?? -1 } }

    static func list(_ name: String) -> [String] {
        text(name).map { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } } ?? []
    }
}
