import Foundation

/// Learns of the end of a plain Foundation operation, whatever runs it.
///
/// It is a Foundation dependent of the watched operation that is never put into a queue. Foundation asks the
/// dependents of a finished operation whether they are ready; that question is the signal. Unlike a completion block
/// it cannot be replaced by the program, and unlike a queued operation it costs no scheduling.
///
/// Invariants: `stage` is only reached under its lock. Foundation keeps its dependents unretained, so that the watch
/// must not go away before the watched operation has finished or `stop()` was called: its owner sees to that.
final class DependencyWatch: Foundation.Operation, @unchecked Sendable {
    /// The watched operation.
    let target: Foundation.Operation
    private let stage: Guarded<Stage>

    private enum Stage {
        /// Not watching yet.
        case idle(() -> Void)
        /// Waiting for the end of the target.
        case armed(() -> Void)
        /// The end was told, or nobody wants to hear of it any more.
        case over
    }

    init(on target: Foundation.Operation, handler: @escaping () -> Void) {
        self.target = target
        stage = Guarded(.idle(handler))
        super.init()
    }

    /// How long dependents live on that Foundation may be about to ask, though they have ended: it does so without retaining
    /// them, after the target has finished, and nothing tells when it is through.
    static let lingering = DispatchTimeInterval.seconds(1)

    /// Whether there is nothing more to tell.
    var isSpent: Bool { stage.withLock { if case .over = $0 { true } else { false } } }

    /// Starts to watch. The handler is called once: by the thread that finishes the target, or before `begin` returns
    /// when it has finished.
    func begin() {
        let isArmed = stage.withLock { stage in
            guard case .idle(let handler) = stage else { return false }
            stage = .armed(handler)
            return true
        }
        if isArmed { super.addDependency(target) }
    }

    /// Stops watching. Returns whether the handler has not been called, and now never will be.
    @discardableResult
    func stop() -> Bool {
        let wasOpen = stage.withLock { stage in
            switch stage {
            case .idle, .armed:
                stage = .over
                return true
            case .over:
                return false
            }
        }
        super.removeDependency(target)
        if wasOpen, target.isFinished {
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.lingering) { [self] in withExtendedLifetime(self) {} }
        }
        return wasOpen
    }

    /// Asked by Foundation on every change of the target that matters.
    override var isReady: Bool {
        let isReady = super.isReady
        guard isReady else { return false }
        let handler = stage.withLock { stage -> (() -> Void)? in
            guard case .armed(let handler) = stage else { return nil }
            stage = .over
            return handler
        }
        handler?()
        return true
    }
}
