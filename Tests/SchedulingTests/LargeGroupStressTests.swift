import Foundation
import Scheduling
import Testing

/// Groups of very many children: as many as `AOP_STRESS_CHILDREN` says, up to what one submission may have.
@Suite(.timeLimit(.minutes(20)))
struct LargeGroupStressTests {
    private static let nodesMax = GraphLimits().nodesMax
    private static let children = min(
        nodesMax - 1, ProcessInfo.processInfo.environment["AOP_STRESS_CHILDREN"].flatMap(Int.init) ?? 30_000)
    private static let executor = PeerID(1)
    private static let client = PeerID(2)

    private var scheduler: Scheduler
    private var now = Instant(boot: 1_000, wall: 1_900_000_000_000)
    /// What the executor was given and has not ended, oldest first.
    private var held: [Assignment] = []
    private var ended = 0

    init() {
        var configuration = Scheduler.Configuration()
        configuration.builtInOperations = ["noop"]
        scheduler = Scheduler(configuration)
        var outputs = Outputs()
        scheduler.start(at: now, incarnation: Incarnation(7), into: &outputs)
        let identity = WorkerIdentity(incarnation: Incarnation(11), name: "host/0", host: "host", pid: 1)
        let attachment = ExecutorAttachment(
            identity: identity, slots: 4_096, operations: [OperationSignature(name: "noop")], labels: [], held: [])
        step([.executorAttached(Self.executor, attachment)])
    }

    /// The graph is submitted; its reply.
    private mutating func submit(ordered: Bool) -> Reply? {
        let children = (0..<Self.children).map { Sketch.op("\($0)") }
        let graph = Sketch.group("root", children, ordered: ordered).graph()
        return ask(
            .submit(key: "k", name: "", graph: ExaminedGraph(graph), waitForWorkers: false, cancelled: [], submitter: Incarnation(0)))
    }

    private mutating func ask(_ request: Request) -> Reply? {
        for send in step([.request(RequestID(peer: Self.client, number: 1), request)]) {
            if case .reply(_, let reply) = send.message { return reply }
        }
        return nil
    }

    /// Everything that was given to the executor ends.
    private mutating func endAll() {
        now.boot += 1
        now.wall += 1
        let ends = held.map { Input.ended(Self.executor, $0.unit, $0.attempt, .success(.void), startedAt: now.wall, at: now.wall) }
        ended += held.count
        held = []
        step([.heard(Self.executor)] + ends)
    }

    @discardableResult
    private mutating func step(_ inputs: [Input]) -> [Outputs.Send] {
        var outputs = Outputs()
        scheduler.step(inputs, at: now, into: &outputs)
        for send in outputs.sends { if case .dispatch(let assignments) = send.message { held += assignments } }
        return outputs.sends
    }

    private mutating func view() -> SubmissionView? {
        guard case .submission(let view)? = ask(.show(submission: "last")) else { return nil }
        return view
    }

    @Test(arguments: [false, true]) mutating func groupOfVeryManyChildren_endsAfterAll(ordered: Bool) {
        guard case .submitted? = submit(ordered: ordered) else {
            Issue.record("it was not admitted")
            return
        }
        while !held.isEmpty { endAll() }
        let view = view()
        #expect(view?.state == .succeeded && view?.counts.succeeded == Self.children)
        #expect(ended == Self.children)
    }

    @Test mutating func groupOfVeryManyChildren_isCancelled() {
        guard case .submitted? = submit(ordered: false) else {
            Issue.record("it was not admitted")
            return
        }
        let running = Set(held.map(\.attempt))
        _ = ask(.cancel(submission: "last", path: "", reason: "", now: false))
        #expect(view()?.state == .running, "what runs has not stopped")
        #expect(Set(held.map(\.attempt)) == running, "nothing begins any more")
        let ends = held.map { Input.ended(Self.executor, $0.unit, $0.attempt, .stopped, startedAt: now.wall, at: now.wall) }
        step(ends)
        #expect(view()?.state == .cancelled && view()?.counts.cancelled == Self.children)
    }
}
