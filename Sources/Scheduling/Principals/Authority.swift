/// Who asks, and what they may do.
public struct Authority: Hashable, Sendable {
    /// What is submitted belongs to it; empty: the coordinator's own user, who has no key.
    public var principal: String
    /// Of the key, for those who are told why something was refused.
    public var roles: [String]
    public var maySubmit: Bool
    /// What others have submitted, and the workers and locks.
    public var mayObserve: Bool
    /// What others have submitted may be steered, locks be taken, and workers be taken out of service.
    public var mayAdminister: Bool
    /// Names of operations, groups and conditions that it may submit; empty: any.
    public var operations: [String]

    public init(
        principal: String, roles: [String], maySubmit: Bool, mayObserve: Bool, mayAdminister: Bool, operations: [String] = []
    ) {
        self.principal = principal
        self.roles = roles
        self.maySubmit = maySubmit
        self.mayObserve = mayObserve
        self.mayAdminister = mayAdminister
        self.operations = operations
    }

    /// Of the coordinator's own user, and of the coordinator itself.
    public static let unlimited = Authority(principal: "", roles: [], maySubmit: true, mayObserve: true, mayAdminister: true)

    /// - Parameter verb: what it wanted to do, as in "cancel submission x, which belongs to `y`".
    func refusal(_ verb: String, takes role: String) -> RequestFailure {
        .notPermitted(
            "`\(principal)` (\(roles.isEmpty ? "no roles" : roles.joined(separator: ", "))) may not \(verb); that takes the role `\(role)`, "
                + "which `aop keys authorize` gives on the coordinator's host, with the --dir that its log names")
    }

    func owns(_ submission: Submission) -> Bool { submission.principal == principal }

    func mayRead(_ submission: Submission) -> Bool { mayObserve || owns(submission) }

    /// What of the graph it may not submit.
    static func faults(of graph: Graph, limitedTo operations: [String]) -> [AdmissionError] {
        guard !operations.isEmpty else { return [] }
        var faults: [AdmissionError] = []
        for (index, node) in graph.nodes.enumerated() {
            for name in node.typesRun where !operations.contains(name) {
                faults.append(
                    graph.fault(
                        index,
                        "`\(name)` may not be submitted with the key of this submission, whose limit is \(operations.joined(separator: ", "))"
                    ))
            }
        }
        return faults
    }
}

extension Node {
    /// What workers run of it. What is in the process that submitted it is that one's own.
    fileprivate var typesRun: [String] {
        var names = hasOptions ? probeTypes : []
        if let registered { names.append(registered.type) }
        return names
    }
}

extension Request {
    /// The least that it takes; who owns what it is about is looked at later.
    enum Need {
        case submitting
        case submittingOrObserving
        case observing
        case administering
    }

    var need: Need {
        switch self {
        case .submit, .retry, .cancel, .pause, .resume: .submitting
        case .check, .list, .show, .operations, .follow, .unfollow, .locate, .locateOperation, .explain: .submittingOrObserving
        case .workers, .worker, .workerEvents, .locks: .observing
        case .releaseLock, .drainWorker, .resumeWorker, .removeWorker: .administering
        }
    }

    var verb: String {
        switch self {
        case .submit: "submit"
        case .check: "check graphs"
        case .cancel: "cancel"
        case .pause: "pause"
        case .resume: "resume"
        case .retry: "submit again"
        case .list: "list submissions"
        case .show, .operations, .locate, .locateOperation, .explain: "read"
        case .follow, .unfollow: "follow"
        case .workers, .worker, .workerEvents: "list the workers"
        case .locks: "list the locks"
        case .releaseLock: "take locks"
        case .drainWorker: "drain workers"
        case .resumeWorker: "resume workers"
        case .removeWorker: "remove workers"
        }
    }

    /// Why it is refused, whatever it is about; nil: it is not.
    func refusal(for authority: Authority) -> RequestFailure? {
        switch need {
        case .submitting where !authority.maySubmit: authority.refusal(verb, takes: "submit")
        case .submittingOrObserving where !authority.maySubmit && !authority.mayObserve: authority.refusal(verb, takes: "submit")
        case .observing where !authority.mayObserve: authority.refusal(verb, takes: "observe")
        case .administering where !authority.mayAdminister: authority.refusal(verb, takes: "admin")
        case .submitting, .submittingOrObserving, .observing, .administering: nil
        }
    }
}

extension Submission {
    /// For those who are told.
    var owner: String { principal.isEmpty ? "the coordinator's own user" : "`\(principal)`" }
}
