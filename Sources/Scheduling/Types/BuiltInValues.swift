/// What the operations that every worker has take and deliver, where that is more than they register: most of them take and deliver
/// any value, untouched.
enum BuiltInValues {
    /// Registered name of commands.
    static let command = "shell"

    /// Whether it delivers what it received, or nothing.
    static func passesOn(_ type: String) -> Bool { type == "noop" || type == "delay" }

    /// nil: as it is registered.
    static func output(of type: String) -> ValueType? {
        switch type {
        case "http", "upload", "readFile": ValueType(.text)
        default: nil
        }
    }

    /// What it takes, other than `registered` says.
    static func input(of type: String, registered: ValueType) -> ValueType {
        // It reads a text, in whatever it travels.
        type == "jsonDecode" && registered.form == .own ? ValueType(.text, name: "Swift.String") : registered
    }
}
