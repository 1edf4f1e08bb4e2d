import Foundation
import GraphFile
import Wire

/// What configuration files and the environment say; a flag outranks them.
///
/// Files: the one that `--config` or `AOP_CONFIG` names, and no other; or `$XDG_CONFIG_HOME/aop/config.yaml`, and for what that does not
/// say, `/etc/aop/config.yaml`.
public struct Settings: Sendable {
    /// Where a value comes from.
    public enum Origin: Sendable, Hashable, CustomStringConvertible {
        case environment(String)
        case file(path: String, line: Int)

        public var description: String {
            switch self {
            case .environment(let variable): variable
            case .file(let path, let line): "\(path):\(line)"
            }
        }
    }

    public struct Value: Sendable, Hashable {
        public let texts: [String]
        public let origin: Origin
    }

    /// Names the configuration file.
    static let fileVariable = "AOP_CONFIG"

    /// The files that were looked for, the first one first, and whether they were there.
    public let files: [(path: String, isThere: Bool)]
    private let values: [Setting: Value]

    /// - Throws: ``SettingsError`` with everything that is wrong.
    public init(environment: [String: String], named: String? = nil, standardFiles: [String]? = nil) throws(SettingsError) {
        var problems: [String] = []
        var values: [Setting: Value] = [:]
        var files: [(path: String, isThere: Bool)] = []
        for setting in Setting.allCases {
            guard let text = environment[setting.variable], !text.isEmpty else { continue }
            let texts = setting.form.isList ? text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } : [text]
            if let problem = setting.problem(texts) { problems.append("\(setting.variable) \(problem)") }
            values[setting] = Value(texts: texts, origin: .environment(setting.variable))
        }
        let chosen = named ?? environment[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        for path in chosen.map({ [$0] }) ?? standardFiles ?? Self.standardFiles(environment: environment) {
            let isThere = access(path, F_OK) == 0
            files.append((path, isThere))
            guard isThere || chosen != nil else { continue }
            // Who chooses in one place does not mean what a place of less weight says of the same choice.
            let settled = Setting.choices.filter { choice in choice.contains { values[$0] != nil } }.reduce(into: Set()) {
                $0.formUnion($1)
            }
            do throws(GraphFileErrors) {
                for entry in try FlatFile(path: path).entries {
                    guard let setting = Self.setting(of: entry, in: path, &problems) else { continue }
                    if values[setting] == nil, !settled.contains(setting) {
                        values[setting] = Value(texts: entry.texts, origin: .file(path: path, line: entry.position.line))
                    }
                }
            } catch {
                problems += error.errors.map { "\($0)".replacing("a graph file", with: "a configuration file") }
            }
        }
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        (self.values, self.files) = (values, files)
    }

    /// - Returns: nil: there is no setting of that name.
    private static func setting(of entry: FlatFile.Entry, in path: String, _ problems: inout [String]) -> Setting? {
        let place = "\(path):\(entry.position.line)"
        guard let setting = Setting(rawValue: entry.name) else {
            let hint = Suggestions.hint(for: entry.name, among: Setting.allCases.map(\.name))
            problems.append("\(place): unknown setting `\(entry.name)`\(hint); `aop config show` lists all of them")
            return nil
        }
        if let problem = setting.problem(entry.texts) { problems.append("\(place): \(setting.name) \(problem)") }
        return setting
    }

    /// What is wrong with the content of a configuration file.
    package static func problems(of bytes: [UInt8], path: String) -> [String] {
        var problems: [String] = []
        do throws(GraphFileErrors) {
            for entry in try FlatFile(bytes: bytes, path: path).entries { _ = setting(of: entry, in: path, &problems) }
        } catch {
            problems += error.errors.map { "\($0)" }
        }
        return problems
    }

    /// Where files are looked for that nobody names: the user's, then the host's.
    public static func standardFiles(environment: [String: String]) -> [String] {
        var directory = environment["XDG_CONFIG_HOME"] ?? ""
        if !directory.hasPrefix("/") { directory = "\(StateDirectory.home(environment: environment))/.config" }
        return ["\(directory)/aop/config.yaml", "/etc/aop/config.yaml"]
    }

    /// nil: nobody says anything, and the default holds.
    public subscript(_ setting: Setting) -> Value? { values[setting] }
}

/// What is wrong with configuration files and `AOP_` variables. Never empty.
public struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    public let problems: [String]
    public var description: String { problems.joined(separator: "\n") }
}
