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
        case flag(String)
        case environment(String)
        /// `line` from 1; 0: the file as a whole.
        case file(path: String, line: Int, column: Int? = nil)

        public var description: String {
            switch self {
            case .flag(let flag): flag
            case .environment(let variable): variable
            case .file(let path, 0, _): path
            case .file(let path, let line, let column): "\(path):\(line)\(column.map { ":\($0)" } ?? "")"
            }
        }
    }

    public struct Value: Sendable, Hashable {
        public let texts: [String]
        public let origin: Origin

        public init(texts: [String], origin: Origin) { (self.texts, self.origin) = (texts, origin) }
    }

    /// Names the configuration file.
    static let fileVariable = "AOP_CONFIG"

    /// The files that were looked for, the first one first, and whether they were there.
    public let files: [(path: String, isThere: Bool)]
    /// Everything that is wrong: of the environment in the order of the settings, then of each file in the order of its lines.
    public let problems: [SettingProblem]
    private let values: [Setting: Value]

    public init(environment: [String: String], named: String? = nil, standardFiles: [String]? = nil) {
        var problems: [SettingProblem] = []
        var values: [Setting: Value] = [:]
        var files: [(path: String, isThere: Bool)] = []
        for setting in Setting.allCases {
            guard let text = environment[setting.variable], !text.isEmpty else { continue }
            let texts = setting.form.isList ? text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } : [text]
            let value = Value(texts: texts, origin: .environment(setting.variable))
            problems += setting.problems(value)
            values[setting] = value
        }
        let chosen = named ?? environment[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        for path in chosen.map({ [$0] }) ?? standardFiles ?? Self.standardFiles(environment: environment) {
            let isThere = access(path, F_OK) == 0
            files.append((path, isThere))
            guard isThere || chosen != nil else { continue }
            let settled = Set(Setting.settles.filter { values[$0.key] != nil }.values)
            let said = Self.read({ () throws(GraphFileError) in try FlatFile(path: path) }, path)
            problems += said.problems
            for (setting, value) in said.values where values[setting] == nil && !settled.contains(setting) { values[setting] = value }
        }
        (self.values, self.problems, self.files) = (values, problems, files)
    }

    /// What a file says, and what is wrong with it.
    private static func read(
        _ file: () throws(GraphFileError) -> FlatFile, _ path: String
    ) -> (values: [Setting: Value], problems: [SettingProblem]) {
        let entries: [Result<FlatFile.Entry, GraphFileError>]
        do throws(GraphFileError) { entries = try file().entries } catch { entries = [.failure(error)] }
        var values: [Setting: Value] = [:]
        var problems: [SettingProblem] = []
        for entry in entries {
            switch entry {
            case .failure(let error):
                let message = error.message.replacing("a graph file", with: "a configuration file")
                problems.append(
                    SettingProblem(.file(path: path, line: error.line, column: error.column), nil, message, remedy: nil))
            case .success(let entry):
                let origin = Origin.file(path: path, line: entry.position.line)
                guard let setting = Setting(rawValue: entry.name) else {
                    let hint = Suggestions.hint(for: entry.name, among: Setting.allCases.map(\.name))
                    problems.append(
                        SettingProblem(
                            origin, nil, "unknown setting `\(entry.name)`\(hint)", remedy: "`aop config show` lists all of them"))
                    continue
                }
                let value = Value(texts: entry.texts, origin: origin)
                problems += setting.problems(value)
                values[setting] = value
            }
        }
        return (values, problems)
    }

    /// What is wrong with the content of a configuration file.
    package static func problems(of bytes: [UInt8], path: String) -> [SettingProblem] {
        read({ () throws(GraphFileError) in try FlatFile(bytes: bytes, path: path) }, path).problems
    }

    /// Where files are looked for that nobody names: the user's, then the host's.
    public static func standardFiles(environment: [String: String]) -> [String] {
        var directory = environment["XDG_CONFIG_HOME"] ?? ""
        if !directory.hasPrefix("/") { directory = "\(StateDirectory.home(environment: environment))/.config" }
        return ["\(directory)/aop/config.yaml", "/etc/aop/config.yaml"]
    }

    /// nil: nobody says anything, and the default holds. What is said may be wrong (``problems``).
    public subscript(_ setting: Setting) -> Value? { values[setting] }
}
