/// An operation's way to its readers: the channel, and which attempt it is.
///
/// The attempts of one operation share a channel: the readers stay with the operation that they began to read.
struct PartialResultPort {
    /// A `PartialResultChannel` of the operation's element type.
    let channel: AnyObject
    /// Counted from 1.
    let attempt: Int
}

/// The same, for a known type of elements.
struct TypedPartialResultPort<Element: Sendable> {
    let channel: PartialResultChannel<Element>
    let attempt: Int
}

extension PartialResultOperation {
    /// The operation's port, made when it is first needed: by a sender, a reader, or the next attempt.
    var partialResultPort: TypedPartialResultPort<PartialResult> {
        if let port = attachment(\.partialResults).flatMap(typed) { return port }
        let made = PartialResultChannel<PartialResult>(capacity: Self.partialResultsHeldMax)
        let port = withAttachments { attachments in
            // Somebody else may have made one meanwhile.
            if let port = attachments.partialResults.flatMap(typed) { return port }
            attachments.partialResults = PartialResultPort(channel: made, attempt: 1)
            return TypedPartialResultPort(channel: made, attempt: 1)
        }
        if port.channel === made { onSettled { operation, _ in made.close(operation.publishedErrors.first) } }
        return port
    }

    private func typed(_ port: PartialResultPort) -> TypedPartialResultPort<PartialResult>? {
        (port.channel as? PartialResultChannel<PartialResult>).map { TypedPartialResultPort(channel: $0, attempt: port.attempt) }
    }

    fileprivate func takeOverPartialResults(of previous: AOperation) {
        guard let previous = previous as? Self else { return }
        let channel = previous.partialResultPort.channel
        let attempt = channel.beginAttempt()
        withAttachments { $0.partialResults = PartialResultPort(channel: channel, attempt: attempt) }
    }
}

extension AOperation {
    /// Makes this operation the next attempt of `previous`, for those who follow what it sends: its partial results
    /// go to the readers of `previous`, who are told that it begins anew, and so does its progress. To be called
    /// before this operation runs. Readers hear of the end when the first attempt's operation ends.
    final func takeOverReaders(of previous: AOperation) {
        (self as? any PartialResultOperation)?.takeOverPartialResults(of: previous)
        let board = previous.progressBoard
        withAttachments { $0.progress = board }
    }
}
