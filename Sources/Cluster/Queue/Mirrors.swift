import AOperation
import Executing
import Foundation
import Synchronization
import Wire

/// What became of a node.
struct NodeChange: Sendable {
    enum News: Sendable {
        /// It came to its group while that ran.
        case added(producer: Int?)
        case started
        /// How far it has come; it has started.
        case progressed(OperationProgress)
        /// A group that is to be tried again: what has become of what is in it does not count.
        case retrying
        case ended(RemoteEnding, hasStarted: Bool)
    }

    var node: Int
    var news: News
    /// Of a group that has ended: errors of its own, besides which it has those of its children.
    var ownErrors: [AOperationError] = []
    /// Of what was cancelled: whether because its group has stopped; nil: not known.
    var isStoppedByGroup: Bool?
    /// Of a group: how often it has begun; 0: not known.
    var attempt = 0
}

/// What a group has decided in this process, and for which attempt it is kept.
struct MadeDecision {
    let decision: WireDecision
    var attempt: UInt64
}

/// What was said in this process to an end, and the number of the question.
struct MadeConclusion {
    let question: UInt32
    let conclusion: WireConclusion
}

/// The operations of a graph, to be told what becomes of them: each is told of its start once, and of its end once,
/// however often something is said.
final class Mirrors: Sendable {
    private struct State {
        var graph: OperationGraph
        /// By node.
        var isEnded: [Bool]
        var shelf = ProductShelf()
        /// What groups have decided in this process, by what they were asked; see `HostedSession`.
        var decisions: [String: MadeDecision] = [:]
        /// What was said here last to ends that do not count yet, by node.
        var conclusions: [Int: MadeConclusion] = [:]
        /// What has become of what is in groups that may begin anew.
        var attempts: GroupAttempts
        /// Whose starts are told though what they receive from has not ended here.
        let startEarly: Set<Int>
        /// Groups that have taken errors of their own when they were asked about their ends.
        var asked: Set<Int> = []
        /// What an attempt to decide has handed over first in each group: of a wrapper, whose end follows from it. By the group's node.
        var products: [Int: (attempt: UInt64, node: Int)] = [:]
        /// Called when the graph has become larger.
        var whenGrown: (@Sendable () -> Void)?

        /// Whether an operation has, or the group that somebody decides for.
        func hasEnded(_ path: String) -> Bool {
            guard let node = graph.places[path] else { return false }
            return isEnded[graph.members[node].operation == nil ? graph.members[node].parent : node]
        }
    }

    /// Makes an operation a mirror of what is, or will be, at a path.
    typealias Mirror = @Sendable (_ operation: AOperation, _ path: SubmissionPlace, _ isHosted: Bool) -> Bool

    private let state: Mutex<State>
    /// Puts what came to the graph itself, and to no group in it, into the queue.
    private let enqueue: @Sendable (AOperation) -> Void
    private let mirror: Mirror

    init(
        _ graph: OperationGraph, mirror: @escaping Mirror = { _, _, _ in false },
        enqueue: @escaping @Sendable (AOperation) -> Void = { _ in }
    ) {
        self.mirror = mirror
        state = Mutex(
            State(
                graph: graph, isEnded: graph.members.map { $0.operation == nil }, attempts: GroupAttempts(graph),
                startEarly: graph.receiversOfNets))
        self.enqueue = enqueue
    }

    /// As it has become.
    var graph: OperationGraph { state.withLock { $0.graph } }

    var haveEnded: Bool { state.withLock { $0.isEnded.allSatisfy(\.self) } }

    func hasEnded(_ node: Int) -> Bool { state.withLock { !$0.isEnded.indices.contains(node) || $0.isEnded[node] } }

    /// How many nodes are known.
    var count: Int { state.withLock { $0.isEnded.count } }

    /// Nodes that came to the graph and were dropped again, with the attempt of their group, before anything was heard of them: they have ended.
    func skip(to node: Int) {
        state.withLock { state in
            while state.isEnded.count < node {
                state.graph.appendDropped()
                state.isEnded.append(true)
            }
        }
    }

    /// Takes in one more node, which came to the graph while that ran; it is told with the changes. One at a time.
    ///
    /// - Returns: whether its operation has been cancelled here already, and that is still to be asked for there.
    func append(_ added: WireAdded, path: String) -> Bool {
        let product = state.withLock { state in
            state.shelf.take(.init(attempt: added.attempt, id: added.hasID ? added.id : nil), node: Int(added.node))
        }
        var member = OperationGraph.Member(
            operation: nil, path: path, parent: Int(added.parent), isGroup: added.kind != .operation && added.kind != .decider)
        if let product {
            product.path.settle(.success(path))
            member = product.member.moved(to: path, parent: Int(added.parent))
        } else if added.kind != .decider {
            let place = SubmissionPlace()
            place.settle(.success(path))
            let operation = added.standIn(at: path)
            if mirror(operation, place, added.hosted) {
                member = OperationGraph.Member(operation: operation, path: path, parent: member.parent, isGroup: member.isGroup)
            }
        }
        member.isDependent = member.isDependent || added.preparation
        _ = member.operation?.handOver()
        let isCancelled = member.operation?.isCancelled == true
        let whenGrown = state.withLock { [member] state in
            if added.hasProducer, !added.preparation, state.graph.isDecider(Int(added.producer), of: member.parent),
                state.products[member.parent]?.attempt != added.attempt
            {
                state.products[member.parent] = (added.attempt, state.graph.members.count)
            }
            state.graph.append(member)
            state.isEnded.append(member.operation == nil)
            return state.whenGrown
        }
        whenGrown?()
        return isCancelled
    }

    func whenGrown(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.whenGrown = handler } }

    // MARK: What is produced here

    /// Keeps what an operation has produced that executes here, or a group has decided, until it is part of the graph.
    ///
    /// - Parameter maker: the path of the operation, or of who decides for the group. When that has ended nothing more comes of it.
    /// - Throws: `ProductRefused`.
    func keep(_ produced: ProducedGraph, by maker: String, attempt: UInt64, id: String?) throws {
        var products: [Int: ProductShelf.Product] = [:]
        for (node, member) in produced.graph.members.enumerated() {
            guard let operation = member.operation else { continue }
            let product = ProductShelf.Product(member: member, path: SubmissionPlace())
            // What was cancelled before is known to have ended so.
            guard operation.hasEndedAsCancelled || mirror(operation, product.path, produced.graph.wire.nodes[node].hosted) else {
                throw ProductRefused(reason: "`\(operation.errorName)` is in another queue, or has ended; make a fresh one")
            }
            products[node] = product
            host(ofMaker: maker)?.lendCallbackQueue(to: operation)
        }
        // From here on it may be part of the graph, and who has that decides about it.
        for product in products.values { _ = product.member.operation?.handOver() }
        let isInTime = state.withLock { [products] state in
            guard !state.hasEnded(maker) else { return false }
            state.shelf.put(products, .init(attempt: attempt, id: id), by: maker)
            return true
        }
        if !isInTime { drop(products.inOrder) }
    }

    /// The operation at the path, or the group that is decided for there.
    private func host(ofMaker maker: String) -> AOperation? {
        let graph = graph
        guard let node = graph.places[maker], graph.members.indices.contains(node) else { return nil }
        return graph.members[node].operation ?? graph.members[graph.members[node].parent].operation
    }

    /// The operation at `path` has ended: what it has made, and is no part of the graph by now, will not be.
    private func dropProducts(madeBy path: String) {
        let decider = path.isEmpty ? WireNode.deciderID : "\(path)/\(WireNode.deciderID)"
        drop(state.withLock { $0.shelf.takeAll(madeBy: [path, decider]) })
    }

    /// What a group has decided here, once; it is given again to another attempt to ask for it.
    func decision(_ question: String, for attempt: UInt64) -> WireDecision? {
        state.withLock { state in
            guard let made = state.decisions[question] else { return nil }
            state.decisions[question]?.attempt = attempt
            state.shelf.move(.init(attempt: made.attempt, id: nil), to: .init(attempt: attempt, id: nil))
            return made.decision
        }
    }

    func keep(_ decision: WireDecision, _ question: String, attempt: UInt64) {
        state.withLock { $0.decisions[question] = MadeDecision(decision: decision, attempt: attempt) }
    }

    /// What was said to an end of the operation at `path`, once; it is said again to another attempt to ask.
    func conclusion(_ question: UInt32, at path: String) -> WireConclusion? {
        state.withLock { state in
            guard let node = state.graph.places[path], let made = state.conclusions[node], made.question == question else { return nil }
            return made.conclusion
        }
    }

    /// Kept until there is another question about the operation, or it has ended.
    func keep(_ conclusion: WireConclusion, _ question: UInt32, at path: String) {
        state.withLock { state in
            guard let node = state.graph.places[path], !state.isEnded[node] else { return }
            state.conclusions[node] = MadeConclusion(question: question, conclusion: conclusion)
        }
    }

    /// It will not become part of the graph.
    func discard(attempt: UInt64, id: String?) {
        drop(state.withLock { $0.shelf.takeAll(.init(attempt: attempt, id: id)) })
    }

    /// Nothing comes to the graph any more.
    func discardProducts() {
        drop(state.withLock { $0.shelf.takeAll() })
    }

    /// They are no part of the graph, and nothing is reported of them.
    private func drop(_ operations: [AOperation]) {
        for operation in operations {
            operation.remoteDidEnd(.cancelled, hasStarted: false)
            operation.cancelUnqueued()
        }
    }

    /// Changes in the order in which they came about. One after the other, never two calls at once.
    func apply(_ changes: [NodeChange]) {
        for change in changes where graph.members.indices.contains(change.node) {
            let (told, dropped) = state.withLock { state -> ([NodeChange], [AOperation]) in
                let due = state.attempts.due(change, state.graph)
                for node in due.dropped { state.isEnded[node] = true }
                return (due.changes, due.dropped.compactMap { state.graph.members[$0].operation })
            }
            drop(dropped)
            tell(told)
        }
    }

    /// How everything stands is about to be told.
    func forgetHeldEnds() { state.withLock { $0.attempts.forgetEnds() } }

    /// Paths of what was cancelled here and begins anew there: it is to be cancelled again. So it is with what had ended there when it was
    /// asked for; what was cancelled there ends by itself.
    func takeCancelledAnew() -> [String] {
        let (graph, nodes) = state.withLock { state in (state.graph, state.attempts.takeBegunAnew(state.graph)) }
        return nodes.filter { graph.members[$0].operation?.isCancelled == true }.map { graph.members[$0].path }
    }

    private func tell(_ changes: [NodeChange]) {
        let graph = graph
        for change in changes {
            guard let operation = graph.members[change.node].operation else { continue }
            switch change.news {
            case .retrying: break
            case .added(let producer): add(operation, graph.members[change.node], producer, graph)
            case .started:
                if !hasEnded(change.node) { start(operation, change.node) }
            case .progressed(let progress):
                guard !hasEnded(change.node) else { continue }
                start(operation, change.node)
                // What is known already, after a reconnect for example, is not told again.
                if operation.latestProgress != progress { operation.reportProgress(progress.fraction, message: progress.message) }
            case .ended(let ending, let hasStarted):
                let isNews = state.withLock { state in
                    defer { state.isEnded[change.node] = true }
                    state.conclusions[change.node] = nil
                    return !state.isEnded[change.node]
                }
                guard isNews else { continue }
                dropProducts(madeBy: graph.members[change.node].path)
                if let isStopped = change.isStoppedByGroup, !graph.members[change.node].isDependent {
                    let parent = graph.members[graph.members[change.node].parent].operation as? GroupOperation
                    parent?.noteCancellation(of: operation, isByGroup: isStopped)
                }
                if let (part, isMadeHere) = part(of: operation, change.node, graph) {
                    // Made for nobody as the wrapper was stopped before it was asked, or as another process was.
                    if isMadeHere { operation.cancelUnusedPart() } else { operation.giveUpPart() }
                    // It ends as that does, after it.
                    let isItsOwn = isMadeHere || operation is ResultableOperation<Void>
                    let value =
                        isItsOwn ? nil : valueNode(of: change.node, graph).flatMap { graph.members[$0].operation as? AddedOperation }
                    part.whenOver {
                        operation.remoteDidEnd(ending.with(valueOf: value).orErrors(change.ownErrors, of: part), hasStarted: hasStarted)
                    }
                    continue
                }
                if !(operation is GroupOperation), !change.ownErrors.isEmpty {
                    operation.remoteDidEnd(.failure(change.ownErrors), hasStarted: hasStarted)
                    continue
                }
                let wasAsked = state.withLock { $0.asked.contains(change.node) }
                if !change.ownErrors.isEmpty, !wasAsked { (operation as? GroupOperation)?.takeDecisionErrors(change.ownErrors) }
                operation.remoteDidEnd(ending, hasStarted: hasStarted)
            }
        }
    }

    /// Of a wrapper: what it has made. Not what it made here, if another process was asked, which submitted the same before.
    private func part(of operation: AOperation, _ node: Int, _ graph: OperationGraph) -> (AOperation, isMadeHere: Bool)? {
        guard operation.isWrapper else { return nil }
        if let product = state.withLock({ $0.products[node]?.node }), graph.members.indices.contains(product),
            let part = graph.members[product].operation
        {
            return (part, isMadeHere: part === operation.madePart)
        }
        return operation.madePart.map { ($0, isMadeHere: true) }
    }

    /// Of a wrapper that another process has decided for: who has its value, which is what the last one of wrappers in wrappers has made.
    private func valueNode(of node: Int, _ graph: OperationGraph) -> Int? {
        let products = state.withLock { $0.products }
        var current = products[node]?.node
        while let next = current, graph.members.indices.contains(next), !(graph.members[next].operation is AddedOperation) {
            current = products[next]?.node
        }
        return current.flatMap { graph.members.indices.contains($0) ? $0 : nil }
    }

    private func start(_ operation: AOperation, _ node: Int) {
        operation.remoteDidStart(isToldAtOnce: state.withLock { $0.startEarly.contains(node) })
    }

    /// Asks the operation at `path` what becomes of an end of it that does not count yet.
    func conclude(
        at path: String, _ question: WireConclusionQuestion, bytes: Data, answer: @escaping @Sendable (ConclusionAnswer) -> Void
    ) {
        let graph = graph
        guard let node = graph.places[path], let operation = graph.members[node].operation else { return answer(.final) }
        let change = NodeReport.ended(node, question).change(graph, bytes: bytes)
        guard case .ended(let ending, _)? = change?.news else { return answer(.final) }
        let own = change?.ownErrors ?? []
        if let group = operation as? GroupOperation, !own.isEmpty {
            let isNews = state.withLock { $0.asked.insert(node).inserted }
            if isNews { group.takeDecisionErrors(own) }
        }
        let retries = question.asksForRetry ? Int(question.failedAttempts) - 1 : nil
        let ask: @Sendable (RemoteEnding) -> Void = { ending in
            operation.concludeElsewhere(
                ending, hasStarted: question.started, retries: retries, tells: question.tellsWillFinish, answer: answer)
        }
        // A wrapper's end follows from that of what it has made, after it.
        guard let part = operation.madePart else { return ask(ending) }
        part.whenOver { ask(ending.orErrors(own, of: part)) }
    }

    /// As the local library does: the listeners of who has produced it, then the group.
    private func add(_ operation: AOperation, _ member: OperationGraph.Member, _ producer: Int?, _ graph: OperationGraph) {
        if let producer, graph.members.indices.contains(producer) { graph.members[producer].operation?.remoteDidProduce(operation) }
        // What is done for a condition stands beside that, as on any queue.
        if !member.isDependent, let group = graph.members[member.parent].operation as? GroupOperation {
            group.adopt(operation)
        } else {
            enqueue(operation)
        }
        let whenGrown = state.withLock { $0.whenGrown }
        whenGrown?()
    }

    /// Ends all that have not ended: they do nothing elsewhere, or what they do is not known any more. Groups come after what is
    /// in them.
    ///
    /// - Parameter wasNowhere: they have been nowhere else: those that were cancelled here, or are in a group that was, end so.
    func endRest(_ ending: RemoteEnding, wasNowhere: Bool = false) {
        let graph = graph
        let members = graph.members
        let nodes =
            members.indices.filter { !members[$0].isGroup } + members.indices.reversed().filter { members[$0].isGroup }
        let cancelled = wasNowhere ? graph.cancelledNodes : []
        apply(nodes.map { NodeChange(node: $0, news: .ended(cancelled.contains($0) ? .cancelled : ending, hasStarted: false)) })
    }
}

extension OperationGraph {
    /// Those whose operations were cancelled, and all that is inside of them. Parents come before their children.
    fileprivate var cancelledNodes: Set<Int> {
        var nodes: Set<Int> = []
        for (node, member) in members.enumerated()
        where member.operation?.isCancelled == true || node != 0 && nodes.contains(member.parent) {
            nodes.insert(node)
        }
        return nodes
    }
}

extension RemoteEnding {
    /// A wrapper's success has the value of what it has made, which it has nowhere else.
    fileprivate func with(valueOf part: AddedOperation?) -> RemoteEnding {
        guard case .success = self, let value = part?.outcome?.value else { return self }
        return .success(value)
    }

    /// A wrapper's: of a failure without errors of its own it has those of the operation that it has made.
    fileprivate func orErrors(_ own: [AOperationError], of part: AOperation) -> RemoteEnding {
        guard case .failure(let errors) = self, errors.isEmpty else { return self }
        guard own.isEmpty else { return .failure(own) }
        guard part.publishedErrors.isEmpty else { return .failure(part.publishedErrors) }
        let name = part.errorName
        let error: any Error =
            part.isCancelled
            ? AOperationError.IsCancelled(operation: name)
            : RemoteError(
                code: .unknown, typeName: "", message: "\(name) failed, and this process has not been told with what; `aop show` says it",
                exitCode: nil, signal: nil, standardError: nil, host: "", origin: "")
        return .failure([AOperationError(error, state: .execution, publisher: name)])
    }
}
