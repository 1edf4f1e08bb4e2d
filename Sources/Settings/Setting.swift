import Wire

/// Everything that may be said in a configuration file, in the environment, or by a flag: the one table of it.
public enum Setting: String, CaseIterable, Sendable {
    case logLevel = "log-level"
    case color
    case coordinator
    case connectTimeout = "connect-timeout"
    case keyFile = "key-file"
    case keys
    case listen
    case http
    case data
    case partialResultBytes = "partial-result-bytes"
    case diskReserve = "disk-reserve"
    case snapshotBytes = "snapshot-bytes"
    case retain
    case retainBytes = "retain-bytes"
    case flightRecorder = "flight-recorder"
    case connect
    case processes
    case slots
    case labels
    case resources
    case shell
    case passEnv = "pass-env"
    case secrets
    case grace

    /// What its value may be.
    public enum Form: Sendable, Hashable {
        case text
        case path
        case endpoint
        /// Of endpoints.
        case endpoints
        case list
        case number(ClosedRange<Int64>)
        /// `90s`, `1h30m`
        case duration
        /// A duration of at least a minute, or `forever`.
        case retention
        case choice([String])

        /// Several values; between commas in the environment.
        public var isList: Bool { self == .list || self == .endpoints }
    }

    private struct Row {
        var variable: String
        var form: Form
        var flag: String?
        /// Who has the flag.
        var users: Users
    }

    public enum Users: String, Sendable {
        case all, clients, coordinator, worker
    }

    private static let byteCounts: ClosedRange<Int64> = 0...(1 << 60)

    private var row: Row {
        switch self {
        case .logLevel:
            Row(
                variable: "AOP_LOG_LEVEL", form: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), users: .all)
        case .color: Row(variable: "AOP_COLOR", form: .choice(["auto", "always", "never"]), users: .clients)
        case .coordinator: Row(variable: "AOP_COORDINATOR", form: .endpoint, users: .clients)
        case .connectTimeout: Row(variable: "AOP_CONNECT_TIMEOUT", form: .duration, users: .clients)
        case .keyFile: Row(variable: "AOP_KEY", form: .path, users: .clients)
        case .keys: Row(variable: "AOP_KEYS", form: .path, users: .all)
        case .listen: Row(variable: "AOP_LISTEN", form: .endpoints, users: .coordinator)
        case .http: Row(variable: "AOP_HTTP", form: .text, users: .coordinator)
        case .data: Row(variable: "AOP_DATA", form: .path, users: .coordinator)
        case .partialResultBytes: Row(variable: "AOP_PARTIAL_RESULT_BYTES", form: .number(1...(1 << 60)), users: .coordinator)
        case .diskReserve: Row(variable: "AOP_DISK_RESERVE", form: .number(Self.byteCounts), users: .coordinator)
        case .snapshotBytes: Row(variable: "AOP_SNAPSHOT_BYTES", form: .number(Self.byteCounts), users: .coordinator)
        case .retain: Row(variable: "AOP_RETAIN", form: .retention, users: .coordinator)
        case .retainBytes: Row(variable: "AOP_RETAIN_BYTES", form: .number(Self.byteCounts), users: .coordinator)
        case .flightRecorder: Row(variable: "AOP_FLIGHT_RECORDER", form: .number(Self.byteCounts), users: .coordinator)
        case .connect: Row(variable: "AOP_CONNECT", form: .endpoint, users: .worker)
        case .processes: Row(variable: "AOP_PROCESSES", form: .number(1...4096), users: .worker)
        case .slots: Row(variable: "AOP_SLOTS", form: .number(1...4096), users: .worker)
        case .labels: Row(variable: "AOP_LABELS", form: .list, flag: "--label", users: .worker)
        case .resources: Row(variable: "AOP_RESOURCES", form: .list, flag: "--resource", users: .worker)
        case .shell: Row(variable: "AOP_SHELL", form: .choice(["on", "off"]), users: .worker)
        case .passEnv: Row(variable: "AOP_PASS_ENV", form: .list, users: .worker)
        case .secrets: Row(variable: "AOP_SECRETS", form: .path, users: .worker)
        case .grace: Row(variable: "AOP_GRACE", form: .duration, users: .worker)
        }
    }

    /// Settings that are one choice together: the place of the most weight that says one of them decides.
    static let choices: [Set<Setting>] = [[.keyFile, .keys]]

    public var name: String { rawValue }
    public var variable: String { row.variable }
    public var form: Form { row.form }
    public var flag: String { row.flag ?? "--\(rawValue)" }
    public var users: Users { row.users }

    /// What is wrong with a value: "is `x`; it must be …"; nil: nothing.
    func problem(_ values: [String]) -> String? {
        guard form.isList || values.count == 1 else { return "is a list; it has one value" }
        for value in values {
            if value.isEmpty { return "is empty; leave it out, or give it a value" }
            if let expected = expectation(value) { return "is `\(value)`; \(expected)" }
        }
        return nil
    }

    private func expectation(_ value: String) -> String? {
        switch form {
        case .text, .path, .list: return nil
        case .endpoint, .endpoints:
            do throws(EndpointError) {
                _ = try Endpoint(value)
                return nil
            } catch { return error.remedy }
        case .number(let range):
            if let number = Int64(value), range.contains(number) { return nil }
            return "it must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration:
            return value.wholeMatch(of: /([0-9]{1,9}(ms|s|m|h|d))+/) == nil ? "write a duration as 30s, 1m30s or 500ms" : nil
        case .retention:
            let isLong = value.wholeMatch(of: /0*[1-9][0-9]{0,8}(m|h|d)([0-9]{1,9}(ms|s|m|h|d))*/) != nil
            return isLong || value == "forever" ? nil : "write it as 7d, 12h or 1h30m, at least 1m, or forever"
        case .choice(let words):
            return words.contains(self == .logLevel ? value.lowercased() : value)
                ? nil : "it must be one of \(words.joined(separator: ", "))"
        }
    }
}
