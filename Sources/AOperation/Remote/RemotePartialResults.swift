/// What a reader of partial results is told by the process in which the operation runs.
package enum RemotePartialResult: Sendable {
    /// `attempt` counts from 1, `index` from 0 in each attempt.
    case element(EncodedValue, attempt: Int, index: Int)
    /// What was read is void.
    case restarted(attempt: Int)
    /// So many elements are gone.
    case missed(count: Int)
    /// Nothing follows: the operation has ended there.
    case ended
}

/// One reader of the partial results of an operation that runs elsewhere.
package protocol RemotePartialResultCursor: AnyObject, Sendable {
    /// The next one, if it is here already.
    func take() -> RemotePartialResult?

    /// Waits until `take()` has something.
    ///
    /// - Throws: when nothing more can be had; `CancellationError` when the task is cancelled, or after `stop()`.
    func fill() async throws

    /// The operation has ended here, with this error: who waits for what can come no more is let go.
    func operationEnded(_ error: AOperationError?)
}

extension PartialResultOperation {
    static var partialResultType: Any.Type { PartialResult.self }

    /// Whether the elements can be read from another process.
    package static var canSendElsewhere: Bool { ValueCodec.hasCodec(for: PartialResult.self) }
}

/// Lets all who wait for partial results look again.
protocol PartialResultWaking: AnyObject {
    func wakeReaders()
}

extension PartialResultChannel: PartialResultWaking {}

extension AOperation {
    /// The operation runs elsewhere from now on: its readers read there.
    final func redirectReaders() {
        (attachment(\.partialResults)?.channel as? any PartialResultWaking)?.wakeReaders()
    }

    /// A fresh cursor, if the operation runs elsewhere; nil: it does not, or it is not known how its elements are read.
    final func openRemotePartialResults() -> (any RemotePartialResultCursor)? {
        attachment { $0.remote?.partialResults }?()
    }
}
