/// A place in a graph file. Lines and columns count from 1, columns in Unicode scalars.
public struct GraphFilePosition: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let lineNumber: Int32
    private let columnNumber: Int32

    public var line: Int { Int(lineNumber) }
    public var column: Int { Int(columnNumber) }

    public init(line: Int, column: Int) {
        lineNumber = Int32(clamping: line)
        columnNumber = Int32(clamping: column)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.lineNumber, left.columnNumber) < (right.lineNumber, right.columnNumber)
    }

    public var description: String { "\(line):\(column)" }
}

/// One thing that is wrong with a graph file: where, in which node, what, and what to write instead.
public struct GraphFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// As the caller named it; `<stdin>` for standard input.
    public let file: String
    /// 0 together with `column`: the error is about the file as a whole.
    public let line: Int
    public let column: Int
    /// The node it is about, as in `build/compile`; empty for the root group and for the file itself.
    public let path: String
    public let message: String

    public init(file: String, position: GraphFilePosition?, path: String = "", message: String) {
        self.file = file
        line = position?.line ?? 0
        column = position?.column ?? 0
        self.path = path
        self.message = message
    }

    /// `file:line:column: path: message`; parts that there are none of are left out.
    public var description: String {
        var text = file
        if line > 0 { text += ":\(line):\(column)" }
        if !path.isEmpty { text += ": \(path)" }
        return text + ": \(message)"
    }
}

/// All errors of a graph file, in the order of their places. Never empty.
public struct GraphFileErrors: Error, Sendable, CustomStringConvertible {
    public let errors: [GraphFileError]
    /// The registered operations that the file names, as far as it could be read: what else the coordinator would check.
    public let operations: [GraphFileOperation]
    /// What of the graph the coordinator can check all the same; nil: nothing.
    public let remainder: GraphFileRemainder?

    public init(_ errors: [GraphFileError], operations: [GraphFileOperation] = [], remainder: GraphFileRemainder? = nil) {
        self.errors = errors
        self.operations = operations
        self.remainder = remainder
    }

    /// One line for each error.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// An `op:` of a graph file.
public struct GraphFileOperation: Hashable, Sendable {
    /// Registered name.
    public let type: String
    public let file: String
    public let position: GraphFilePosition
    public let path: String

    /// What the coordinator finds wrong with its type, at its place in the file.
    public func error(_ message: String) -> GraphFileError {
        GraphFileError(file: file, position: position, path: path, message: message)
    }
}
