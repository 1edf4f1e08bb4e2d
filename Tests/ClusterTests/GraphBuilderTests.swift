import AOperation
import Executing
import Foundation
import Synchronization
import Testing
import TrialOperations
import Wire

@testable import Cluster

/// What becomes of a graph of operations on its way to the cluster.
@Suite struct GraphBuilderTests {
    private func graph(_ operations: AOperation...) -> OperationGraph { GraphBuilder.graph(of: operations) }

    @Test func loneGroup_isTheRoot_nodesAreInPreOrder() {
        let inner = GroupOperation(Emit("a"), Emit("b"))
        inner.maxConcurrentOperationCount = 2
        let last = Emit("c")
        last.name = "last one"
        let graph = graph(OrderedGroupOperation([inner, last], onFailure: .stop))
        #expect(graph.faults.isEmpty)
        #expect(graph.members.map(\.path) == ["", "group", "group/Emit", "group/Emit-2", "last one"])
        #expect(graph.wire.nodes.map(\.parent) == [0, 0, 1, 1, 0])
        #expect(graph.wire.nodes[0].group.ordered && graph.wire.nodes[0].group.stopOnFailure)
        #expect(graph.wire.nodes[1].group.maxConcurrent == 2)
        #expect(graph.wire.nodes[2].operation.type == "Emit")
        #expect(graph.top == [0])
    }

    @Test func delivery_becomesReceives_orderBecomesAfter() {
        let (a, b, join, shout) = (Emit("a"), Emit("b"), Join(), Shout())
        [b, a].deliver(to: join).deliver(to: shout)
        let last = Emit("last")
        last.addDependency(shout)
        let graph = graph(a, b, join, shout, last)
        #expect(graph.faults.isEmpty)
        #expect(graph.members[0].operation == nil)
        #expect(graph.wire.nodes[3].receives == [2, 1])
        #expect(graph.wire.nodes[3].receivesArray)
        #expect(graph.wire.nodes[3].after.isEmpty)
        #expect(graph.wire.nodes[4].receives == [3])
        #expect(!graph.wire.nodes[4].receivesArray)
        #expect(graph.wire.nodes[5].after == [4])
        #expect(graph.top == [1, 2, 3, 4, 5])
    }

    @Test func stream_isThatOfTheNode_andNoOrder() {
        let drip = Drip(.init(count: 1, log: ""))
        let gather = drip.stream(to: Gather(.init(log: "")).retry(RetryPolicy(attempts: 2)))
        let graph = graph(drip, gather)
        #expect(graph.faults.isEmpty, "\(graph.faults)")
        #expect(graph.wire.nodes.map(\.hasStream) == [false, false, true])
        #expect(graph.wire.nodes[2].stream == 1)
        #expect(graph.wire.nodes[2].after.isEmpty && graph.wire.nodes[2].receives.isEmpty)
        let (here, there) = (Drip(.init(count: 1, log: "")), Gather(.init(log: "")))
        here.stream(to: there)
        let text = "receives the stream of `Drip`, which was submitted before, or is in another queue"
        #expect(self.graph(there).faults.contains { $0.message.contains(text) })
    }

    @Test func streamsOfThisProcess_areTaken_butNotElementsWithoutAWireForm() {
        let (drip, sink) = (Drip(.init(count: 1, log: "")), Sink())
        drip.stream(to: sink)
        #expect(graph(drip, sink).faults.isEmpty)
        let (source, gather) = (Source(), Gather(.init(log: "")))
        source.stream(to: gather)
        #expect(graph(source, gather).faults.isEmpty)
        let (opaque, taker) = (OpaqueSource(), OpaqueSink())
        opaque.stream(to: taker)
        #expect(graph(opaque, taker).faults.contains { $0.message.contains("streams elements that have no wire form (Opaque)") })
        let read = OpaqueSource()
        let results = read.partialResults()
        #expect(graph(read).faults.contains { $0.message.contains("has readers of its partial results, which have no wire form (Opaque)") })
        withExtendedLifetime(results) {}
    }

    @Test func listOfOne_isAList_groupIsAProducer() {
        let (a, join) = (Emit("a"), Join())
        [a].deliver(to: join)
        let group = GroupOperation(Emit("x"), Emit("y"))
        let all = Join()
        group.deliver(to: all)
        let graph = graph(a, join, group, all)
        #expect(graph.faults.isEmpty)
        #expect(graph.wire.nodes[2].receivesArray)
        #expect(graph.wire.nodes.last?.receives == [3])
        #expect(graph.wire.nodes.last?.receivesArray == false)
    }

    @Test func crashLimit_isThatOfTheNode() {
        let graph = GraphBuilder.graph(of: [GroupOperation(Emit("a").crashLimit(2), Emit("b")).crashLimit(9)])
        #expect(graph.wire.nodes.filter { !$0.id.isEmpty }.map { $0.hasCrashLimit ? $0.crashLimit : 0 } == [2, 0])
        #expect(graph.wire.nodes[0].crashLimit == 9)
    }

    @Test func requirements_becomeThoseOfTheNode() {
        let operation = Emit("a").requires(gpus: 2, memory: 1 << 20, labels: ["fast", "b"]).requires(
            labels: ["b"], resources: ["licence": 0])
        let group = GroupOperation(operation, Emit("b").requires(cpus: -1)).requires(labels: ["zone=a"])
        let graph = graph(group)
        #expect(graph.wire.nodes[0].requires.labels == ["zone=a"])
        #expect(graph.wire.nodes[1].requires.labels == ["b", "fast"])
        #expect(graph.wire.nodes[1].requires.resources.map(\.name) == ["gpus", "licence", "memory"])
        #expect(graph.wire.nodes[1].requires.resources.map(\.amount) == [2, 0, 1 << 20])
        #expect(graph.faults.count == 1)
        #expect(!self.graph(Emit("a")).wire.nodes[1].hasRequires)
    }

    @Test func atMostOnce_isThatOfTheNode() {
        let graph = graph(GroupOperation(Emit("a").atMostOnce(), Emit("b")), GroupOperation(Emit("c")).atMostOnce())
        #expect(graph.faults.isEmpty)
        #expect(graph.wire.nodes.map(\.atMostOnce) == [false, false, true, false, true, false])
    }

    @Test func options_becomeNodeOptions() {
        let operation = Emit("a").exclusive("key", limit: 3).exclusive("key", limit: 2).conditions(MutuallyExclusive<Int>())
            .retry(RetryPolicy(attempts: 4)).timeout(.seconds(2)).queueTimeout(.seconds(3)).deadline(.milliseconds(4_500))
            .delay(.seconds(1))
        operation.grace = .milliseconds(700)
        let node = graph(operation).wire.nodes[1]
        #expect(node.exclusive.map(\.key) == ["AOperation.MutuallyExclusive<Swift.Int>", "key"])
        #expect(node.exclusive.map(\.limit) == [1, 2])
        #expect(node.retries == 3)
        #expect(node.timeoutMilliseconds == 2_000)
        #expect(node.queueTimeoutMilliseconds == 3_000)
        #expect(node.deadlineMilliseconds == 4_500)
        #expect(node.delayMilliseconds == 1_000)
        #expect(node.graceMilliseconds == 700)
    }

    @Test(
        arguments: [
            (RetryPolicy.Backoff.none, WireBackoff.Kind.constant, UInt64(0)), (.constant(.seconds(2)), .constant, 2_000),
            (.linear(.milliseconds(5)), .linear, 5), (.exponential(.seconds(1)), .exponential, 1_000),
            (.fibonacci(.seconds(3)), .fibonacci, 3_000),
        ])
    func backoff_isTheSameThere(_ backoff: RetryPolicy.Backoff, _ kind: WireBackoff.Kind, _ initial: UInt64) {
        let policy = RetryPolicy(attempts: 2, backoff: backoff, cap: .seconds(9), jitter: 0.25)
        let node = graph(Emit("a").retry(policy)).wire.nodes[1]
        #expect(node.retries == 1)
        #expect(node.backoff.kind == kind)
        #expect(node.backoff.initialMilliseconds == initial)
        #expect(node.backoff.maxMilliseconds == 9_000)
        #expect(node.backoff.jitterPermille == 250)
    }

    @Test(arguments: [(2.0, 2_000), (1.5, 1_500), (0.5, 1_000), (.nan, 1_000), (.infinity, 1_000_000)])
    func factorOfABackoff_isTheSameThere(_ factor: Double, _ permille: UInt32) {
        let policy = RetryPolicy(attempts: 2, backoff: .exponential(.seconds(1), factor: factor))
        #expect(graph(Emit("a").retry(policy)).wire.nodes[1].backoff.factorPermille == permille)
    }

    /// They may have been set since the policy was made.
    @Test(arguments: [(0.25, 250), (7.0, 1_000), (.infinity, 1_000), (-1.0, 0), (.nan, 0)])
    func jitterAndAttemptsOutOfTheirBounds_areTheNearestThere(_ jitter: Double, _ permille: UInt32) {
        var policy = RetryPolicy(attempts: 2)
        (policy.attempts, policy.jitter) = (.min, jitter)
        let node = graph(Emit("a").retry(policy)).wire.nodes[1]
        #expect(node.retries == 0)
        #expect(node.backoff.jitterPermille == permille)
    }

    /// On a queue, too, what never comes is waited for, and what is no date is not.
    @Test(
        arguments: [
            (1.5, 1_500), (.infinity, 253_402_300_799_999), (1e16, 253_402_300_799_999), (.nan, 0), (-1.0, 0),
        ])
    func notBefore_isADateThatTheCoordinatorTakes(_ seconds: TimeInterval, _ milliseconds: Int64) {
        #expect(graph(Emit("a").notBefore(Date(timeIntervalSince1970: seconds))).wire.nodes[1].notBefore == milliseconds)
    }

    @Test func priority_isTheSameThere() {
        let operation = Emit("a")
        operation.queuePriority = .high
        let nodes = graph(operation, Emit("b")).wire.nodes
        #expect(nodes[1].priority == 4 && nodes[1].hasPriority)
        #expect(!nodes[2].hasPriority)
    }

    /// Evaluated by a worker, under a lock of its own.
    struct Quiet: ClusterCondition {
        static var isMutuallyExclusive: Bool { true }
        var from = 22
        var dependent = false

        var dependentOperation: AOperation? { dependent ? Emit("dependent") : nil }
    }

    @Test func conditions_becomeConditionsOfTheNode() throws {
        let server = try #require(URL(string: "tcp://db:5432"))
        let operation = Emit("a").conditions(
            NoFailedDependencies(), NegatedCondition(NoCancelledDependencies()), TrueCondition(),
            ReachabilityCondition(url: server, waitToConnect: true), NegatedCondition(SilentCondition(Quiet(dependent: true))),
            MutuallyExclusive<Int>())
        let graph = graph(operation)
        #expect(graph.faults.isEmpty)
        let node = graph.wire.nodes[1]
        #expect(
            node.conditions.map(\.kind) == [
                .noFailedDependencies(.init()), .noCancelledDependencies(.init()),
                .probe(
                    .with {
                        $0.type = "reachable"; $0.wait = true; $0.parameters = 0
                    }),
                .probe(
                    .with {
                        $0.type = "Quiet"; $0.parameters = 1
                    }),
            ])
        #expect(node.conditions.map(\.negated) == [false, true, false, true])
        #expect(
            graph.wire.parameters.prefix(2).map { String(decoding: $0, as: UTF8.self) } == [
                #"{"url":"tcp:\/\/db:5432"}"#, #"{"dependent":true,"from":22}"#,
            ])
        #expect(node.exclusive.map(\.key).count == 2)
    }

    /// Evaluated in this process.
    struct BlockedBy: AOperationCondition {
        let make: () -> AOperation

        init(_ make: @escaping () -> AOperation) { self.make = make }

        var dependentOperation: AOperation? { make() }
    }

    @Test func dependentOperations_areNodesInTheNode_andChildrenOfNothing() {
        let inner = GroupOperation(Emit("x"))
        let group = GroupOperation(Emit("child")).conditions(BlockedBy { inner })
        let operation = Emit("a").conditions(NoFailedDependencies(), NegatedCondition(Quiet(dependent: true)))
        let graph = graph(group, operation)
        #expect(graph.faults.isEmpty, "\(graph.faults)")
        #expect(
            graph.members.map(\.path) == [
                "", "group", "group/?group.0", "group/?group.0/Emit", "group/Emit", "Emit", "Emit/?Emit.1",
            ])
        #expect(graph.wire.nodes.map { $0.hasPrepares ? Int($0.prepares) : nil } == [nil, nil, 0, nil, nil, nil, 1])
        #expect(graph.wire.nodes.map(\.parent) == [0, 0, 1, 2, 1, 0, 5])
        #expect(graph.wire.nodes[5].conditions.map(\.negated) == [false, true])
        #expect(graph.dependents.count == 2 && graph.dependents.first === inner)
        #expect(graph.top == [1, 5])
    }

    @Test func dependentOperationsThatComeToAGraphThatRuns_areNodesInTheNode() {
        let graph = GraphBuilder.addition(of: [Emit("a").conditions(Quiet(dependent: true))], from: .worker)
        #expect(graph.faults.isEmpty, "\(graph.faults)")
        #expect(graph.members.map(\.path) == ["", "Emit", "Emit/?Emit.0"])
        #expect(graph.members.map(\.isDependent) == [false, false, true])
        #expect(graph.wire.nodes[2].prepares == 0 && !graph.wire.nodes[2].hasPreparesPart)
        let hosted = GraphBuilder.addition(of: [Emit("a").conditions(BlockedBy { AOperationBlock { $0() } })], from: .worker)
        #expect(hosted.faults.contains { $0.message.contains("was produced on a worker") }, "\(hosted.faults)")
    }

    @Test func dependentOperationsInsideOfOthers_areThoseOfParts_inTheOrderOfAWalk() {
        let whole = OrCondition(
            TrueCondition(), AndCondition(BlockedBy { Emit("x") }, SilentCondition(BlockedBy { Emit("never") })),
            IgnoredCondition(Quiet(dependent: true)))
        let operation = Emit("a").conditions(NoFailedDependencies(), whole, NegatedCondition(BlockedBy { GroupOperation(Emit("y")) }))
        let graph = graph(operation)
        #expect(graph.faults.isEmpty, "\(graph.faults)")
        #expect(
            graph.members.map(\.path) == [
                "", "Emit", "Emit/?Emit.1.1", "Emit/?Emit.1.3", "Emit/?group.2.0", "Emit/?group.2.0/Emit",
            ])
        #expect(graph.wire.nodes.map { $0.hasPrepares ? Int($0.prepares) : nil } == [nil, nil, 1, 1, 2, nil])
        #expect(graph.wire.nodes.map { $0.hasPreparesPart ? Int($0.preparesPart) : nil } == [nil, nil, 1, 3, 0, nil])
        #expect(graph.wire.nodes[1].conditions.map(\.probe.hosted) == [false, true, true])
        #expect(graph.wire.nodes[1].conditions.map(\.negated) == [false, false, false])
        #expect(graph.dependents.count == 3)
    }

    @Test func equalParameters_areSentOnce() {
        let graph = graph(Emit("a"), Emit("b"), Emit("a"))
        #expect(graph.wire.parameters.count == 2)
        #expect(graph.wire.nodes.dropFirst().map(\.operation.parameters) == [0, 1, 0])
    }

    @Test func dependencyElsewhere_isWaitedForFirst() {
        let (a, local) = (Emit("a"), BlockOperation {})
        a.addDependency(local)
        let graph = graph(a)
        #expect(graph.faults.isEmpty)
        #expect(graph.outside.map(ObjectIdentifier.init) == [ObjectIdentifier(local)])
    }

    @Test func circleThroughAnotherQueue_isRefused() {
        let (a, local, b) = (Emit("a"), BlockOperation {}, Emit("b"))
        local.addDependency(a)
        b.addDependency(local)
        #expect(graph(a, b).faults.map(\.path) == ["Emit"])
    }

    // MARK: What executes here

    @Test func whatOnlyThisProcessHas_becomesHostedNodes_inTheSameGraph() throws {
        let (emit, shout) = (Emit("a"), Shout())
        let map = MapOperationBlock<String, String> { received, finish in finish(received ?? .success("")) }
        emit.deliver(to: map).deliver(to: shout)
        let block = AOperationBlock { finish in finish() }.exclusive("key")
        block.addDependency(map)
        let graph = graph(emit, map, shout, block)
        #expect(graph.faults.isEmpty && graph.hasHostedCode)
        #expect(graph.wire.nodes.map(\.hosted) == [false, false, true, false, true])
        #expect(graph.wire.nodes.map(\.receives) == [[], [], [1], [2], []])
        #expect(graph.wire.nodes[2].operation.type == "MapOperationBlock<String, String>")
        #expect(graph.wire.nodes[4].operation.type == "AOperationBlock")
        #expect(graph.wire.nodes[4].after == [2] && graph.wire.nodes[4].exclusive.map(\.key) == ["key"])
        #expect(!self.graph(Emit("a")).hasHostedCode)
    }

    @Test func conditionsOfThisProcess_areHosted_andSoAreAllOfAnOperationThatIs() {
        let emit = Emit("a").conditions(NoFailedDependencies()).condition { $0(.success) }
        emit.conditions(NegatedCondition(ReachabilityCondition()))
        let block = AOperationBlock { finish in finish() }.conditions(Quiet())
        let graph = graph(emit, block)
        #expect(graph.faults.isEmpty && graph.hasHostedCode)
        #expect(graph.wire.nodes[1].conditions.map(\.probe.hosted) == [false, true, true])
        #expect(graph.wire.nodes[1].conditions.map(\.negated) == [false, false, false])
        #expect(graph.wire.nodes[1].conditions.map(\.probe.type) == ["", "BlockCondition", NegatedCondition<ReachabilityCondition>.key])
        #expect(graph.members[1].hostedConditions.keys.sorted() == [1, 2])
        #expect(graph.wire.nodes[2].conditions.map(\.probe.hosted) == [true])
        #expect(graph.wire.nodes[2].exclusive.count == 1)
    }

    @Test func conditionsOfBothPlaces_areEachEvaluatedInTheirs() {
        let emit = Emit("a").conditions(Quiet()).condition { $0(.success) }
        let graph = graph(emit)
        #expect(graph.faults.isEmpty)
        #expect(graph.wire.nodes[1].conditions.map(\.probe.type) == ["Quiet", "BlockCondition"])
        #expect(graph.wire.nodes[1].conditions.map(\.probe.hosted) == [false, true])
        #expect(graph.members[1].hostedConditions.keys.sorted() == [1])
    }

    @Test func whatIsMadeOfOthers_isEvaluatedHereAsAWhole_withTheLocksOfAll() {
        let emit = Emit("a").conditions(
            OrCondition(Quiet(), AndCondition(MutuallyExclusive<Int>(), NegatedCondition(Quiet(from: 1))), FalseCondition()),
            SilentCondition(AndCondition(Quiet(dependent: true), FalseCondition())), IgnoredCondition(NoFailedDependencies()))
        let graph = graph(emit)
        #expect(graph.faults.isEmpty && graph.hasHostedCode, "\(graph.faults)")
        let node = graph.wire.nodes[1]
        #expect(node.conditions.map(\.probe.hosted) == [true, true, false] && node.conditions.allSatisfy { !$0.negated })
        #expect(node.conditions.map(\.probe.type) == ["OrCondition", "Silent<AndCondition>", ""])
        #expect(node.conditions[2].composed.form == .ignored && node.conditions[2].composed.parts.count == 1)
        #expect(Set(node.exclusive.map(\.key)).count == 2)
        let refused = GraphBuilder.graph(of: [Emit("a").conditions(OrCondition(FalseCondition()))], requiresRemote: true)
        #expect(refused.faults.map(\.message).contains { $0.contains("has the condition OrCondition, which this process evaluates") })
    }

    /// A condition that workers evaluate.
    struct There: ClusterCondition {
        var n = 0
        var made: Emit? { n == 7 ? Emit("make") : nil }
        var dependentOperation: AOperation? { made }
        static var isMutuallyExclusive: Bool { true }
    }

    @Test func whatIsMadeOfWhatAClusterEvaluates_isEvaluatedThere_partByPart() throws {
        let graph = GraphBuilder.graph(
            of: [
                Emit("a").conditions(
                    There(n: 1), OrCondition(NegatedCondition(There(n: 2)), AndCondition(NoFailedDependencies(), There(n: 7))),
                    NegatedCondition(NegatedCondition(There(n: 3))),
                    SilentCondition(OrCondition(IgnoredCondition(There(n: 7)), MutuallyExclusive<Int>())))
            ], requiresRemote: true)
        #expect(graph.faults.isEmpty && !graph.hasHostedCode, "\(graph.faults)")
        let index = try #require(graph.wire.nodes.firstIndex { $0.operation.type == "Emit" && !$0.hasPrepares })
        func text(_ condition: WireCondition) -> String {
            let sign = condition.negated ? "-" : ""
            switch condition.kind {
            case .probe(let probe)?: return sign + String(decoding: graph.wire.parameters[Int(probe.parameters)], as: UTF8.self)
            case .composed(let composed)?: return "\(sign)\(composed.form)(\(composed.parts.map(text).joined(separator: ", ")))"
            case .noFailedDependencies?: return sign + "noFailed"
            default: return "?"
            }
        }
        #expect(
            graph.wire.nodes[index].conditions.map(text) == [
                #"{"n":1}"#, #"any(-{"n":2}, all(noFailed, {"n":7}))"#, #"not(-{"n":3})"#, #"any(ignored({"n":7}), all())"#,
            ])
        // Of the second of those with one: the other is silent.
        #expect(graph.wire.nodes.filter(\.hasPrepares).map(\.prepares) == [3])
        #expect(graph.wire.nodes[index].exclusive.count == 2)
    }

    @Test func gate_isAConditionOfAGroupOfOne() {
        let gated = GatedOperation(operation: Emit("a")) { true }.conditions(NoFailedDependencies())
        let graph = graph(gated, Emit("b"))
        #expect(graph.faults.isEmpty && graph.hasHostedCode, "\(graph.faults)")
        #expect(graph.wire.nodes.map(\.conditions.count) == [0, 2, 0, 0])
        #expect(graph.wire.nodes[1].conditions[1].probe.type == "Gate" && graph.wire.nodes[1].conditions[1].probe.hosted)
        #expect(graph.wire.nodes.allSatisfy { $0.decider.type.isEmpty })
        #expect(graph.members[1].hostedConditions[1]?.isGate == true)
        #expect(self.graph(GatedOperation(operation: BlockOperation {}) { true }).faults.first?.message.contains("plain operation") == true)
    }

    /// Its name is longer than a coordinator takes.
    struct Box<Content>: Sendable {}

    @Test func nameOfAGenericType_isCutWhereItIsTooLong() {
        typealias Boxes<Content> = Box<Box<Box<Box<Box<Box<Box<Box<Box<Box<Content>>>>>>>>>>
        typealias Long = Boxes<Boxes<Boxes<Int>>>
        let map = MapOperationBlock<Long, [Long]> { _, finish in finish(.success([])) }
        #expect("\(type(of: map))".utf8.count > 255)
        let type = graph(map).wire.nodes[1].operation.type
        #expect(type.utf8.count == 200 && type.hasPrefix("MapOperationBlock<Box<Box<"))
    }

    @Test func requireRemote_refusesWhatExecutesHere_eachByItsName() {
        let block = AOperationBlock { finish in finish() }
        let graph = GraphBuilder.graph(of: [Emit("a").condition { $0(.success) }, block, Emit("fine")], requiresRemote: true)
        #expect(graph.faults.map(\.path) == ["Emit", "AOperationBlock"])
        #expect(graph.faults.allSatisfy { $0.message.contains("the queue has `requireRemote`; ") })
    }

    /// Cannot leave the process.
    struct Raw: Sendable {}

    @Test func valueWithoutACodec_staysHere_orIsRefused() {
        let raw = MapOperationBlock<Void, Raw> { _, finish in finish(.success(Raw())) }
        let text = MapOperationBlock<Raw, String> { _, finish in finish(.success("text")) }
        let (shout, all) = (Shout(), MapOperationBlock<(String, Raw), Int> { _, finish in finish(.success(1)) })
        raw.deliver(to: text).deliver(to: shout)
        deliver(text, raw, to: all)
        #expect(graph(raw, text, shout, all).faults.isEmpty)
        let (other, remote) = (MapOperationBlock<Void, Raw> { _, finish in finish(.success(Raw())) }, Shout())
        remote.accept(other)
        let faults = graph(other, remote).faults.map(\.message)
        #expect(
            faults.contains { $0.contains("which executes in this process and delivers Raw, which has no codec; make that type Codable") })
    }

    @Test func whatHasASayInItsEnd_isAskedHere_withinTheTimeOfTheQueue() {
        let (held, tried) = (Emit("a").willFinish { _, finish in finish() }, Emit("b").retryOnFailure { _, _, retry in retry(false) })
        let (choosy, growing) = (
            Emit("c").retry(RetryPolicy(attempts: 2, retries: { _ in true })),
            Emit("d").retry(RetryPolicy(attempts: 2, backoff: .exponential(.seconds(1), factor: 3)))
        )
        let group = GroupOperation(Emit("e").retry(RetryPolicy(attempts: 2)).willFinish { _, finish in finish() })
        group.willFinish { _, finish in finish() }
        let operations = [held, tried, choosy, growing, group]
        let graph = GraphBuilder.graph(of: operations, hostedTimeout: .milliseconds(1_500))
        #expect(graph.faults.isEmpty && graph.hasHostedCode, "\(graph.faults)")
        #expect(graph.wire.nodes.map(\.willFinish) == [false, true, false, false, false, true, true])
        #expect(graph.wire.nodes.map(\.retryOnFailure) == [false, false, true, true, false, false, false])
        // What can be said in a graph is.
        #expect(graph.wire.nodes.map(\.retries) == [0, 0, 0, 0, 1, 0, 1])
        #expect(graph.wire.nodes.map(\.hostedTimeoutMilliseconds) == [0, 1_500, 1_500, 1_500, 0, 1_500, 1_500])
        let fresh = Emit("a").willFinish { _, finish in finish() }
        #expect(self.graph(fresh).wire.nodes[1].hostedTimeoutMilliseconds == 0)
        let refused = GraphBuilder.graph(of: [fresh, tried], requiresRemote: true).faults
        #expect(refused.count == 2 && refused.allSatisfy { $0.message.contains("the queue has `requireRemote`; ") })
    }

    // MARK: Groups that decide

    @Test func groupThatDecides_hasANodeForThat_whichIsNoneOfItsChildren() throws {
        let group = Relay(.init(log: "log", steps: ["a"]))
        let graph = graph(Emit("first"), OrderedGroupOperation(group, Emit("last")))
        #expect(graph.faults.isEmpty && !graph.hasHostedCode)
        #expect(
            graph.members.map(\.path).suffix(4) == ["ordered/Relay", "ordered/Relay/(decisions)", "ordered/Relay/Emit", "ordered/Emit"])
        let decider = graph.wire.nodes[4]
        #expect(decider.parent == 3 && decider.decider.type == "Relay" && decider.decider.version == 1 && !decider.hosted)
        #expect(decider.decider.occasion == .eachChild && !decider.decider.atBegin)
        let parameters = graph.wire.parameters[Int(decider.decider.parameters)]
        #expect(try JSONDecoder().decode(Relay.Parameters.self, from: parameters).steps == ["a"])
        #expect(graph.members[4].operation == nil)
        #expect(self.graph(Mend(.init(log: "log", steps: []))).wire.nodes[1].decider.occasion == .failures)
        let steps = self.graph(Steps(.init(log: "log", steps: ["a"])))
        #expect(steps.faults.isEmpty && !steps.hasHostedCode)
        let stepper = steps.wire.nodes[1]
        #expect(stepper.decider.type == "Steps" && stepper.decider.occasion == .steps && stepper.decider.atBegin && !stepper.hosted)
    }

    final class Subgroup: GroupOperation, @unchecked Sendable {}

    @Test func groupOfOnesOwnKind_decidesHere_andIsRefusedWhereNothingMay() {
        let graph = graph(Subgroup(Emit("a")), OperationSequence { _ in nil })
        #expect(graph.faults.isEmpty && graph.hasHostedCode)
        let deciders = graph.wire.nodes.filter { $0.hosted }
        #expect(deciders.map(\.decider.type) == ["Subgroup", "OperationSequence"])
        #expect(deciders.allSatisfy { $0.decider.atBegin })
        #expect(self.graph(ComposedOperation(operation: Emit("a"))).wire.nodes.allSatisfy { $0.decider.type.isEmpty })
        let refused = GraphBuilder.graph(of: [Subgroup(Emit("a"))], requiresRemote: true)
        #expect(refused.faults.map(\.message).contains { $0.contains("decides in this process what it does next (Subgroup)") })
    }

    final class Wrapper: WrapperOperation<Void, String>, @unchecked Sendable {
        init() { super.init { _ in Emit("inner") } }
    }

    @Test func wrapper_isAGroupForWhatItMakesHere() {
        let (emit, wrapper, shout) = (Emit("a"), Wrapper(), Shout())
        wrapper.deliver(to: shout)
        let graph = graph(emit, wrapper, shout)
        #expect(graph.faults.isEmpty && graph.hasHostedCode)
        #expect(graph.wire.nodes[3].decider.wrapper && graph.wire.nodes[3].decider.atBegin && graph.wire.nodes[3].hosted)
        #expect(graph.wire.nodes[4].receives == [2])
        #expect(!GraphBuilder.graph(of: [Wrapper()], requiresRemote: true).faults.isEmpty)
    }

    typealias Unique = GraphBuilderRefusalTests.Unique

    @Test func uniqueIds_areThoseOfTheNodes() {
        let graph = graph(Unique("one"), Unique("joined"), Emit("a"))
        #expect(graph.faults.isEmpty)
        let nodes = graph.wire.nodes.dropFirst()
        #expect(nodes.map(\.hasUnique) == [true, true, false])
        #expect(nodes.map(\.unique.id) == ["one", "joined", ""])
        #expect(nodes.map(\.unique.join) == [false, true, false])
        #expect(nodes.map(\.unique.output) == ["Int", "Int", ""])
        #expect(graph.members.map(\.uniqueId) == [nil, "one", "joined", nil])
    }

    @Test func retryAtTheEndOfANet_isThatOfTheNet() {
        let (a, shout) = (Emit("a"), Shout().retry(RetryPolicy(attempts: 2)))
        a.deliver(to: shout)
        #expect(graph(a, shout).faults.isEmpty)
        #expect(graph(a, shout).wire.nodes.map(\.retriesNet) == [false, false, true])
        let (b, between) = (Emit("b").retry(RetryPolicy(attempts: 2)), Shout().retry(RetryPolicy(attempts: 2)))
        let end = b.deliver(to: between).deliver(to: Shout())
        #expect(graph(b, between, end).wire.nodes.map(\.retriesNet) == [false, false, false, false])
        #expect(graph(b, between, end).wire.nodes.map(\.retries) == [0, 1, 1, 0])
    }

    @Test func retryOfAGroup_isThatOfTheNode_butNotOfOneThatIsAddedLater() {
        func make() -> AOperation { GroupOperation(Emit("a"), Emit("b")).retry(RetryPolicy(attempts: 3)) }
        #expect(graph(make()).faults.isEmpty)
        #expect(graph(make()).wire.nodes.map(\.retries) == [2, 0, 0])
        let faults = GraphBuilder.addition(of: [make()], from: .submitter(requiresRemote: false)).faults
        #expect(faults.contains { $0.message.contains("comes to a graph that runs") }, "\(faults)")
    }
}

/// Receive and send in this process.
private final class Sink: AsyncOperation<Int>, StreamReceiver, @unchecked Sendable {
    var receivedElements: ReceivedElements<String>?

    func new() -> Sink { Sink() }
}

private struct Opaque: Sendable {}

private final class OpaqueSource: AsyncOperation<Int>, PartialResultOperation, @unchecked Sendable {
    typealias PartialResult = Opaque
}

private final class OpaqueSink: AsyncOperation<Int>, StreamReceiver, @unchecked Sendable {
    var receivedElements: ReceivedElements<Opaque>?

    func new() -> OpaqueSink { OpaqueSink() }
}

private final class Source: AsyncOperation<Int>, PartialResultOperation, @unchecked Sendable {
    typealias PartialResult = String
}
