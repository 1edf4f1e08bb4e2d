import Foundation

/// An operation that ends after a time, with what it received.
///
/// With `Output == Void` it may be used anywhere; with another type it passes the received value on, and fails with
/// ``AOperationError/ReceivedValueIsNil`` when nothing delivers to it. Cancelling it ends it at once.
///
/// Invariant behind `@unchecked Sendable`: `timer` is only reached under its lock; `receivedValue` is set before the
/// operation runs and read while it does.
public class DelayOperation<Output>: ResultableOperation<Output>, ReceiverOperation, @unchecked Sendable {
    enum Delay {
        case interval(TimeInterval)
        case until(Date)
        /// What is left of a time that began earlier.
        case remainder(of: TimeInterval, since: ContinuousClock.Instant)

        /// Calls `handler` when it is over; nil if it is already.
        func timer(leeway: TimeInterval, _ handler: @escaping @Sendable () -> Void) -> AOperationTimer? {
            let seconds = seconds
            guard seconds > 0 else { return nil }
            if case .until(let date) = self { return AOperationTimer(at: date, leeway: leeway, handler: handler) }
            return AOperationTimer(interval: seconds, leeway: leeway, handler: handler)
        }

        /// How long to wait from now on.
        var seconds: TimeInterval {
            switch self {
            case .interval(let seconds): seconds
            case .until(let date): date.timeIntervalSinceNow
            case .remainder(let seconds, let start): seconds - start.duration(to: .now).interval
            }
        }
    }

    public var receivedValue: Result<Output, AOperationError>?
    private let delay: Delay
    private let leeway: TimeInterval
    private let timer = Guarded<AOperationTimer?>(nil)

    init(delay: Delay, leeway: TimeInterval = 0) {
        self.delay = delay
        self.leeway = leeway
        super.init()
    }

    /// Waits for `interval` seconds from its start; zero and less, or what is no number, is no delay.
    public init(_ interval: TimeInterval) {
        delay = .interval(interval)
        leeway = 0
        super.init()
    }

    /// Waits until `date` by the clock on the wall, also if that is set meanwhile; a date that is past is no delay.
    public init(until date: Date) {
        delay = .until(date)
        leeway = 0
        super.init()
    }

    /// Waits for `interval` seconds from its start, and up to `leeway` seconds longer where the system can then wake up for several
    /// at once.
    public convenience init(interval: TimeInterval, leeway: TimeInterval = 0.001) {
        self.init(delay: .interval(interval), leeway: leeway)
    }

    /// Waits until `date`, and up to `leeway` seconds longer where the system can then wake up for several at once.
    public convenience init(date: Date, leeway: TimeInterval = 0.001) {
        self.init(delay: .until(date), leeway: leeway)
    }

    public final override func execute() {
        let isWaiting = timer.withLock { timer in
            timer = delay.timer(leeway: leeway) { [weak self] in self?.pass() }  // which asks for this lock first
            return timer != nil
        }
        guard isWaiting else { return pass() }
        if isCancelled { stop() }
    }

    public final override func cancel() {
        super.cancel()
        stop()
    }

    private func pass() {
        timer.withLock { $0 = nil }
        if let receivedValue {
            finish(with: receivedValue)
        } else if let nothing = () as? Output {
            finish(with: .success(nothing))
        } else {
            finish(with: .failure(.receivedValueIsNil(in: self)))
        }
    }

    /// Takes the timer back; the body of a cancelled operation ends with it.
    private func stop() {
        let running = timer.withLock { timer in
            defer { timer = nil }
            return timer
        }
        guard let running else { return }
        running.cancel()
        endBody()
    }
}
