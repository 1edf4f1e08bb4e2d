import Foundation

/// Tells an operation's progress handlers how far it is, on the queue where its other callbacks are called.
///
/// Handlers are told of the latest step, not of every one in between: a slow handler is not buried in calls. Steps
/// that would lead back, as after a redirect, are left out.
final class ProgressReport: Sendable {
    typealias Handler = @Sendable (Progress) -> Void

    private struct Step: Equatable {
        var completed: Int64
        /// -1 while it is not known.
        var total: Int64

        var fraction: Double { total > 0 ? Double(completed) / Double(total) : 0 }
    }

    private struct State {
        var latest: Step?
        var told: Step?
        /// A call is on its way, or handlers are being called.
        var isTelling = false
        /// No further step is taken.
        var isClosed = false
    }

    private let handlers: [Handler]
    private let queue: DispatchQueue
    private let fractionMin: Double
    private let state = Guarded(State())

    /// - Parameter fractionMin: steps that are shorter than this fraction of the whole are left out.
    init(to handlers: [Handler], on queue: DispatchQueue, fractionMin: Double = 0) {
        self.handlers = handlers
        self.queue = queue
        self.fractionMin = fractionMin
    }

    /// `completed` of `total` bytes are through; a `total` that is not known is -1.
    func update(completed: Int64, of total: Int64) {
        advance { state in
            let step = Step(completed: completed, total: total)
            if step.fraction >= (state.latest.map { $0.fraction + fractionMin } ?? 0) { state.latest = step }
        }
    }

    /// All is done, whatever the total was thought to be. Nothing is told after this.
    func complete() {
        advance { state in
            let bytes = max(state.latest?.completed ?? 0, 1)
            state.latest = Step(completed: bytes, total: bytes)
            state.isClosed = true
        }
    }

    /// Nothing is told any more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.latest = state.told
        }
    }

    private func advance(_ change: (inout State) -> Void) {
        guard !handlers.isEmpty else { return }
        let mustTell = state.withLock { state in
            guard !state.isClosed else { return false }
            change(&state)
            guard state.latest != state.told, !state.isTelling else { return false }
            state.isTelling = true
            return true
        }
        if mustTell { queue.async { self.tell() } }
    }

    private func tell() {
        while let step = nextStep() {
            let progress = Progress(totalUnitCount: step.total)
            progress.completedUnitCount = step.completed
            for handler in handlers { handler(progress) }
        }
    }

    private func nextStep() -> Step? {
        state.withLock { state in
            guard let latest = state.latest, latest != state.told else {
                state.isTelling = false
                return nil
            }
            state.told = latest
            return latest
        }
    }
}
