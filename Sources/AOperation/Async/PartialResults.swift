/// The partial results of an operation, as they come: see ``PartialResultOperation/partialResults(on:)``.
public struct PartialResults<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = any Error

    private let events: PartialResultEvents<Element>

    init(_ events: PartialResultEvents<Element>) {
        self.events = events
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator())
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: PartialResultEvents<Element>.Iterator

        public mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            while let event = try await events.next(isolation: actor) {
                switch event {
                case .element(let element, _, _): return element
                case .restarted: break
                case .missed(let count): throw events.end(missing: count)
                }
            }
            return nil
        }
    }
}

/// The partial results of an operation with their places, restarts and gaps: see
/// ``PartialResultOperation/partialResultEvents(on:)``.
public struct PartialResultEvents<PartialResult: Sendable>: AsyncSequence, Sendable {
    public typealias Element = PartialResultEvent<PartialResult>
    public typealias Failure = any Error

    private let reader: FirstReader<PartialResult>

    init(_ reader: FirstReader<PartialResult>) {
        self.reader = reader
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: reader.take())
    }

    public struct Iterator: AsyncIteratorProtocol {
        /// Nil when the end has been told.
        private var reader: PartialResultReader<PartialResult>?

        fileprivate init(reader: PartialResultReader<PartialResult>) {
            self.reader = reader
        }

        public mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            guard let reader else { return nil }
            do {
                if let event = try await reader.next() { return event }
                self.reader = nil
                return nil
            } catch {
                self.reader = nil
                throw error
            }
        }

        /// Ends the sequence: a gap cannot be told to the reader of bare elements.
        fileprivate mutating func end(missing count: Int) -> AOperationError {
            let name = reader?.operationName ?? ""
            reader = nil
            return AOperationError(
                AOperationError.PartialResultsMissed(operation: name, count: count), state: .execution, publisher: name)
        }
    }
}

extension PartialResultOperation {
    /// Runs the operation and reads what it sends, element by element, until it ends.
    ///
    /// ```swift
    /// for try await page in Crawl(site).partialResults(on: queue) { print(page) }
    /// ```
    /// The operation is added to `queue`, as `add(to:)` does, when the first element is asked for. Cancelling the
    /// consuming task, and leaving the loop before its end, cancel the operation. After a retry the elements of the
    /// new attempt follow, from its first; ``partialResultEvents(on:)`` tells where.
    /// - Throws: while it is read, ``AOperationError``: the first error of an operation that failed, after its last
    ///   element; for a cancelled one ``AOperationError/IsCancelled``; ``AOperationError/PartialResultsMissed`` if
    ///   elements were gone before they were read.
    public func partialResults(on queue: AOperationQueue) -> PartialResults<PartialResult> {
        PartialResults(partialResultEvents(on: queue))
    }

    /// Reads what the operation sends, wherever it runs or ran: from the first element, until it ends.
    ///
    /// The elements that are sent from now on are kept for the reader, as ``PartialResultOperation`` says; one that
    /// comes late finds those that are still kept. It neither starts the operation nor cancels it: when the consuming
    /// task is cancelled, reading ends with a `CancellationError`. Throws as ``partialResults(on:)`` does.
    public func partialResults() -> PartialResults<PartialResult> {
        PartialResults(partialResultEvents())
    }

    /// As ``partialResults(on:)``, and tells the place of each element, where another attempt begins, and what is
    /// missing.
    public func partialResultEvents(on queue: AOperationQueue) -> PartialResultEvents<PartialResult> {
        PartialResultEvents(FirstReader(of: self, partialResultPort.channel, as: .owner(queue)))
    }

    /// As ``partialResults()``, and tells the place of each element, where another attempt begins, and what is
    /// missing.
    public func partialResultEvents() -> PartialResultEvents<PartialResult> {
        PartialResultEvents(FirstReader(of: self, partialResultPort.channel, as: .listener))
    }
}
