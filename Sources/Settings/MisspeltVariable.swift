import GraphFile

/// A variable that is no setting, and looks as if it were meant to be one.
///
/// Only told, never an error: `AOP_` variables may be anybody's, and operations get some of their own.
public struct MisspeltVariable: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    /// The variable that was probably meant.
    public let meant: String

    public var description: String { "\(name) is no setting, and counts for nothing; did you mean \(meant)?" }

    static let prefix = "AOP_"
    /// Known ones that are no settings of this process.
    private static let others: Set<String> = [
        // What a command of a graph gets, and may have about it when it submits something itself.
        "AOP_SUBMISSION", "AOP_PATH", "AOP_ATTEMPT", "AOP_IDEMPOTENCY_KEY", "AOP_FENCES", "AOP_WORKER", "AOP_WORKER_PROCESS",
        // Where spans go.
        "AOP_TRACE_FILE", "AOP_SPANS_LOST",
        // A supervisor's word to its executors.
        "AOP_EXECUTOR",
        // Of this project's scripts.
        "AOP_BINARY", "AOP_IMAGE", "AOP_DETERMINISM_FILE",
    ]
    /// Families: tokens of locks, amounts of resources, and what tests are told.
    private static let families = ["AOP_FENCE_", "AOP_RESOURCE_", "AOP_TEST_", "AOP_CONFORMANCE_", "AOP_STRESS_"]

    /// Those of an environment, by name.
    public static func all(in environment: [String: String]) -> [MisspeltVariable] {
        environment.keys.sorted().compactMap { name in
            guard name.hasPrefix(prefix), !isKnown(name), let meant = nearest(to: name) else { return nil }
            return MisspeltVariable(name: name, meant: meant)
        }
    }

    private static func isKnown(_ name: String) -> Bool {
        name == Settings.fileVariable || others.contains(name) || families.contains { name.hasPrefix($0) }
            || Setting.allCases.contains { $0.variable == name }
    }

    private static func nearest(to name: String) -> String? {
        // A setting may be called otherwise in files and as a flag: AOP_KEY_FILE.
        if let setting = Setting.allCases.first(where: { variable($0.name) == name || variable($0.flag) == name }) {
            return setting.variable
        }
        let candidates = [Settings.fileVariable] + Setting.allCases.map(\.variable)
        return Suggestions.nearest(to: String(name.dropFirst(prefix.count)), among: candidates.map { String($0.dropFirst(prefix.count)) })
            .map { prefix + $0 }
    }

    private static func variable(_ name: String) -> String {
        prefix + name.drop { $0 == "-" }.uppercased().replacing("-", with: "_")
    }
}
