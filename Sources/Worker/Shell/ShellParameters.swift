import Wire

/// What a command is run from: the parameters of the operation `shell`.
public struct ShellParameters: Codable, Sendable, Hashable {
    /// What the bytes of stdout become.
    public enum OutputForm: String, Codable, Sendable, Hashable, CaseIterable {
        /// UTF-8 text without one trailing newline.
        case text
        /// An array of lines without an empty last one.
        case lines
        /// One JSON value.
        case json
        /// The bytes as they are.
        case bytes
        /// No value.
        case none
    }

    /// A command line for `/bin/sh -c`. Exactly one of ``run`` and ``exec`` is given.
    public var run: String?
    /// A program and its arguments.
    public var exec: [String]?
    /// Environment variables of the node.
    public var environment: [String: String]?
    /// Variables of the graph, for ``run`` only: set before ``environment``.
    public var variables: [String: String]?
    /// Where it runs; by default a fresh directory that is removed afterwards.
    public var workingDirectory: String?
    /// Standard input, unless a value is received.
    public var stdin: String?
    public var output: OutputForm?
    /// The largest stdout in bytes; `Limits.maxOutputBytesDefault` by default.
    public var maxOutput: Int?

    public init(
        run: String? = nil, exec: [String]? = nil, environment: [String: String]? = nil,
        variables: [String: String]? = nil, workingDirectory: String? = nil, stdin: String? = nil,
        output: OutputForm? = nil, maxOutput: Int? = nil
    ) {
        self.run = run
        self.exec = exec
        self.environment = environment
        self.variables = variables
        self.workingDirectory = workingDirectory
        self.stdin = stdin
        self.output = output
        self.maxOutput = maxOutput
    }

    /// What is to be started.
    enum Program: Equatable {
        case shell(String)
        case executable(String, [String])
    }

    /// - Throws: ``OperationFault`` when the parameters name no program, or two.
    func program() throws -> Program {
        switch (run, exec) {
        case (let line?, nil):
            try Self.refuseNul(in: [line])
            return .shell(line)
        case (nil, let words?):
            guard let name = words.first, !name.isEmpty else {
                throw OperationFault(.parameters, "`exec` is empty: give the program as its first element")
            }
            try Self.refuseNul(in: words)
            return .executable(name, Array(words.dropFirst()))
        case (nil, nil), (_?, _?):
            throw OperationFault(.parameters, "a command needs exactly one of `run` and `exec`")
        }
    }

    /// The path would end there: the command would run somewhere else.
    func checkWorkingDirectory() throws {
        guard workingDirectory?.utf8.contains(0) == true else { return }
        throw OperationFault(.parameters, "the working directory cannot hold a NUL character")
    }

    /// As of a command line: what starts it knows no other end of a text. Of several variables the first by name is told.
    static func refuseNul(inEnvironment environment: [String: String]) throws {
        let refused = environment.filter { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) }
        guard let name = refused.keys.min() else { return }
        throw OperationFault(.parameters, "the environment variable `\(name)` cannot hold a NUL character")
    }

    private static func refuseNul(in words: [String]) throws {
        guard words.contains(where: { $0.utf8.contains(0) }) else { return }
        throw OperationFault(.parameters, "a command line cannot hold a NUL character")
    }
}
