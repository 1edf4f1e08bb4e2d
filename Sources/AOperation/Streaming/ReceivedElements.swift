import Foundation

/// What a ``StreamReceiver`` receives: the elements of one attempt of its producer, from the first one.
///
/// The sequence ends after the last element of a producer that has succeeded. It throws ``AOperationError``: the first
/// error of a producer that did not, after its last element; ``AOperationError/PartialResultsMissed`` if elements were
/// gone before they were read; ``AOperationError/StreamVoided`` when the producer has begun anew.
///
/// In one process at most ``PartialResultOperation/partialResultsHeldMax`` elements are kept. A receiver that runs, or has its
/// slot, holds `await send(_:)` of its producer back when it is behind; one that waits for a slot, or for something else, does
/// not, and misses what gave way.
public struct ReceivedElements<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = any Error

    private let reading: Reading

    /// From an operation of this process.
    ///
    /// - Parameter early: a reader that was opened before.
    init(of producer: AOperation, _ channel: PartialResultChannel<Element>, early: PartialResultReader<Element>?) {
        reading = Reading(producer: producer.publisherName, first: early) { PartialResultReader(of: producer, channel, as: .listener) }
    }

    /// From another process.
    ///
    /// - Parameters:
    ///   - producer: its name in errors.
    ///   - cursor: opens a reader, from the first element.
    package init(of producer: String, cursor: @escaping @Sendable () -> any StreamCursor) {
        reading = Reading(producer: producer) { RemoteElementReader<Element>(cursor()) }
    }

    /// Nothing more is read: the attempt that has received them is over.
    func end() { reading.end() }

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reading.take(), producer: reading.producer) }

    public struct Iterator: AsyncIteratorProtocol {
        /// Nil when the end has been told.
        private var reader: ReaderSlot?
        private let producer: String

        fileprivate init(reader: ReaderSlot, producer: String) {
            self.reader = reader
            self.producer = producer
        }

        public mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            guard let slot = reader else { return nil }
            guard let current = slot.reader else { throw end(AOperationError.StreamVoided(producer: producer)) }
            let event: PartialResultEvent<Element>?
            do throws(AOperationError) {
                event = try await current.next()
            } catch {
                reader = nil
                throw error
            }
            switch event {
            case .element(let element, _, _)?: return element
            case .restarted?: throw end(AOperationError.StreamVoided(producer: producer))
            case .missed(let count)?: throw end(AOperationError.PartialResultsMissed(operation: producer, count: count))
            case nil:
                reader = nil
                return nil
            }
        }

        private mutating func end(_ error: any Error) -> AOperationError {
            reader = nil
            return AOperationError(error, state: .execution, publisher: producer)
        }
    }

    /// A reader that is let go when its iterator is, or when the attempt that reads is over.
    fileprivate final class ReaderSlot: Sendable {
        private let kept: Guarded<(any ElementReader<Element>)?>

        init(_ reader: (any ElementReader<Element>)?) { kept = Guarded(reader) }

        var reader: (any ElementReader<Element>)? { kept.withLock { $0 } }

        func end() {
            let reader = kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
            withExtendedLifetime(reader) {}  // released outside of the lock
        }
    }

    private final class Reading: Sendable {
        private struct State {
            /// Reads from before the first iterator, so that nothing gives way meanwhile.
            var first: ReaderSlot?
            var taken: [WeakSlot] = []
            var isOver = false
        }

        private struct WeakSlot { weak var slot: ReaderSlot? }

        let producer: String
        private let open: @Sendable () -> any ElementReader<Element>
        private let state: Guarded<State>

        init(
            producer: String, first: (any ElementReader<Element>)? = nil, open: @escaping @Sendable () -> any ElementReader<Element>
        ) {
            self.producer = producer
            self.open = open
            state = Guarded(State(first: ReaderSlot(first ?? open())))
        }

        func take() -> ReaderSlot {
            let first = state.withLock { state in
                defer { state.first = nil }
                return state.first
            }
            let slot = first ?? ReaderSlot(open())
            let isOver = state.withLock { state in
                state.taken.removeAll { $0.slot == nil }
                state.taken.append(WeakSlot(slot: slot))
                return state.isOver
            }
            if isOver { slot.end() }
            return slot
        }

        func end() {
            let slots = state.withLock { state in
                defer {
                    state.first = nil
                    state.taken = []
                    state.isOver = true
                }
                return state.taken.map(\.slot) + [state.first]
            }
            for slot in slots { slot?.end() }
        }
    }
}

/// One reader of an operation's elements.
protocol ElementReader<Element>: AnyObject, Sendable {
    associatedtype Element

    /// The next event; nil at the end of a success.
    nonisolated(nonsending)
        func next() async throws(AOperationError) -> PartialResultEvent<Element>?
}

extension PartialResultReader: ElementReader {}

/// The elements of one attempt of an operation that runs in another process.
package protocol StreamCursor: AnyObject, Sendable {
    /// The next one.
    ///
    /// - Throws: `CancellationError` when its task is cancelled, or nothing more can be had.
    func next() async throws -> StreamEvent
}

package enum StreamEvent: Sendable {
    case element(EncodedValue, index: Int)
    /// So many elements are gone.
    case missed(count: Int)
    /// Another attempt has begun.
    case voided
    /// The operation has ended; with an error unless it succeeded.
    case ended(AOperationError?)
}

private final class RemoteElementReader<Element: Sendable>: ElementReader {
    private let cursor: any StreamCursor

    init(_ cursor: any StreamCursor) { self.cursor = cursor }

    nonisolated(nonsending)
        func next() async throws(AOperationError) -> PartialResultEvent<Element>?
    {
        let event: PartialResultEvent<Element>?
        do {
            switch try await cursor.next() {
            case .element(let value, let index): event = .element(try value.decoded(), attempt: 0, index: index)
            case .missed(let count): event = .missed(count: count)
            case .voided: event = .restarted(attempt: 0)
            case .ended(nil): event = nil
            case .ended(let error?): throw error
            }
        } catch {
            throw error as? AOperationError ?? AOperationError(error)
        }
        return event
    }
}

extension StreamReceiver {
    /// What a program that hosts the operation gives it to read, until it ends.
    /// - Returns: ends the reading; to be called where its body ends before it does.
    @discardableResult
    package func receive(streamOf producer: String, cursor: @escaping @Sendable () -> any StreamCursor) -> @Sendable () -> Void {
        let elements = ReceivedElements<StreamedElement>(of: producer, cursor: cursor)
        receivedElements = elements
        onEnd { _ in elements.end() }
        return { elements.end() }
    }
}
