import AOperation
import Foundation

/// Goes on with one step after the other, whatever becomes of them, and remembers what they have said.
///
/// A step whose text begins with "bad" fails, "net" is the end of a delivery net, "group" is a group, "steps" is a sequence of its own, and
/// "receive" receives from the one before.
public final class Steps: OperationSequence, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var log: String
        public var steps: [String]
        /// The file that it waits for while it decides after this step.
        public var holdsAfter: String?
        public var until: String?
        /// The file that this step waits for.
        public var waits: String?
        public var stepUntil: String?

        public init(log: String, steps: [String]) {
            self.log = log
            self.steps = steps
        }
    }

    public struct State: Codable, Sendable {
        public var said: [String] = []
    }

    public let parameters: Parameters
    public var state = State()

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init(wait: .constant(0.01))
    }

    public override func nextOperation(after previous: AOperation?) -> AOperation? {
        var said: String?
        if let previous {
            said = previous.value(as: String.self) ?? previous.publishedErrors.first?.localizedDescription ?? "done"
            state.said.append(said ?? "")
        }
        append("?\(said ?? "begin")", to: parameters.log)
        if said == parameters.holdsAfter, let until = parameters.until { Relay.wait(for: until) }
        guard state.said.count < parameters.steps.count else { return nil }
        let text = parameters.steps[state.said.count]
        guard text == "receive", let emit = previous as? Emit else { return step(text) }
        let shout = Shout()
        emit.deliver(to: shout)
        return shout
    }

    private func step(_ text: String) -> AOperation {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        switch words[0] {
        case "net":
            let shout = Shout()
            emit(words[1]).deliver(to: shout)
            return shout
        case "group": return GroupOperation(emit(words[1]), emit("more"))
        case "steps": return Steps(.init(log: parameters.log, steps: [words[1]]))
        case "said": return emit(state.said.joined(separator: "+"))
        default: return emit(text)
        }
    }

    private func emit(_ text: String) -> Emit {
        Emit(
            text, log: parameters.log, until: text == parameters.waits ? parameters.stepUntil : nil,
            failures: text.hasPrefix("bad") ? 9 : nil)
    }
}

/// Two steps, of which the second says what the first has said; a third one if that has not failed.
public final class Line: LinearSequence, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var text: String
        public var log: String

        public init(text: String, log: String) {
            self.text = text
            self.log = log
        }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override var steps: [Step] {
        [
            { [parameters] _ in Emit("one", log: parameters.log) },
            { [parameters] previous in
                Emit(
                    "\(parameters.text) \(previous?.value(as: String.self) ?? "")", log: parameters.log,
                    failures: parameters.text == "bad" ? 9 : nil)
            },
            { [parameters] _ in Emit("three", log: parameters.log) },
        ]
    }
}

/// Tries an operation that fails twice.
public final class Tries: RetrySequence, ClusterGroup, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var attempts: Int
        public var log: String

        public init(attempts: Int, log: String) {
            self.attempts = attempts
            self.log = log
        }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init(
            Emit("try", log: parameters.log, failures: 2), numberOfRetries: parameters.attempts,
            wait: .incrementing(initial: 0.01, increment: 0.01))
    }
}

public enum SequenceTypes {
    public static let operations: [any ClusterOperation.Type] = [Steps.self, Line.self, Tries.self]
}
