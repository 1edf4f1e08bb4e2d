/// What was seen of a graph's run, in the order in which it was seen.
package struct History: Codable, Sendable, Hashable {
    package var events: [Event]

    package init(_ events: [Event]) { self.events = events }
}

package indirect enum Event: Codable, Sendable, Hashable {
    /// The program is about to make the graph, whose times count from here. Its operations run in this process, or elsewhere.
    case made(isHere: Bool)
    /// The graph was submitted once more under its key, and found to be there already, or not.
    case submittedAgain(isExisting: Bool)
    /// What an operation of the second submission has ended with.
    case toldAgain(Int, Outcome)
    /// The program was told that a node is paused.
    case paused(Int)
    /// The program is about to resume it.
    case resumed(Int)
    /// There are workers on a host, all of which have these labels, and share so many permits, counted from 0.
    case host(String, labels: [String], permits: Int)
    /// Where a body has begun, and which permits of its host it has.
    case placed(Int, run: Int, host: String, permits: [Int])
    /// What the place's clock shows, in milliseconds, when what comes next in the history happens.
    case clock(Int)
    /// The program has asked for the cancellation of a node. It counts from a moment after this.
    case cancelAsked(Int)
    /// A cancellation counts from here on: what has not begun never begins.
    case cancelInForce(Int)
    /// A scripted condition of a node has said this.
    case judged(Int, condition: Int, Verdict)
    /// A body has begun: the run of its node with this number, from 1, in this process.
    case started(Int, run: Int, process: String, received: Received?, tokens: [String: UInt64])
    /// A body is over.
    case ended(Int, run: Int, BodyEnd)
    /// What a body has read of what another one sends.
    case consumed(Int, run: Int, [String], StreamEnd)
    /// After so many retries a closure of the program was asked about another attempt, and has said this.
    case retryAsked(Int, retries: Int, Fault, again: Bool)
    /// A closure of the program is told the end that is about to count: a value or an error.
    case held(Int, Outcome)
    /// It has let go.
    case letGo(Int)
    /// A wrapper makes what it runs.
    case generated(Int, Received?)
    /// A listener of the program was told something.
    case told(Int, Telling)
    /// Outcome and body of a node are over for the program.
    case over(Int)
    /// Something that a listener of the program has noted of an operation that was made for this attempt of a group around it, counted
    /// from 1. Where the last attempts alone are heard of it stands for itself.
    case attempt(Int, Event)
    /// A process is about to be killed: what it runs is lost, and what it has run may be.
    case killed(process: String)
}

/// What a body was given.
package enum Received: Codable, Sendable, Hashable {
    case value(String)
    case values([String])
    case failure(Fault)
}

package enum StreamEnd: Codable, Sendable, Hashable {
    /// It was told that this is all.
    case complete
    case failure(Fault)
    /// It has what it wanted.
    case enough
    /// It was told to stop.
    case stopped
}

package enum BodyEnd: Codable, Sendable, Hashable {
    case value(String)
    case failure(Fault)
    /// It was told to stop, and did.
    case stopped
}

package enum Telling: Codable, Sendable, Hashable {
    case start
    case cancel
    /// The observers' end, with the whole outcome.
    case finish(Outcome)
    /// The `didFinish` closures' end, with the value or the first error.
    case result(Outcome)
}

package enum Outcome: Codable, Sendable, Hashable {
    /// A group's value is empty.
    case success(String)
    case failure([Fault])
    case cancelled([Fault])

    package var faults: [Fault] {
        switch self {
        case .success: []
        case .failure(let faults), .cancelled(let faults): faults
        }
    }

    package var isSuccess: Bool { if case .success = self { true } else { false } }
    package var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// What `didFinish` closures are told of this outcome: they know no cancellation but the error.
    package var result: Outcome { isSuccess ? self : .failure(Array(faults.prefix(1))) }
}

/// An error, as far as it is to be the same everywhere.
package struct Fault: Codable, Sendable, Hashable {
    package enum Kind: Codable, Sendable, Hashable {
        /// A body, or a condition, has failed with this text.
        case own(String)
        /// The node with this name was cancelled.
        case cancelled(String)
        case timeout
        case deadline
        case queueTimeout
        case duplicate
        case failedDependencies
        case cancelledDependencies
        case negated
        /// Several of those that are required together do not hold.
        case severalRefuse
        /// None of the alternatives holds.
        case noAlternative
        case receivedNothing
        case workerLost
        case other(String)
    }

    package var kind: Kind
    /// Who has published it: a node's name, or a condition's.
    package var publisher: String?
    package var isOfCondition: Bool

    package init(_ kind: Kind, by publisher: String?, isOfCondition: Bool = false) {
        self.kind = kind
        self.publisher = publisher
        self.isOfCondition = isOfCondition
    }

    package var isCancellation: Bool { if case .cancelled = kind { true } else { false } }
    package var isDuplicate: Bool { kind == .duplicate }
}

/// How texts in histories are made, so that every value and error names the run that it came from.
package enum Texts {
    package static let scriptedCondition = "ScriptedCondition"
    package static let negatedCondition = "Not<ScriptedCondition>"
    package static let allCondition = "AndCondition"
    package static let anyCondition = "OrCondition"

    package static func failure(of node: Int, run: Int) -> String { "\(GraphPlan.name(of: node))!\(run)" }

    package static func value(of node: Int, run: Int, from received: Received?) -> String {
        let own = "\(GraphPlan.name(of: node))#\(run)"
        switch received {
        case nil: return own
        case .value(let value): return "\(own)(\(value))"
        case .values(let values): return "\(own)(\(values.joined(separator: ",")))"
        case .failure: return "\(own)(-)"
        }
    }

    package static func element(_ index: Int, of node: Int, run: Int) -> String { "\(GraphPlan.name(of: node))#\(run):\(index)" }

    package static func no(of node: Int, condition: Int) -> String { "\(GraphPlan.name(of: node))?\(condition)" }
}
