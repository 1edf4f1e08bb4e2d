import Wire

/// Everything that may be said in a configuration file, in the environment, or by a flag: the one table of it.
public enum Setting: String, CaseIterable, Sendable {
    case logLevel = "log-level"
    case logFormat = "log-format"
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
    case history
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
        case path
        case endpoint
        case endpoints
        /// `HOST:PORT`, or `off`.
        case httpAddress
        case labels
        /// `name=amount`
        case resources
        /// Names of environment variables.
        case variables
        case number(ClosedRange<Int64>)
        /// `90s`, `1h30m`
        case duration
        /// A duration of at least a minute, or `forever`.
        case retention
        /// The same, or `off`.
        case retentionOrOff
        case choice([String])

        /// Several values; between commas in the environment.
        public var isList: Bool {
            switch self {
            case .endpoints, .labels, .resources, .variables: true
            case .path, .endpoint, .httpAddress, .number, .duration, .retention, .retentionOrOff, .choice: false
            }
        }
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
        case .logFormat: Row(variable: "AOP_LOG_FORMAT", form: .choice(["text", "json"]), users: .all)
        case .color: Row(variable: "AOP_COLOR", form: .choice(["auto", "always", "never"]), users: .clients)
        case .coordinator: Row(variable: "AOP_COORDINATOR", form: .endpoint, users: .clients)
        case .connectTimeout: Row(variable: "AOP_CONNECT_TIMEOUT", form: .duration, users: .clients)
        case .keyFile: Row(variable: "AOP_KEY", form: .path, users: .clients)
        case .keys: Row(variable: "AOP_KEYS", form: .path, users: .all)
        case .listen: Row(variable: "AOP_LISTEN", form: .endpoints, users: .coordinator)
        case .http: Row(variable: "AOP_HTTP", form: .httpAddress, users: .coordinator)
        case .data: Row(variable: "AOP_DATA", form: .path, users: .coordinator)
        case .partialResultBytes: Row(variable: "AOP_PARTIAL_RESULT_BYTES", form: .number(1...(1 << 60)), users: .coordinator)
        case .diskReserve: Row(variable: "AOP_DISK_RESERVE", form: .number(Self.byteCounts), users: .coordinator)
        case .snapshotBytes: Row(variable: "AOP_SNAPSHOT_BYTES", form: .number(Self.byteCounts), users: .coordinator)
        case .retain: Row(variable: "AOP_RETAIN", form: .retention, users: .coordinator)
        case .history: Row(variable: "AOP_HISTORY", form: .retentionOrOff, users: .coordinator)
        case .retainBytes: Row(variable: "AOP_RETAIN_BYTES", form: .number(Self.byteCounts), users: .coordinator)
        case .flightRecorder: Row(variable: "AOP_FLIGHT_RECORDER", form: .number(Self.byteCounts), users: .coordinator)
        case .connect: Row(variable: "AOP_CONNECT", form: .endpoint, users: .worker)
        case .processes: Row(variable: "AOP_PROCESSES", form: .number(1...4096), users: .worker)
        case .slots: Row(variable: "AOP_SLOTS", form: .number(1...4096), users: .worker)
        case .labels: Row(variable: "AOP_LABELS", form: .labels, flag: "--label", users: .worker)
        case .resources: Row(variable: "AOP_RESOURCES", form: .resources, flag: "--resource", users: .worker)
        case .shell: Row(variable: "AOP_SHELL", form: .choice(["on", "off"]), users: .worker)
        case .passEnv: Row(variable: "AOP_PASS_ENV", form: .variables, users: .worker)
        case .secrets: Row(variable: "AOP_SECRETS", form: .path, users: .worker)
        case .grace: Row(variable: "AOP_GRACE", form: .duration, users: .worker)
        }
    }

    /// What a place of less weight does not mean any more where one of more weight has said this.
    ///
    /// A single key file outranks a directory, so that the directory has to be the later word; the other way round a coordinator still looks for its
    /// keys in the directory, whatever key its user's clients have.
    static let settles: [Setting: Setting] = [.keys: .keyFile]

    public var name: String { rawValue }
    public var variable: String { row.variable }
    public var form: Form { row.form }
    public var flag: String { row.flag ?? "--\(rawValue)" }
    public var users: Users { row.users }
}
