import AOperation
import Conformance
import Foundation
import Synchronization

/// A planned graph as operations, with listeners that note what they are told.
package final class GraphRun: Sendable {
    /// How long things may take.
    package struct Limits: Sendable {
        package var timeout: Duration
        package var deadline: Duration
        /// When a body that goes on after its cancellation is given up: longer than any does.
        package var grace = Duration.seconds(60)

        package init(timeout: Duration, deadline: Duration) {
            self.timeout = timeout
            self.deadline = deadline
        }
    }

    package let plan: GraphPlan
    package let place: any Place
    package let operations: [AOperation]
    /// Whether `cancel()` counts when it has returned, because everything is in this process.
    private let isHere: Bool
    private let salt: String
    private let ends = Ends()
    private let asked = Mutex<Set<Int>>([])

    /// - Parameters:
    ///   - name: the place's name, also that of a folder.
    ///   - isHere: whether the operations run in this process.
    package init(_ plan: GraphPlan, at name: String, limits: Limits, isHere: Bool) {
        self.plan = plan
        place = Places.place(name)
        self.isHere = isHere
        let salt = "\(name)/"
        self.salt = salt
        operations = OperationBuilder(plan: plan, place: name, salt: salt, limits: limits).make()
        ends.expect(2 * plan.nodes.count)
        for node in plan.nodes.indices { listen(to: node) }
    }

    package var root: GroupOperation { operations[0] as? GroupOperation ?? GroupOperation() }

    /// Adds the graph to a queue, and cancels what is to be cancelled meanwhile.
    package func start(on queue: AOperationQueue) {
        for planned in plan.cancellations where planned.moment == .beforeTheQueue { cancel(planned.node, isInForce: true) }
        root.add(to: queue)
        for planned in plan.cancellations where planned.moment == .onceAdded { cancel(planned.node, isInForce: isHere) }
    }

    /// Waits until all listeners were told of all ends. False if that takes too long.
    package func ended(within limit: Duration) async -> Bool { await ends.wait(within: limit) }

    private func cancel(_ node: Int, isInForce: Bool) {
        place.note(.cancelAsked(node))
        // A second cancellation of a group returns while the first one may not have reached all children.
        let isFirst = asked.withLock { asked in
            defer { asked.insert(node) }
            return asked.isDisjoint(with: [node] + plan.ancestors(of: node))
        }
        operations[node].cancel()
        if isInForce, isFirst || plan.nodes[node].script != nil { place.note(.cancelInForce(node)) }
    }

    // MARK: Listening

    private func listen(to node: Int) {
        let operation = operations[node]
        operation.addObserver(
            BlockObserver(
                startHandler: { [weak self] _ in self?.hear(.start, of: node) },
                cancelHandler: { [weak self] _ in self?.hear(.cancel, of: node) },
                finishHandler: { [weak self] operation, errors in self?.hearFinish(of: node, operation, errors) }))
        if let operation = operation as? ResultableOperation<String> {
            operation.didFinish { [self] result in hear(result.told { $0 }, of: node) }
        } else if let operation = operation as? VoidOperation {
            operation.didFinish { [self] result in hear(result.told { "" }, of: node) }
        }
        guard let leaf = operation as? any ClusterOperation else { return ends.one() }
        leaf.whenEnded { [self] _ in
            place.note(.over(node))
            ends.one()
        }
    }

    private func hearFinish(of node: Int, _ operation: AOperation, _ errors: [AOperationError]) {
        let faults = errors.map { Fault($0) }
        var outcome = Outcome.failure(faults)
        if let operation = operation as? ResultableOperation<String> {
            if let value = operation.outcome?.value { outcome = .success(value) }
            if operation.outcome?.isCancelled == true { outcome = .cancelled(faults) }
        } else if let operation = operation as? VoidOperation {
            if operation.outcome?.isSuccess == true { outcome = .success("") }
            if operation.outcome?.isCancelled == true { outcome = .cancelled(faults) }
        }
        hear(.finish(outcome), of: node)
    }

    private func hear(_ telling: Telling, of node: Int) {
        place.note(.told(node, telling))
        switch telling {
        case .start: cancelAll { $0 == .atStart(of: node) }
        case .finish: cancelAll { $0 == .atEnd(of: node) }
        case .cancel: break
        case .result: ends.one()
        }
    }

    private func cancelAll(_ isDue: (CancellationPlan.Moment) -> Bool) {
        for planned in plan.cancellations where isDue(planned.moment) {
            DispatchQueue.global().async { self.cancel(planned.node, isInForce: self.isHere) }
        }
    }
}

extension Result where Failure == AOperationError {
    /// What a `didFinish` closure was told.
    fileprivate func told(_ value: (Success) -> String) -> Telling {
        switch self {
        case .success(let success): .result(.success(value(success)))
        case .failure(let error): .result(.failure([Fault(error)]))
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
