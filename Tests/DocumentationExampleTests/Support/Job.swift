import AOperation
import Foundation
import Synchronization

/// The articles' operations whose work does not matter: they do nothing and succeed.
class Job: VoidOperation, @unchecked Sendable {
    override func execute() { finish() }
}

/// How many jobs of a kind are at work at once, and the most that ever were.
final class Gauge: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func enter() {
        state.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
    }

    func leave() { state.withLock { $0.now -= 1 } }
}

/// A job that can be seen at work.
class GaugedJob: Job, @unchecked Sendable {
    var gauge: Gauge?

    override func execute() {
        gauge?.enter()
        DispatchQueue.global().async { [self] in
            gauge?.leave()
            finish()
        }
    }
}
