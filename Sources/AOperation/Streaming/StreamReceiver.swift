import Foundation

/// An operation that consumes what another one sends while that runs.
///
/// ```swift
/// final class Index: AsyncOperation<Int>, StreamReceiver, @unchecked Sendable {
///     var receivedElements: ReceivedElements<Page>?
///
///     func new() -> Index { Index() }
///
///     override func run() async throws -> Int {
///         var count = 0
///         for try await page in receivedElements! { count += add(page) }
///         return count
///     }
/// }
///
/// Crawl(site).stream(to: Index()).add(to: queue)  // Crawl.PartialResult is Page
/// ```
/// It may start when the body of its producer has begun, and reads that attempt's elements from the first one; one that
/// gets its slot later, or when the producer has ended, reads the same. The sequence ends with the success of the producer,
/// and throws the producer's error otherwise, also when the producer has never begun.
///
/// When the producer is tried again, what was read is void: the receiver's own attempt is given up, as by a cancellation,
/// and another one, made by ``RetryableOperation/new()``, starts when the next attempt of the producer has begun. That is
/// no failure of the receiver and counts among the attempts of no policy. So a success of the receiver counts when the
/// producer has ended; its failure counts at once, and what it does outside of the process may be done again.
public protocol StreamReceiver: AOperation, RetryableOperation {
    /// What is received: the ``PartialResultOperation/PartialResult`` of the producer.
    associatedtype StreamedElement: Sendable

    /// Set just before the operation executes. Nil only if nothing streams to it.
    var receivedElements: ReceivedElements<StreamedElement>? { get set }
}

extension PartialResultOperation {
    /// Lets `receiver` run while this operation does, and read what that sends: see ``StreamReceiver``. Returns the
    /// receiver; add any one of them to a queue and all are added.
    ///
    /// An operation may stream to several receivers, and deliver its result to others. A receiver has one stream: of several
    /// producers the last one counts, and the others are only waited for.
    @discardableResult
    public func stream<Receiver: StreamReceiver>(to receiver: Receiver) -> Receiver
    where Receiver.StreamedElement == PartialResult {
        let link = StreamLink(from: self, to: receiver) { [weak self] in
            self.map { PartialResultReader(of: $0, $0.partialResultPort.channel, as: .listener) }
        } fill: { [weak self] attempt, early in
            guard let self, let attempt = attempt as? Receiver else { return nil }
            let elements = ReceivedElements(
                of: self, partialResultPort.channel, early: early as? PartialResultReader<PartialResult>)
            attempt.receivedElements = elements
            return { elements.end() }
        }
        link.connect(self, receiver)
        return receiver
    }
}

extension StreamReceiver {
    static var streamedType: Any.Type { StreamedElement.self }
}

extension AOperationError {
    /// The operation whose elements were read has begun anew: what was read is void. The operation that was reading is
    /// given up; whatever it ends with is of no interest.
    public struct StreamVoided: LocalizedError, PortableError, Hashable, Sendable {
        /// The name of the operation that sent the elements.
        public let producer: String

        public init(producer: String) { self.producer = producer }

        public var errorDescription: String? { "The operation \(producer) has begun anew: what was received of it is void" }
    }
}
