import AOperation
import CLinux
import Foundation
import Synchronization
import Wire

/// One thread that watches descriptors and timers and runs what others hand it, one thing at a time.
///
/// It owns whatever is only touched from its handlers: no locks, no hops. Nothing handed to it may block.
///
/// `@unchecked Sendable`: `inbox` is guarded by its mutex; everything in `tokens`, `watched`, `timers`, `nextTimer`, `restMilliseconds`
/// and `isStopped` is touched on the loop's thread only (checked in debug builds), or before ``run()`` is called.
final class EventLoop: @unchecked Sendable {
    struct Interest: OptionSet, Sendable {
        let rawValue: UInt32
        static let readable = Interest(rawValue: CLINUX_READABLE)
        static let writable = Interest(rawValue: CLINUX_WRITABLE)
    }

    struct Timer: Hashable {
        fileprivate let number: UInt64
    }

    private struct Inbox {
        var items: [Item] = []
        /// The loop was woken, and has not taken `items` since.
        var isWoken = false
        /// The loop looks for `items` soon by itself.
        var isResting = false
        /// The loop has ended: nothing is taken any more.
        var isClosed = false
    }

    private struct Item {
        let work: @Sendable () -> Void
        /// Called in the place of `work` when the loop ends before it.
        var dropped: (@Sendable () -> Void)?
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    private let epoll: Int32
    private let wake: Int32
    private let inbox = Guarded(Inbox())
    /// A descriptor's number may be another one's by the time that what was ready with it is handled; its token is nobody else's.
    private var tokens: [Int32: UInt64] = [:]
    private var nextToken: UInt64 = 0
    private var watched: [UInt64: () -> Void] = [:]
    private static let wakeToken: UInt64 = 0
    private var timers: [Timer: (deadline: Int64, work: () -> Void)] = [:]
    private var nextTimer: UInt64 = 0
    private var restMilliseconds: Int32?
    private var isStopped = false
    private var thread: pthread_t?

    /// - Throws: ``SystemCallError`` when the kernel has no descriptors left.
    init() throws {
        epoll = try SystemCallError.check(clinux_epoll_create(), "epoll_create1")
        wake = try SystemCallError.check(clinux_wake_create(), "eventfd")
        _ = try SystemCallError.check(clinux_epoll_add(epoll, wake, CLINUX_READABLE, Self.wakeToken), "epoll_ctl")
    }

    deinit {
        close(epoll)
        close(wake)
    }

    /// Milliseconds of the clock the timers run on.
    static func now() -> Int64 { BootClock.milliseconds() }

    // MARK: From any thread

    /// Runs `work` on the loop's thread, after what was submitted before.
    ///
    /// Nothing happens once the loop has ended.
    func submit(_ work: @escaping @Sendable () -> Void) { _ = post(Item(work: work)) }

    /// As ``submit(_:)``, but a loop that ``rest(milliseconds:)`` is not woken.
    func submitUnhurried(_ work: @escaping @Sendable () -> Void) { _ = post(Item(work: work), isHurried: false) }

    /// Asks on the loop's thread, after all that was submitted before, and waits for the answer: not for that thread itself.
    ///
    /// - Returns: nil: the loop has ended.
    func ask<Value: Sendable>(_ question: @escaping @Sendable () -> Value) -> Value? {
        let answer = Answer<Value>()
        let isTaken = post(
            Item(
                work: {
                    let value = question()
                    answer.value.withLock { $0 = value }
                    answer.isThere.signal()
                },
                dropped: { answer.isThere.signal() }))
        if isTaken { answer.isThere.wait() }
        return answer.value.withLock { $0 }
    }

    /// - Returns: false: the loop has ended.
    private func post(_ item: Item, isHurried: Bool = true) -> Bool {
        let (isTaken, wakes) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false) }
            inbox.items.append(item)
            guard !inbox.isWoken, isHurried || !inbox.isResting else { return (true, false) }
            inbox.isWoken = true
            return (true, true)
        }
        if wakes { clinux_wake(wake) }
        return isTaken
    }

    // MARK: On the loop's thread

    /// Calls `handler` whenever `descriptor` is ready, errors and hang-ups included, until ``unwatch(_:)``.
    func watch(_ descriptor: Int32, _ interest: Interest, _ handler: @escaping () -> Void) throws {
        assertOnLoop()
        let token = nextToken + 1
        _ = try SystemCallError.check(clinux_epoll_add(epoll, descriptor, interest.rawValue, token), "epoll_ctl")
        nextToken = token
        tokens[descriptor] = token
        watched[token] = handler
    }

    func unwatch(_ descriptor: Int32) {
        assertOnLoop()
        guard let token = tokens.removeValue(forKey: descriptor) else { return }
        watched[token] = nil
        clinux_epoll_remove(epoll, descriptor)
    }

    /// Runs `work` once, `milliseconds` from now.
    @discardableResult
    func after(milliseconds: Int64, _ work: @escaping () -> Void) -> Timer {
        assertOnLoop()
        nextTimer += 1
        let timer = Timer(number: nextTimer)
        timers[timer] = (Self.now() + max(0, milliseconds), work)
        return timer
    }

    func cancel(_ timer: Timer) {
        assertOnLoop()
        timers[timer] = nil
    }

    /// When this turn is over, what is not hurried waits for as long, to be done together: a turn costs more than it does.
    func rest(milliseconds: Int32) {
        assertOnLoop()
        restMilliseconds = milliseconds
    }

    /// Ends ``run()`` after the current handler.
    func stop() {
        assertOnLoop()
        isStopped = true
    }

    /// Runs until ``stop()``. `afterEachTurn` is called whenever all that was ready has been handled.
    func run(afterEachTurn: () -> Void = {}) {
        thread = pthread_self()
        var ready = [UInt64](repeating: 0, count: 128)
        while !isStopped {
            let rest = beginRest()
            let count = clinux_epoll_wait(epoll, &ready, Int32(ready.count), rest ?? timeout())
            let hasWorked = rest == nil || endRest()
            precondition(count >= 0, "epoll_wait failed with errno \(errno): the loop owns its descriptor")
            for token in ready[..<Int(count)] {
                // A handler before this one may have stopped watching it.
                if token == Self.wakeToken { drainInbox() } else { watched[token]?() }
            }
            let hasFired = fireTimers()
            // A rest in which nothing came is no turn: the next thing that comes wakes the loop.
            if hasWorked || hasFired || count > 0 { afterEachTurn() }
        }
        let left = inbox.withLock { inbox in
            defer { inbox = Inbox(isClosed: true) }
            return inbox.items
        }
        for item in left { item.dropped?() }
    }

    /// Runs the loop on a thread of its own; for processes whose first thread belongs to somebody else.
    /// - Throws: `ThreadError` when the system has no thread to give.
    func runOnOwnThread(name: String) throws(ThreadError) {
        _ = try OSThread(name: name) { self.run() }
    }

    private func drainInbox() {
        clinux_wake_clear(wake)
        for item in takeInbox() { item.work() }
    }

    private func takeInbox() -> [Item] {
        inbox.withLock { inbox in
            let items = inbox.items
            inbox.items.removeAll(keepingCapacity: items.count < 4096)
            inbox.isWoken = false
            return items
        }
    }

    /// - Returns: for how long at most; nil: there is no rest.
    private func beginRest() -> Int32? {
        guard let milliseconds = restMilliseconds else { return nil }
        restMilliseconds = nil
        let mayRest = inbox.withLock { inbox in
            inbox.isResting = inbox.items.isEmpty
            return inbox.isResting
        }
        guard mayRest else { return nil }
        let timeout = timeout()
        return timeout < 0 ? milliseconds : min(timeout, milliseconds)
    }

    /// - Returns: whether something had come that did not wake the loop.
    private func endRest() -> Bool {
        // What woke the loop comes in its turn; what did not is done now.
        let items = inbox.withLock { inbox in
            inbox.isResting = false
            return inbox.isWoken ? [] : inbox.items
        }
        guard !items.isEmpty else { return false }
        for item in takeInbox() { item.work() }
        return true
    }

    private func timeout() -> Int32 {
        guard let first = timers.values.lazy.map(\.deadline).min() else { return -1 }
        return Int32(clamping: max(0, first - Self.now()))
    }

    /// - Returns: whether one was due.
    private func fireTimers() -> Bool {
        guard !timers.isEmpty else { return false }
        let now = Self.now()
        let due = timers.filter { $0.value.deadline <= now }.sorted {
            ($0.value.deadline, $0.key.number) < ($1.value.deadline, $1.key.number)
        }
        for (timer, entry) in due where timers.removeValue(forKey: timer) != nil { entry.work() }
        return !due.isEmpty
    }

    private func assertOnLoop() {
        assert(thread == nil || pthread_equal(thread ?? pthread_self(), pthread_self()) != 0, "called off the loop's thread")
    }
}
