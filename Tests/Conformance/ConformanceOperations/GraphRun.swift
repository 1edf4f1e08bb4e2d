import AOperation
import Conformance
import Foundation
import Synchronization

/// A planned graph as operations, with listeners that note what they are told.
package final class GraphRun: Sendable {
    /// How long things may take.
    package struct Limits: Codable, Sendable {
        package var timeout: Duration
        package var deadline: Duration
        package var queueTimeout: Duration
        /// When a body that goes on after its cancellation is given up: longer than any does.
        package var grace = Duration.seconds(60)

        package init(timeout: Duration, deadline: Duration, queueTimeout: Duration) {
            self.timeout = timeout
            self.deadline = deadline
            self.queueTimeout = queueTimeout
        }
    }

    package let plan: GraphPlan
    package let place: any Place
    package let operations: [Int: AOperation]
    /// Whether `cancel()` counts when it has returned, because everything is in this process.
    private let isHere: Bool
    private let salt: String
    private let builder: OperationBuilder
    private let ends = Ends()
    private let heard = Mutex<Set<ObjectIdentifier>>([])
    private let asked = Mutex<Set<Int>>([])
    /// What pauses a node, or resumes it; false if it has ended.
    private let pauser = Mutex<(@Sendable (Int, Bool) async -> Bool)?>(nil)
    /// What was added here.
    private let added = Mutex<[Int: AOperation]>([:])
    /// What was made for other attempts of groups, each with the number of its attempt: the last ones.
    private let made = Mutex<[Int: (attempt: Int, operation: AOperation)]>([:])

    /// - Parameters:
    ///   - name: the place's name, also that of a folder.
    ///   - isHere: whether the operations run in this process.
    package init(_ plan: GraphPlan, at name: String, limits: Limits, isHere: Bool) {
        self.plan = plan
        place = Places.place(name)
        place.noteTimed(.made(isHere: isHere))
        self.isHere = isHere
        let salt = "\(name)/"
        self.salt = salt
        builder = OperationBuilder(plan: plan, place: name, salt: salt, limits: limits)
        operations = builder.make()
        ends.expect(2 * operations.count)
        for (node, operation) in operations.sorted(by: { $0.key < $1.key }) {
            // Elsewhere the same operation stands for all attempts, and is told of the last one.
            let isOfAnAttempt = isHere && !plan.groupsThatMayBeginAnew(around: node).isEmpty
            listen(to: operation, node, attempt: isOfAnAttempt ? 1 : nil)
        }
        Places.watchAttempts(at: name) { [weak self] made in self?.hearOfAttempt(made) }
        Places.watchAdditions(at: name) { [weak self] operation, node in self?.hearOfAddition(operation, node) }
    }

    package var root: GroupOperation { operations[0] as? GroupOperation ?? GroupOperation() }

    /// Adds the graph to a queue, and cancels what is to be cancelled meanwhile.
    package func start(on queue: AOperationQueue) {
        start(pausing: { _, pauses in
            queue.isSuspended = pauses
            return true
        }) { $0.add(to: queue) }
    }

    /// Hands the graph over, and cancels, pauses and resumes what is to be meanwhile.
    ///
    /// - Parameter pausing: pauses a node, or resumes it, and says whether it had not ended.
    package func start(pausing: @escaping @Sendable (_ node: Int, _ pauses: Bool) async -> Bool, _ handOver: (GroupOperation) -> Void) {
        pauser.withLock { $0 = pausing }
        for planned in plan.cancellations where planned.moment == .beforeTheQueue { cancel(planned.node, isAlone: true) }
        handOver(root)
        for planned in plan.cancellations where planned.moment == .onceAdded { cancel(planned.node) }
    }

    /// Waits until all listeners were told of all ends. False if that takes too long.
    package func ended(within limit: Duration) async -> Bool { await ends.wait(within: limit) }

    /// Makes the same operations again, and notes how they end.
    ///
    /// - Parameter submit: submits them, and waits for their end; says whether they were found to be there already.
    package func submitAgain(_ submit: @escaping @Sendable (GroupOperation) async throws -> Bool) {
        ends.expect(1)
        let operations = builder.make()
        Task { [self] in
            let isExisting = try? await submit(operations[0] as? GroupOperation ?? GroupOperation())
            place.note(.submittedAgain(isExisting: isExisting == true))
            for (node, operation) in operations.sorted(by: { $0.key < $1.key }) where isExisting == true {
                place.note(.toldAgain(node, Self.outcome(of: operation)))
            }
            ends.one()
        }
    }

    /// - Parameter isAlone: whether nothing else can have begun to stop it.
    private func cancel(_ node: Int, isAlone: Bool = false) {
        place.note(.cancelAsked(node))
        // A second cancellation of a group, or of one around it, returns while the first one may not have reached all children.
        let isFirst = asked.withLock { asked in
            defer { asked.insert(node) }
            return !asked.contains { plan.isInside(node, $0) || plan.isInside($0, node) && plan.nodes[$0].script == nil }
        }
        (made.withLock { $0[node]?.operation } ?? operations[node] ?? added.withLock { $0[node] })?.cancel()
        guard isAlone || isHere else { return }
        let hasNoMembers = plan.nodes[node].script != nil
        if hasNoMembers || isFirst && (isAlone || !plan.mayBeStoppedByOthers(around: node)) { place.note(.cancelInForce(node)) }
    }

    // MARK: Listening

    /// A group of this process is about to add it; where others decide it comes back as something else.
    private func hearOfAddition(_ operation: AOperation, _ node: Int) {
        let maker = plan.nodes[node].parent.map { plan.nodes[$0] }
        guard isHere || maker?.isHosted == true || maker?.isWrapper == true else { return }
        ends.expect(2)
        added.withLock { $0[node] = operation }
        _ = heard.withLock { $0.insert(ObjectIdentifier(operation)) }
        listen(to: operation, node)
    }

    /// This was made for another attempt of a group of this process.
    private func hearOfAttempt(_ operations: [Int: AOperation]) {
        for (node, operation) in operations.sorted(by: { $0.key < $1.key }) {
            listen(to: operation, node, attempt: count(operation, node))
        }
    }

    /// Says of which attempt an operation is that was made anew.
    private func count(_ operation: AOperation, _ node: Int) -> Int {
        made.withLock { made in
            let attempt = (made[node]?.attempt ?? 1) + 1
            made[node] = (attempt, operation)
            return attempt
        }
    }

    /// A group has ended, to which others have added something, or whose children were made anew by itself: these have ended, and it is
    /// told here.
    private func hearOfAdditions(to group: AOperation, _ node: Int) {
        let isMadeAnew = isHere && plan.isMadeAnewByItself(node)
        guard plan.nodes[node].group.map({ $0.decides || $0.sequence != nil || hasProducts(node) || isMadeAnew }) == true,
            let group = group as? GroupOperation
        else { return }
        let known = Set(operations.values.map { ObjectIdentifier($0) }).union(heard.withLock { $0 })
            .union(made.withLock { $0.values.map { ObjectIdentifier($0.operation) } })
        for child in group.operations where !known.contains(ObjectIdentifier(child)) {
            guard let child = child as? AOperation, let node = plan.node(named: child.name) else { continue }
            let outcome = Self.outcome(of: child)
            let attempt = isMadeAnew ? count(child, node) : nil
            note(.told(node, .finish(outcome)), attempt)
            note(.told(node, .result(outcome.result)), attempt)
        }
    }

    private func hasProducts(_ group: Int) -> Bool { plan.children(of: group).contains { plan.nodes[$0].maker != nil } }

    private static func outcome(of operation: AOperation) -> Outcome {
        let faults = operation.publishedErrors.map { Fault($0) }
        let here = operation as? ResultableOperation<String>
        let there = operation as? ResultableOperation<EncodedValue>
        if (operation as? VoidOperation)?.outcome?.isSuccess == true { return .success("") }
        if let text = here?.outcome?.value ?? there?.outcome?.value.flatMap({ try? $0.decoded(as: String.self) }) { return .success(text) }
        let isCancelled =
            here?.outcome?.isCancelled == true || there?.outcome?.isCancelled == true
            || (operation as? VoidOperation)?.outcome?.isCancelled == true
        return isCancelled ? .cancelled(faults) : .failure(faults)
    }

    /// - Parameter attempt: that of a group for which it was made, if there are others.
    private func listen(to operation: AOperation, _ node: Int, attempt: Int? = nil) {
        operation.addObserver(
            BlockObserver(
                startHandler: { [weak self] _ in self?.hear(.start, of: node, attempt) },
                cancelHandler: { [weak self] _ in self?.hear(.cancel, of: node, attempt) },
                finishHandler: { [weak self] operation, errors in self?.hearFinish(of: node, operation, errors, attempt) }))
        if let operation = operation as? ResultableOperation<String> {
            operation.didFinish { [self] result in hear(result.told { $0 }, of: node, attempt) }
        } else if let operation = operation as? VoidOperation {
            operation.didFinish { [self] result in hear(result.told { "" }, of: node, attempt) }
        }
        if isHere, !plan.products(of: node).isEmpty {
            operation.didProduce { [weak self] product in
                guard let self, let product = product as? AOperation, let node = plan.node(named: product.name) else { return }
                hearOfAddition(product, node)
            }
        }
        if plan.nodes[node].holdsEnd { hold(operation, node) }
        if plan.nodes[node].asksAboutRetry { askAboutRetry(operation, node) }
        guard plan.nodes[node].group == nil else {
            if !isAwaitedLater(attempt) { ends.one() }
            return
        }
        operation.whenOver { [self] in
            note(.over(node), attempt)
            ends.one()
        }
    }

    /// Whether its ends are awaited from its first one on: an attempt that was made need not begin, and then nothing is heard of it.
    private func isAwaitedLater(_ attempt: Int?) -> Bool { attempt.map { $0 > 1 } ?? false }

    private func note(_ event: Event, _ attempt: Int?) { place.note(attempt.map { Event.attempt($0, event) } ?? event) }

    private func hold(_ operation: AOperation, _ node: Int) {
        if let operation = operation as? ResultableOperation<String> {
            operation.willFinish { [self] result, finish in held(node, result.outcome { $0 }, finish) }
        } else if let operation = operation as? VoidOperation {
            operation.willFinish { [self] result, finish in held(node, result.outcome { "" }, finish) }
        }
    }

    private func held(_ node: Int, _ outcome: Outcome, _ finish: @escaping @Sendable () -> Void) {
        place.note(.held(node, outcome))
        guard !plan.nodes[node].holdsForEver else { return }
        DispatchQueue.global().async { [place] in
            place.note(.letGo(node))
            finish()
        }
    }

    private func askAboutRetry(_ operation: AOperation, _ node: Int) {
        let attempts = plan.nodes[node].attempts
        operation.retryOnFailure { [place] retries, error, retry in
            let again = retries + 1 < attempts
            place.note(.retryAsked(node, retries: retries, Fault(error), again: again))
            DispatchQueue.global().async { retry(again) }
        }
    }

    private func hearFinish(of node: Int, _ operation: AOperation, _ errors: [AOperationError], _ attempt: Int?) {
        if isAwaitedLater(attempt) { ends.expect(plan.nodes[node].group == nil ? 2 : 1) }
        let faults = errors.map { Fault($0) }
        var outcome = Outcome.failure(faults)
        if let operation = operation as? ResultableOperation<String> {
            if let value = operation.outcome?.value { outcome = .success(value) }
            if operation.outcome?.isCancelled == true { outcome = .cancelled(faults) }
        } else if let operation = operation as? VoidOperation {
            hearOfAdditions(to: operation, node)
            if operation.outcome?.isSuccess == true { outcome = .success("") }
            if operation.outcome?.isCancelled == true { outcome = .cancelled(faults) }
        }
        hear(.finish(outcome), of: node, attempt)
    }

    private func hear(_ telling: Telling, of node: Int, _ attempt: Int?) {
        note(.told(node, telling), attempt)
        switch telling {
        case .start:
            pauseAll(atStartOf: node)
            cancelAll { $0 == .atStart(of: node) }
        case .finish: cancelAll { $0 == .atEnd(of: node) }
        case .cancel: break
        case .result: ends.one()
        }
    }

    private func pauseAll(atStartOf node: Int) {
        guard let pausing = pauser.withLock({ $0 }) else { return }
        for planned in plan.pauses where planned.trigger == node {
            ends.expect(1)
            Task { [self] in
                if await pausing(planned.node, true) { place.note(.paused(planned.node)) }
                for _ in 0..<planned.ticks { try? await place.tick() }
                place.note(.resumed(planned.node))
                _ = await pausing(planned.node, false)
                ends.one()
            }
        }
    }

    private func cancelAll(_ isDue: (CancellationPlan.Moment) -> Bool) {
        for planned in plan.cancellations where isDue(planned.moment) {
            DispatchQueue.global().async { self.cancel(planned.node) }
        }
    }
}

extension Result where Failure == AOperationError {
    /// What a `didFinish` closure was told.
    fileprivate func told(_ value: (Success) -> String) -> Telling { .result(outcome(value)) }

    fileprivate func outcome(_ value: (Success) -> String) -> Outcome {
        switch self {
        case .success(let success): .success(value(success))
        case .failure(let error): .failure([Fault(error)])
        }
    }
}

/// Counts ends, and wakes who waits for the last one.
private final class Ends: Sendable {
    private struct State {
        var open = 0
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    func expect(_ count: Int) { state.withLock { $0.open += count } }

    func one() {
        let waiter = state.withLock { state in
            state.open -= 1
            guard state.open == 0 else { return nil as CheckedContinuation<Bool, Never>? }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    private func giveUp() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: false)
    }

    func wait(within limit: Duration) async -> Bool {
        let alarm = Task {
            try await Task.sleep(for: limit)
            giveUp()
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.open > 0 { state.waiter = continuation }
                return state.open <= 0
            }
            if isOver { continuation.resume(returning: true) }
        }
    }
}
