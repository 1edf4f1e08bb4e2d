import Cluster
import GraphFile
import Shapes
import Wire

/// Why a command could not do what it was asked: what happened, to which object, and what to do next.
struct ToolError: Error, Sendable {
    var status: ExitStatus
    /// Stable name for scripts.
    var code: String
    var message: String
    /// Faults of a graph file, each with its place.
    var faults: [FileFault] = []
    /// The submission it is about, where there is one.
    var submission: String?

    init(_ status: ExitStatus, _ code: String, _ message: String, faults: [FileFault] = [], submission: String? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.faults = faults
        self.submission = submission
    }

    /// Gives any error an exit code and a name.
    init(_ error: any Error) {
        switch error {
        case let error as ToolError: self = error
        case let error as ClusterError: self.init(error)
        case is CancellationError: self.init(.interrupted, "interrupted", "interrupted")
        default: self.init(.toolError, "internal", "\(error)")
        }
    }

    private init(_ error: ClusterError) {
        let status: ExitStatus =
            switch error.code {
            case .unreachable: .unavailable
            case .notFound, .ambiguous: .notFound
            case .refused: .refused
            case .busy: .busy
            case .notPermitted: .notPermitted
            case .address, .version, .malformed, .valueUnavailable, .closed, .alreadyRead, .unexpectedAnswer, .sessionOver: .toolError
            }
        self.init(status, error.code.rawValue, error.message, faults: error.errors.map { FileFault($0) })
    }

    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("code", .string(code)), ("message", .string(message))]
        if let submission { members.append(("id", .string(submission))) }
        if !faults.isEmpty {
            members.append(("errors", .array(faults.prefix(FileFault.toldMax).map(\.json))))
            members.append(("errorCount", .integer(Int64(faults.count))))
        }
        return members
    }

    var json: JSONValue { .object(members) }
}

/// A fault of a graph file and where it is.
struct FileFault: Sendable, Hashable {
    /// So many are told, the first ones: one slip may be wrong in every node of a large file.
    static let toldMax = 1_000

    var file: String
    var line: Int
    var column: Int
    var path: String
    var message: String

    /// Of a graph that comes from no file.
    init(_ error: ClusterError.GraphError) { self.init(file: "", line: 0, column: 0, path: error.path, message: error.message) }

    init(file: String, line: Int, column: Int, path: String, message: String) {
        (self.file, self.line, self.column, self.path, self.message) = (file, line, column, path, message)
    }

    var text: String {
        let place = path.isEmpty ? "" : "\(path): "
        if file.isEmpty { return place + message }
        return line > 0 ? "\(file):\(line):\(column): \(place)\(message)" : "\(file): \(place)\(message)"
    }

    var json: JSONValue {
        .object([
            ("file", .string(file)), ("line", .integer(Int64(line))), ("column", .integer(Int64(column))),
            ("path", .string(path)), ("message", .string(message)),
        ])
    }
}

extension [FileFault] {
    /// What is printed of them, by the line.
    var told: [String] {
        let more = count - FileFault.toldMax
        return prefix(FileFault.toldMax).map(\.text) + (more > 0 ? ["and \(more) more errors"] : [])
    }

    /// As they stand in the file, each once.
    var inFileOrder: [FileFault] {
        var seen: Set<FileFault> = []
        let sorted = enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        return sorted.map(\.element).filter { seen.insert($0).inserted }
    }
}
