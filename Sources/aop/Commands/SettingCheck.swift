import ArgumentParser
import Coordinator
import Settings
import Wire
import Worker

/// What commands would refuse of what files and the environment say: asked of what they read it with themselves.
enum SettingCheck {
    /// Each with the place, the setting, the value and a remedy.
    static func problems(_ settings: Settings) -> [String] {
        Setting.allCases.compactMap { setting in
            guard let value = settings[setting], let problem = problem(setting, value.texts) else { return nil }
            return "\(value.origin): \(setting.name): \(problem)"
        }
    }

    private static func problem(_ setting: Setting, _ texts: [String]) -> String? {
        do {
            switch setting {
            case .labels, .resources, .passEnv, .secrets, .grace: try WorkerOptions.check(setting, texts)
            case .http: for text in texts { _ = try CoordinatorCommand.address(ofHTTP: text) }
            case .listen: try CoordinatorCommand.check(listen: texts.compactMap(Endpoint.init(argument:)))
            case .connectTimeout: return unreadable(texts, as: DurationArgument.self, "write a duration as 30s, 1m30s or 500ms")
            case .retain: return unreadable(texts, as: RetentionArgument.self, "write it as 7d, 12h or 1h30m, at least 1m, or forever")
            case .logLevel, .color, .coordinator, .connect, .keyFile, .keys, .data, .partialResultBytes, .diskReserve, .snapshotBytes,
                .retainBytes, .flightRecorder,
                .processes, .slots, .shell:
                // `Settings` has read these with what their commands use, or they name what only the command's user may see.
                break
            }
            return nil
        } catch let error as ValidationError { return error.message } catch { return "\(error)" }
    }

    private static func unreadable<Value: ExpressibleByArgument>(_ texts: [String], as type: Value.Type, _ remedy: String) -> String? {
        texts.first { type.init(argument: $0) == nil }.map { "is `\($0)`; \(remedy)" }
    }
}
