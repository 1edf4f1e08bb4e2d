/// One thing that is wrong with what is said of settings: where it is said, of which setting, and what to do.
public struct SettingProblem: Sendable, Hashable, CustomStringConvertible {
    public let origin: Settings.Origin
    /// nil: it is about a file as a whole, or about a name that is no setting.
    public let setting: Setting?
    /// As it was written; nil: it is about no single value.
    public let value: String?
    /// What is wrong, as in "is `many`".
    public let problem: String
    /// nil: the problem says it.
    public let remedy: String?

    public init(_ origin: Settings.Origin, _ setting: Setting?, value: String? = nil, _ problem: String, remedy: String?) {
        (self.origin, self.setting, self.value, self.problem, self.remedy) = (origin, setting, value, problem, remedy)
    }

    /// Where, and what.
    public var text: String {
        switch origin {
        case .flag, .environment: "\(origin) \(problem)"
        case .file: "\(origin): \(setting.map { "\($0.name) " } ?? "")\(problem)"
        }
    }

    /// Where, what, and what to do.
    public var description: String { remedy.map { "\(text); \($0)" } ?? text }
}

extension Sequence<SettingProblem> {
    /// All of them, a line each.
    public var text: String { map(\.description).joined(separator: "\n") }
}
