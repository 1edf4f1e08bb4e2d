import AOperation
import Foundation

/// Produces other operations while it runs, as it is told.
public final class Sprout: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var name: String
        /// Where it writes a line "+name" when it begins and "-name" when it succeeds.
        public var log: String
        /// Others of its kind that it produces, and the texts of `Emit`s that it produces under these ids.
        public var makes: [Parameters] = []
        public var once: [String] = []
        /// How many attempts fail after having produced everything; they are counted in the log.
        public var failures = 0
        /// The file whose coming it waits for when it has produced everything.
        public var until: String?
        /// The lock that it holds as a product of another one.
        public var key: String?
        /// It produces something that no worker knows.
        public var isWrong = false
        /// What it produces receives from each other, in a group.
        public var isJoined = false

        public init(_ name: String, log: String) {
            self.name = name
            self.log = log
        }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public convenience init(_ name: String, log: String, _ change: (inout Parameters) -> Void = { _ in }) {
        var parameters = Parameters(name, log: log)
        change(&parameters)
        self.init(parameters)
    }

    public override func run() async throws -> String {
        let attempt = write("+\(parameters.name)")
        let made = parameters.makes.map { parameters in
            let sprout = Sprout(parameters)
            return parameters.key.map { sprout.exclusive($0) } ?? sprout
        }
        if parameters.isJoined {
            let join = Join(.init(separator: "+"))
            made.deliver(to: join)
            produce(GroupOperation(made + [join, Emit("inside", log: parameters.log)]))
        } else {
            for operation in made { produce(operation) }
        }
        for text in parameters.once { produce(Emit(text, log: parameters.log), id: text) }
        if parameters.isWrong { produce(Unregistered(.init())) }
        try await Emit.wait(for: parameters.until)
        if attempt <= parameters.failures { throw TrialError(text: parameters.name) }
        write("-\(parameters.name)")
        return parameters.name
    }

    /// Returns how often this line is there now.
    @discardableResult
    private func write(_ line: String) -> Int {
        guard let file = fopen(parameters.log, "a") else { return 1 }
        fputs("\(line)\n", file)
        fclose(file)
        let lines = (try? String(contentsOfFile: parameters.log, encoding: .utf8)) ?? ""
        return lines.split(separator: "\n").count { $0 == line }
    }
}

/// An operation that no worker registers.
public final class Unregistered: VoidOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public init() {}
    }
    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() { finish() }
}
