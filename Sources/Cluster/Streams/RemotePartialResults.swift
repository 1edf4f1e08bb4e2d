import AOperation
import Executing
import Foundation

/// The partial results of an operation of any process, as they come: see ``RemoteSubmission/partialResults(of:as:)``.
public struct RemotePartialResults<Element: Sendable>: AsyncSequence, Sendable {
    private let events: RemotePartialResultEvents<Element>

    init(_ events: RemotePartialResultEvents<Element>) {
        self.events = events
    }

    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: RemotePartialResultEvents<Element>.Iterator

        public mutating func next() async throws -> Element? {
            while let event = try await events.next() {
                switch event {
                case .element(let element, _, _): return element
                case .restarted: break
                case .missed(let count):
                    let name = events.path
                    events.finish()
                    throw AOperationError(
                        AOperationError.PartialResultsMissed(operation: name, count: count), state: .execution, publisher: name)
                }
            }
            return nil
        }
    }
}

/// The same with their places, restarts and gaps: see ``RemoteSubmission/partialResultEvents(of:as:)``.
public struct RemotePartialResultEvents<PartialResult: Sendable>: AsyncSequence, Sendable {
    public typealias Element = PartialResultEvent<PartialResult>

    let submission: RemoteSubmission
    let path: String

    public func makeAsyncIterator() -> Iterator {
        let id = submission.id
        return Iterator(
            submission: submission, path: path,
            cursor: ElementCursor(submission.connection.core) { (id, path) })
    }

    public struct Iterator: AsyncIteratorProtocol {
        let submission: RemoteSubmission
        let path: String
        /// Nil when the end has been told.
        private var cursor: ElementCursor?

        init(submission: RemoteSubmission, path: String, cursor: ElementCursor) {
            self.submission = submission
            self.path = path
            self.cursor = cursor
        }

        public mutating func next() async throws -> Element? {
            guard let cursor else { return nil }
            do {
                while true {
                    switch cursor.take() {
                    case nil: try await cursor.fill()
                    case .restarted(let attempt): return .restarted(attempt: attempt)
                    case .missed(let count): return .missed(count: count)
                    case .element(let value, let attempt, let index):
                        return .element(try value.decoded(), attempt: attempt, index: index)
                    case .ended:
                        self.cursor = nil
                        if let error = try await submission.error(of: path) { throw error }
                        return nil
                    }
                }
            } catch {
                self.cursor = nil
                throw error
            }
        }

        mutating func finish() { cursor = nil }
    }
}

extension RemoteSubmission {
    /// Reads what the operation at `path` sends, from the first element, until it ends; also when it has ended.
    ///
    /// ```swift
    /// for try await page in submission.partialResults(of: "crawl", as: Page.self) { print(page) }
    /// ```
    /// A reader that is slow holds nobody back. After another attempt has begun its elements follow, from the first;
    /// ``partialResultEvents(of:as:)`` tells where. Reading goes on across restarts of the coordinator. May be read
    /// several times.
    /// - Throws: while it is read: the first error of an operation that failed, after its last element; for a cancelled one
    ///   `AOperationError.IsCancelled`; `AOperationError.PartialResultsMissed` if elements are gone; ``ClusterError``
    ///   `notFound` if there is no such operation, or it is a group; `ClusterCodingError` for elements of another type;
    ///   `CancellationError`.
    public func partialResults<Element: Sendable>(
        of path: String, as type: Element.Type = Element.self
    ) -> RemotePartialResults<Element> {
        RemotePartialResults(partialResultEvents(of: path, as: type))
    }

    /// As ``partialResults(of:as:)``, and tells the place of each element, where another attempt begins, and what is
    /// missing.
    public func partialResultEvents<Element: Sendable>(
        of path: String, as type: Element.Type = Element.self
    ) -> RemotePartialResultEvents<Element> {
        RemotePartialResultEvents(submission: self, path: path)
    }

    /// Why the operation at `path` did not succeed; nil if it did.
    func error(of path: String) async throws -> AOperationError? {
        guard let view = try await connection.result(of: id, path: path).operations.root?.view else { return nil }
        switch view.state {
        case .failed: return view.errors.first.map { OperationGraph().error($0, of: 0) }
        case .cancelled:
            return AOperationError(AOperationError.IsCancelled(operation: path), state: .execution, publisher: path)
        case .succeeded, .blocked, .locking, .evaluating, .queued, .running, .stopping, .retrying, .paused, .UNRECOGNIZED:
            return nil
        }
    }
}
