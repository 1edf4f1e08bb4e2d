import Scheduling

/// A scheduler with one executor and one client, who say the same things at the same times in every run.
struct PlayedCluster {
    private(set) var facts: [Fact] = []
    private var scheduler: Scheduler
    private var outputs = Outputs()
    private var now = Instant(boot: 1_000, wall: 1_900_000_000_000)
    /// What the executor was given and has not ended, oldest first.
    private var held: [Assignment] = []

    private static let executor = PeerID(1)
    private static let client = PeerID(2)
    /// How many ends the executor tells of at once.
    private static let batch = 32

    init() {
        var configuration = Scheduler.Configuration()
        configuration.builtInOperations = ["noop"]
        scheduler = Scheduler(configuration)
        scheduler.start(at: now, incarnation: Incarnation(7), into: &outputs)
        take()
        let identity = WorkerIdentity(incarnation: Incarnation(11), name: "host/0", host: "host", pid: 1)
        let operations = ["delay", "http", "noop", "readFile", "shell", "writeFile"].map { OperationSignature(name: $0, version: 1) }
        step([
            .executorAttached(
                Self.executor, ExecutorAttachment(identity: identity, slots: 2, operations: operations, labels: [], held: [], line: 128))
        ])
    }

    /// Submits a graph, waits for its end, and looks at all of it.
    mutating func run(_ graph: Graph) {
        let submit = Request.submit(
            key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: false, cancelled: [], submitter: Incarnation(0))
        step([
            .request(RequestID(peer: Self.client, number: 1), submit),
            .request(RequestID(peer: Self.client, number: 2), .follow(submission: "key=k", .end)),
        ])
        while !held.isEmpty {
            now.boot += 1
            now.wall += 1
            let ended = held.prefix(Self.batch)
            held.removeFirst(ended.count)
            let value = Payload(encoding: .json, storage: .inline([0x31]))
            step(
                [.heard(Self.executor)]
                    + ended.flatMap { unit -> [Input] in
                        [
                            .started(Self.executor, unit.unit, unit.attempt, at: now.wall),
                            .ended(Self.executor, unit.unit, unit.attempt, .success(value), startedAt: now.wall, at: now.wall),
                        ]
                    })
        }
        step([
            .request(
                RequestID(peer: Self.client, number: 3),
                .operations(OperationQuery(submission: "last", path: "", from: 0, limit: 0, withValues: true, failedOnly: false)))
        ])
    }

    private mutating func step(_ inputs: [Input]) {
        outputs.removeAll()
        scheduler.step(inputs, at: now, into: &outputs)
        take()
    }

    private mutating func take() {
        facts += outputs.facts
        for send in outputs.sends { if case .dispatch(let assignments) = send.message { held += assignments } }
    }
}
