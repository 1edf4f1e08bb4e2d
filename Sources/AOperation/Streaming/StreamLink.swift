import Foundation

/// A producer and one of its stream receivers: when that may start, and whether what it has read still counts.
///
/// Attempts of the producer are counted from 0, as the producer counts its retries.
final class StreamLink: @unchecked Sendable {
    fileprivate enum Phase {
        /// The attempt has not begun.
        case waiting
        case begun
        /// The producer has its outcome.
        case over
    }

    fileprivate struct State {
        var phase = Phase.waiting
        /// The attempt that is to begin, or runs.
        var attempt = 0
        /// Attempts of the receiver that wait for the begin.
        var waiters: [AOperation] = []
        /// The producer's attempt that the receiver's reads.
        var reading: Int?
        /// The receiver's attempt has succeeded and waits for the producer's end.
        var isKept = false
        /// How often an attempt of the receiver was given up.
        var voids = 0
        /// Reads for an attempt of the receiver that is about to execute: the producer does not outrun it.
        var early: AnyObject?
        /// An attempt of the receiver has what it reads.
        var isServed = false
        /// Lets go of what the receiver reads.
        var stopReading: (() -> Void)?
    }

    weak let producer: AOperation?
    private weak let receiver: AOperation?
    /// Opens a reader.
    private let open: () -> AnyObject?
    /// Gives an attempt of the receiver what it reads. Returns how that is let go.
    private let fill: (AOperation, _ early: AnyObject?) -> (() -> Void)?
    private let state = Guarded(State())

    init(
        from producer: AOperation, to receiver: AOperation, open: @escaping () -> AnyObject?,
        fill: @escaping (AOperation, _ early: AnyObject?) -> (() -> Void)?
    ) {
        self.producer = producer
        self.receiver = receiver
        self.open = open
        self.fill = fill
    }

    /// The two hold each other until they have ended, like those of a delivery.
    func connect(_ producer: AOperation, _ receiver: AOperation) {
        receiver.withAttachments { $0.stream = self }
        receiver.addDependency(producer)
        let isOver = producer.core.withLock { core in
            guard core.state.ending == nil else { return true }
            core.attach().streams.append(self)
            core.receivers.append(receiver)
            return false
        }
        // First: those that deliver to it are counted from the last one.
        receiver.core.withLock { $0.producers.insert(producer, at: 0) }
        if isOver { close() } else { producer.endIsFollowedOutside() }
        receiver.announceChange(isShortcut: true)
        receiver.forgetLockScan()
        producer.forgetLockScan()
    }

    var source: AOperation? { producer }

    func isFrom(_ operation: Foundation.Operation) -> Bool { operation === producer }

    // MARK: The producer

    func begin(_ attempt: Int) {
        let early = open()
        let waiters = state.withLock { state -> [AOperation] in
            guard case .waiting = state.phase, state.attempt == attempt else { return [] }
            state.phase = .begun
            state.early = early
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.dependencyEnded() }
        // Who waits for something else might wait for the producer.
        let isExpected = waiters.isEmpty ? isReceiverComing : waiters.contains(where: \.isAboutToExecute)
        if !isExpected { withdraw() }
    }

    /// Whether the receiver, which has not come to wait, is being added together with the producer, which was faster. When
    /// it has been, it says itself whether it is about to execute.
    private var isReceiverComing: Bool {
        guard let producer, let receiver, !producer.isMirror else { return false }
        let (lane, group) = producer.core.withLock { ($0.membership?.lane, $0.group) }
        guard let lane, lane.root !== Lane.outside else { return false }
        return receiver.core.withLock { core in
            // In an ordered group its turn comes after the producer's end.
            core.state.isInitialized
                ? core.group === group && group?.isOrdered != true && core.verdict == nil : core.state.ending == nil
        }
    }

    /// An attempt of the receiver is ready: if it is about to execute, the producer is not to outrun it.
    func expect() {
        guard state.withLock({ $0.isExpecting }), let early = open() else { return }
        let isWanted = state.withLock { state in
            guard state.isExpecting else { return false }
            state.early = early
            return true
        }
        if !isWanted { withExtendedLifetime(early) {} }
    }

    /// The receiver is not about to execute any more: the producer does not wait for it.
    func withdraw() {
        let early = state.withLock { state in
            defer { state.early = nil }
            return state.early
        }
        withExtendedLifetime(early) {}  // released outside of the lock
    }

    /// The attempt is over and another one follows.
    func void(_ attempt: Int) {
        defer { withdraw() }
        let (wasBegun, wasKept) = state.withLock { state -> (Bool, Bool) in
            if case .over = state.phase { return (false, false) }
            guard state.attempt == attempt else { return (false, false) }
            let wasBegun = if case .begun = state.phase { true } else { false }
            state.attempt += 1
            state.phase = .waiting
            defer { if state.isKept { state.keptIsVoid() } }
            return (wasBegun, state.isKept)
        }
        if wasKept {
            receiver?.decideOnStream(isVoid: true)
        } else if wasBegun {
            receiver?.giveUpStreamAttempt(producer?.publisherName ?? "")
        }
    }

    /// The producer has its outcome.
    func close() {
        defer { withdraw() }
        let (waiters, verdict) = state.withLock { state -> ([AOperation], Bool?) in
            if case .over = state.phase { return ([], nil) }
            state.phase = .over
            defer {
                state.waiters = []
                state.isKept = false
            }
            return (state.waiters, state.isKept ? state.reading != state.attempt : nil)
        }
        for waiter in waiters { waiter.dependencyEnded() }
        guard let verdict, let receiver else { return }
        Trampoline.run { receiver.decideOnStream(isVoid: verdict) }  // chains of streams are as long as a program makes them
    }

    // MARK: The receiver

    /// - Returns: false if it need not wait.
    func hold(_ attempt: AOperation) -> Bool {
        state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.waiters.append(attempt)
            return true
        }
    }

    /// An attempt of the receiver is about to start. False if it has to wait again.
    func beginReading() -> Bool {
        state.withLock { state in
            if case .waiting = state.phase { return false }
            state.reading = state.attempt
            return true
        }
    }

    /// It executes.
    func give(to attempt: AOperation) {
        let early = state.withLock { state in
            state.isServed = true
            defer { state.early = nil }
            return state.early
        }
        let stopReading = fill(attempt, early)
        state.withLock { $0.stopReading = stopReading }
    }

    func endReading() {
        let stopReading = state.withLock { state in
            state.isServed = false
            defer { state.stopReading = nil }
            return state.stopReading
        }
        stopReading?()
        withdraw()
    }

    /// Whether an attempt of the receiver that ends like this is not its last word.
    func isOpen(after ending: Ending) -> Bool {
        state.withLock { state in
            guard let reading = state.reading else { return false }
            if reading != state.attempt { return true }
            if case .success = ending, case .begun = state.phase { return true }
            return false
        }
    }

    enum Judgement {
        /// It is what it is.
        case counts
        /// The producer has begun anew: it does not count.
        case isVoid
        /// It counts when the producer has ended.
        case waits
    }

    /// An attempt of the receiver has ended.
    func judge(_ ending: Ending) -> Judgement {
        endReading()
        return state.withLock { state in
            guard let reading = state.reading else { return .counts }
            if reading != state.attempt {
                state.keptIsVoid()
                return .isVoid
            }
            if case .success = ending, case .begun = state.phase {
                state.isKept = true
                return .waits
            }
            return .counts
        }
    }

    /// Attempts of the receiver that were given up.
    var voids: Int { state.withLock { $0.voids } }
}

extension StreamLink.State {
    fileprivate var isExpecting: Bool {
        guard case .begun = phase else { return false }
        return early == nil && !isServed
    }

    fileprivate mutating func keptIsVoid() {
        isKept = false
        reading = nil
        voids += 1
    }
}
