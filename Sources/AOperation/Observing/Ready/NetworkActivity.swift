import Foundation

/// Who uses the network, and whether the indicator shows it.
final class NetworkActivity: Sendable {
    static let shared = NetworkActivity(hideDelay: .seconds(1))

    private enum Display {
        case hidden
        case shown
        /// Shown until the timer fires, unless somebody begins before that.
        case hiding(AOperationTimer, round: Int)
    }

    private struct State {
        var active: Set<ObjectIdentifier> = []
        var display = Display.hidden
        /// Counts the times of hiding: a timer that has fired too late to be cancelled is of an earlier one.
        var round = 0
        var indicator: (@Sendable (Bool) -> Void)?

        var isShown: Bool {
            switch display {
            case .hidden: false
            case .shown, .hiding: true
            }
        }
    }

    private let state = Guarded(State())
    private let hideDelay: Duration
    /// Where the indicator is told. What is sent there under the lock arrives in the order of the changes.
    private let queue = DispatchQueue(label: "aoperation.network-activity")

    /// - Parameter hideDelay: how long the indicator stays on after the last has ended.
    init(hideDelay: Duration) {
        self.hideDelay = hideDelay
    }

    var indicator: (@Sendable (Bool) -> Void)? {
        get { state.withLock { $0.indicator } }
        set {
            state.withLock { state in
                state.indicator = newValue
                if state.isShown { tell(true, newValue) }
            }
        }
    }

    func begin(_ operation: AOperation) {
        state.withLock { state in
            state.active.insert(ObjectIdentifier(operation))
            switch state.display {
            case .shown: return
            case .hiding(let timer, _): timer.cancel()
            case .hidden: tell(true, state.indicator)
            }
            state.display = .shown
        }
    }

    /// Does nothing for an operation that did not begin, or has ended.
    func end(_ operation: AOperation) {
        state.withLock { state in
            guard state.active.remove(ObjectIdentifier(operation)) != nil, state.active.isEmpty else { return }
            state.round += 1
            let round = state.round
            let timer = AOperationTimer(interval: hideDelay.interval) { [weak self] in self?.hide(round) }
            state.display = .hiding(timer, round: round)
        }
    }

    private func hide(_ round: Int) {
        state.withLock { state in
            guard case .hiding(_, round) = state.display else { return }
            state.display = .hidden
            tell(false, state.indicator)
        }
    }

    private func tell(_ isActive: Bool, _ indicator: (@Sendable (Bool) -> Void)?) {
        guard let indicator else { return }
        queue.async { indicator(isActive) }
    }
}
