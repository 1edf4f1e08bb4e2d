import AOperation
import AOperationCombine
import Foundation

/// A subscriber that asks only when it is told to, and writes down what it gets.
final class Recorder<Input>: Subscriber, Sendable {
    typealias Failure = AOperationError

    private let state = Guarded(State())

    private struct State {
        var lines: [String] = []
        var subscription: (any Subscription)?
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let demandPerValue: Subscribers.Demand

    init(demandPerValue: Subscribers.Demand = .none) {
        self.demandPerValue = demandPerValue
    }

    var lines: [String] { state.withLock { $0.lines } }

    var subscription: (any Subscription)? { state.withLock { $0.subscription } }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.subscription }?.request(demand)
    }

    func cancel() {
        state.withLock { $0.subscription }?.cancel()
    }

    func receive(subscription: any Subscription) {
        state.withLock { $0.subscription = subscription }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        note("\(input)")
        return demandPerValue
    }

    func receive(completion: Subscribers.Completion<AOperationError>) {
        switch completion {
        case .finished: note("finished")
        case .failure(let error): note("failure: \(error.localizedDescription)")
        }
    }

    /// Waits until so many lines have been written.
    func lines(_ count: Int) async -> [String] {
        await withCheckedContinuation { continuation in
            let isPast = state.withLock { state in
                if state.lines.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isPast { continuation.resume() }
        }
        return lines
    }

    private func note(_ line: String) {
        let woken = state.withLock { state in
            state.lines.append(line)
            let lines = state.lines.count
            let woken = state.waiters.filter { $0.count <= lines }
            state.waiters.removeAll { $0.count <= lines }
            return woken
        }
        for waiter in woken { waiter.continuation.resume() }
    }
}
