/// What kind of failure it is. The raw values are those of the wire; `cli.md` lists their names.
public enum FailureCode: UInt8, Hashable, Sendable {
    case operation = 0
    case exit = 1
    case signal = 2
    case timeout = 3
    case deadline = 4
    case condition = 5
    case workerLost = 6
    case quarantined = 7
    case duplicate = 8
    case lockCycle = 9
    case submitterGone = 10
    case limit = 11
    case cancelled = 12
    case receivedValueIsNil = 13
    case parameters = 14
    case spawn = 15
    case output = 16
    case fenced = 190

    /// As users read and write it.
    public var name: String {
        switch self {
        case .operation: "operation"
        case .exit: "exit"
        case .signal: "signal"
        case .timeout: "timeout"
        case .deadline: "deadline"
        case .condition: "condition"
        case .workerLost: "workerLost"
        case .quarantined: "quarantined"
        case .duplicate: "duplicate"
        case .lockCycle: "lockCycle"
        case .submitterGone: "submitterGone"
        case .limit: "limit"
        case .cancelled: "cancelled"
        case .receivedValueIsNil: "receivedValueIsNil"
        case .parameters: "parameters"
        case .spawn: "spawn"
        case .output: "output"
        case .fenced: "fenced"
        }
    }
}

/// One error of an operation, as it was born; it keeps its origin wherever it is forwarded.
public struct Failure: Hashable, Sendable {
    public var code: FailureCode
    /// The error came from a condition, not from execution.
    public var isCondition: Bool
    public var publisher: String
    public var message: String
    public var typeName: String
    public var exitCode: Int32?
    public var signal: Int32?
    public var stderr: String?
    public var host: String
    /// Encoded image of a registered Codable error, or what stands in its place; empty: none.
    public var image: [UInt8]
    /// Path of the operation it was born in. Empty in what a worker reports of its own; the scheduler fills it in.
    public var origin: String
    /// Of an ignored duplicate: submission and path of the operation that had its unique id. It follows from the facts and is
    /// in none of them.
    public var duplicateOf: String

    public init(
        code: FailureCode, isCondition: Bool = false, publisher: String = "", message: String, typeName: String = "",
        exitCode: Int32? = nil, signal: Int32? = nil, stderr: String? = nil, host: String = "", image: [UInt8] = [],
        origin: String = "", duplicateOf: String = "", detail: FailureDetail? = nil
    ) {
        self.code = code
        self.isCondition = isCondition
        self.publisher = publisher
        self.message = message
        self.typeName = typeName
        self.exitCode = exitCode
        self.signal = signal
        self.stderr = stderr
        self.host = host
        self.image = image
        self.origin = origin
        self.duplicateOf = duplicateOf
        if let detail { self.detail = detail }
    }
}

/// The one outcome of a unit.
public enum Outcome: Hashable, Sendable {
    case success(Payload)
    /// The first error leads. Of a group: only its own errors (a timeout); its children's are derived from them.
    case failure([Failure])
    case cancelled
}
