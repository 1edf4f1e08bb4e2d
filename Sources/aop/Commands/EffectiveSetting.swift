import Glibc
import Settings
import Wire
import Worker

/// What becomes of a setting whose value depends on who uses it, or on other settings: found as the commands themselves find it.
struct EffectiveSetting: Equatable {
    /// Whom it holds for; empty: all who have the setting.
    let users: String
    /// nil: there is none.
    let value: String?
    /// Where it comes from, or why there is none.
    let reason: String

    /// Empty: what is said of it holds as it is, or the default that is the same for all.
    static func all(of setting: Setting, _ settings: Settings) -> [EffectiveSetting] {
        switch setting {
        case .logLevel: settings[.logLevel] == nil ? logLevels : []
        case .shell: settings[.shell] == nil ? [shell(settings)] : []
        case .keyFile: merged(keyFiles(settings))
        case .logFormat, .color, .coordinator, .connectTimeout, .keys, .listen, .http, .data, .partialResultBytes, .diskReserve,
            .snapshotBytes, .retain, .retainBytes, .history, .flightRecorder, .connect, .processes, .slots, .labels, .resources, .passEnv,
            .secrets, .grace:
            []
        }
    }

    private static var logLevels: [EffectiveSetting] {
        [
            EffectiveSetting(users: "coordinator", value: CoordinatorCommand.defaultLogLevel.rawValue, reason: "default"),
            EffectiveSetting(users: "workers", value: WorkerOptions.defaultLogLevel.rawValue, reason: "default"),
            EffectiveSetting(users: "clients", value: ListCommand.defaultLogLevel.rawValue, reason: "default"),
        ]
    }

    private static func shell(_ settings: Settings) -> EffectiveSetting {
        let endpoint = endpoint(of: .connect, settings)
        let isOn = WorkerOptions.allowsShell(nil, over: endpoint)
        return EffectiveSetting(
            users: "", value: (isOn ? WorkerOptions.Shell.on : .off).rawValue,
            reason: "default, as \(endpoint) is \(isOn ? "" : "not ")on this host")
    }

    // MARK: Keys

    private static func keyFiles(_ settings: Settings) -> [EffectiveSetting] {
        [
            keyFile("clients", for: endpoint(of: .coordinator, settings), KeyDirectory.clientFiles, settings),
            keyFile("workers", for: endpoint(of: .connect, settings), KeyDirectory.workerFiles, settings),
        ]
    }

    private static func keyFile(_ users: String, for endpoint: Endpoint, _ names: [String], _ settings: Settings) -> EffectiveSetting {
        func none(_ reason: String) -> EffectiveSetting { EffectiveSetting(users: users, value: nil, reason: reason) }
        let choice = KeyChoice(
            file: settings[.keyFile]?.texts.first, directory: settings[.keys]?.texts.first, environment: [:])
        if let directory = choice.folder, access(directory, X_OK) != 0, errno == EACCES {
            return none("not known: only the user of \(directory) may look into it")
        }
        do throws(KeyError) {
            guard let path = try choice.path(for: endpoint, names: names) else {
                return none(
                    endpoint.port == nil ? "\(endpoint) takes none" : "none is used on loopback without a coordinator.key beside it")
            }
            let origin =
                switch choice {
                case .file: "\(settings[.keyFile].map { "\($0.origin)" } ?? "default")"
                case .directory: "keys: \(settings[.keys].map { "\($0.origin)" } ?? "default")"
                case .standard: "keys: default"
                }
            return EffectiveSetting(users: users, value: path, reason: access(path, F_OK) == 0 ? origin : "\(origin); not there")
        } catch { return none("\(error)") }
    }

    private static func endpoint(of setting: Setting, _ settings: Settings) -> Endpoint {
        let said = settings[setting] ?? settings[.coordinator]
        return said?.texts.first.flatMap { Endpoint(argument: $0) } ?? .standard
    }

    /// One for all where all have the same.
    private static func merged(_ all: [EffectiveSetting]) -> [EffectiveSetting] {
        guard let first = all.first, all.allSatisfy({ $0.value == first.value && $0.reason == first.reason }) else { return all }
        return [EffectiveSetting(users: "", value: first.value, reason: first.reason)]
    }
}
