import DequeModule
import Synchronization

/// What a follower is told, in order. One loop reads it.
///
/// At most ``unreadMax`` events wait for who reads slowly. Where more would, they are left out, as the coordinator leaves them out for
/// who takes them slowly from the connection: in their place is the view as it stands after them.
package struct FollowedEvents: AsyncSequence, Sendable {
    package typealias Element = FollowEvent

    /// About 10 MB of them.
    package static let unreadMax = 10_000

    fileprivate let unread: Unread
    /// Tells that there is something to read, and of the end.
    fileprivate let wakes: AsyncThrowingStream<Void, any Error>

    /// Whoever tells them.
    struct Source: Sendable {
        fileprivate let unread: Unread
        fileprivate let wake: AsyncThrowingStream<Void, any Error>.Continuation

        /// - Complexity: O(1), amortised.
        func yield(_ event: FollowEvent) {
            unread.add(event)
            wake.yield()
        }

        /// What has been told is read before.
        func finish(throwing error: (any Error)? = nil) { wake.finish(throwing: error) }

        /// When nobody reads any more, and after the end.
        func onTermination(_ body: @escaping @Sendable () -> Void) { wake.onTermination = { _ in body() } }
    }

    static func make() -> (FollowedEvents, Source) {
        let (wakes, wake) = AsyncThrowingStream<Void, any Error>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let unread = Unread()
        return (FollowedEvents(unread: unread, wakes: wakes), Source(unread: unread, wake: wake))
    }

    package func makeAsyncIterator() -> Iterator { Iterator(unread: unread, wakes: wakes.makeAsyncIterator()) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let unread: Unread
        fileprivate var wakes: AsyncThrowingStream<Void, any Error>.Iterator
        private var isReader = false

        fileprivate init(unread: Unread, wakes: AsyncThrowingStream<Void, any Error>.Iterator) {
            self.unread = unread
            self.wakes = wakes
        }

        /// - Throws: ``ClusterError`` with code `alreadyRead` when another loop has begun to read them: two may not wait for one stream.
        package mutating func next() async throws -> FollowEvent? {
            if !isReader {
                isReader = unread.hasReader.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
                guard isReader else {
                    throw ClusterError(.alreadyRead, "these events are read by another loop; ask the submission for its `events` once more")
                }
            }
            while true {
                if let event = unread.take() { return event }
                guard try await wakes.next() != nil else { return unread.take() }
            }
        }
    }
}

/// What was told and is not read yet.
private final class Unread: Sendable {
    private struct State {
        var events: Deque<FollowEvent> = []
        var count = 0

        mutating func append(_ event: FollowEvent) {
            events.append(event)
            count += event.count
        }
    }

    private let state = Mutex(State())
    let hasReader = Atomic(false)

    func add(_ event: FollowEvent) {
        state.withLock { state in
            switch event {
            case .interrupted:
                // Of several in a row the last one says it.
                if case .interrupted? = state.events.last { state.count -= state.events.removeLast().count }
                state.append(event)
            case .view(let view), .events(_, let view):
                guard state.count > 0, state.count + event.count > FollowedEvents.unreadMax else { return state.append(event) }
                state = State()
                state.append(.view(view))
            }
        }
    }

    func take() -> FollowEvent? {
        state.withLock { state in
            let event = state.events.popFirst()
            state.count -= event?.count ?? 0
            return event
        }
    }
}

extension FollowEvent {
    /// How much room it takes, in events.
    fileprivate var count: Int {
        switch self {
        case .view, .interrupted: 1
        case .events(let events, _): max(1, events.count)
        }
    }
}
