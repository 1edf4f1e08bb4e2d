import AOperation
import Foundation

/// Appends a line to a file; returns how often it is there now.
@discardableResult
func append(_ line: String, to log: String) -> Int {
    guard let file = fopen(log, "a") else { return 1 }
    fputs("\(line)\n", file)
    fclose(file)
    let lines = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return lines.split(separator: "\n").count { $0 == line }
}

/// What a project is made with.
public struct ProjectParameters: Codable, Sendable {
    public var project: String
    public var log: String

    public init(project: String, log: String) {
        self.project = project
        self.log = log
    }
}

/// Whether a project has to be built: those called "fresh…" have not.
public final class CheckCache: ResultableOperation<CheckCache.Answer>, ClusterOperation, @unchecked Sendable {
    public struct Answer: Codable, Sendable {
        public var isFresh: Bool
    }

    public let parameters: ProjectParameters

    public init(_ parameters: ProjectParameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        append("check \(parameters.project)", to: parameters.log)
        finish(with: .success(Answer(isFresh: parameters.project.hasPrefix("fresh"))))
    }
}

public final class Build: VoidOperation, ClusterOperation, @unchecked Sendable {
    public let parameters: ProjectParameters

    public init(_ parameters: ProjectParameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        append("build \(parameters.project)", to: parameters.log)
        finish()
    }
}

public final class Skip: VoidOperation, ClusterOperation, @unchecked Sendable {
    public let parameters: ProjectParameters

    public init(_ parameters: ProjectParameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        append("skip \(parameters.project)", to: parameters.log)
        finish()
    }
}

/// Checks a project, and builds it or does not.
public final class BuildOrSkip: GroupOperation, ClusterGroup, @unchecked Sendable {
    public let parameters: ProjectParameters

    public init(_ parameters: ProjectParameters) {
        self.parameters = parameters
        super.init([CheckCache(parameters)])
    }

    public override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        guard let check = operation as? CheckCache, let answer = try? check.result?.get() else { return }
        addOperation(answer.isFresh ? Skip(parameters) : Build(parameters))
    }
}

/// Goes on with one step after the other, and remembers those that have ended.
public final class Relay: GroupOperation, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var log: String
        public var steps: [String]
        /// The file that it waits for while it decides after this step.
        public var holdsAfter: String?
        public var until: String?
        /// It adds something that no worker knows after this step.
        public var isWrongAfter: String?

        public init(log: String, steps: [String]) {
            self.log = log
            self.steps = steps
        }
    }

    public struct State: Codable, Sendable {
        public var done: [String] = []
    }

    public let parameters: Parameters
    public var state = State()

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init(parameters.steps.prefix(1).map { Emit($0, log: parameters.log) })
    }

    public override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        guard let step = operation as? Emit, let text = try? step.result?.get() else { return }
        append("?\(text)", to: parameters.log)
        if text == parameters.holdsAfter, let until = parameters.until { Self.wait(for: until) }
        if text == parameters.isWrongAfter { return addOperation(Unregistered(.init())) }
        guard let place = parameters.steps.firstIndex(of: text) else { return }
        state.done.append(text)
        let next = place + 1
        if next < parameters.steps.count {
            addOperation(Emit(parameters.steps[next], log: parameters.log))
        } else {
            addOperation(Emit(state.done.joined(separator: "+"), log: parameters.log))
        }
    }

    static func wait(for file: String) {
        let signal = DispatchSemaphore(value: 0)
        Task {
            try? await Emit.wait(for: file)
            signal.signal()
        }
        signal.wait()
    }
}

/// Adds one more step for each that fails, and is told of nothing else.
public final class Mend: GroupOperation, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var log: String
        /// What the steps say; a step whose text begins with "bad" fails.
        public var steps: [String]

        public init(log: String, steps: [String]) {
            self.log = log
            self.steps = steps
        }
    }

    public static let decidesAfter = DecisionOccasion.failures
    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init(
            parameters.steps.map { Emit($0, log: parameters.log, failures: $0.hasPrefix("bad") ? 9 : nil) })
    }

    public override func operationDidFinish(_ operation: Operation, withErrors errors: [AOperationError]) {
        guard let step = operation as? Emit else { return }
        let error = errors.first?.publishedError as? TrialError
        append("?\(step.parameters.text) \(error?.text ?? "no error") \(step.clusterPath ?? "here")", to: parameters.log)
        addOperation(Emit("mended \(step.parameters.text)", log: parameters.log))
    }
}

/// A group that no worker registers.
public final class UnregisteredGroup: GroupOperation, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public init() {}
    }
    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init([])
    }
}

public enum DecideTypes {
    public static let operations: [any ClusterOperation.Type] = [
        CheckCache.self, Build.self, Skip.self, BuildOrSkip.self, Relay.self, Mend.self,
    ]
}
