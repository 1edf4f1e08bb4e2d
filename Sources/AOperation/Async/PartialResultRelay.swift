/// What an operation's relay is given, in order.
package enum RelayedPartialResult: Sendable {
    /// `index` counts from 0; where one is left out, a sender that does not wait was faster than the relay.
    case element(EncodedValue, index: Int)
    /// The operation has ended, and everything it sent was given to the relay.
    case ended
    /// An element has no wire form; nothing follows.
    case failed(any Error)
}

/// What an operation sends is on its way to a relay.
package struct PartialResultRelaying: Sendable {
    /// How many elements it has sent.
    package let sentCount: @Sendable () -> Int
    /// Its body has ended, and nothing follows. What settles with its outcome need not say so.
    package let close: @Sendable () -> Void
}

extension PartialResultOperation {
    /// Gives everything that the operation sends to `relay`, on behalf of a process that reads it elsewhere. To be called
    /// before the operation is added to a queue.
    ///
    /// The next element is taken when `relay` has returned: until then, and while
    /// ``PartialResultOperation/partialResultsHeldMax`` elements wait, `await send(_:)` waits. What was taken is not kept.
    /// - Parameter relay: returns whether it wants more.
    @discardableResult
    package func relayPartialResults(to relay: @escaping @Sendable (RelayedPartialResult) async -> Bool) -> PartialResultRelaying {
        let channel = PartialResultChannel<PartialResult>(capacity: Self.partialResultsHeldMax, keepsRead: false)
        withAttachments { $0.partialResults = PartialResultPort(channel: channel, attempt: 1) }
        onSettled { _, _ in channel.close(nil) }
        let reader = channel.join()
        Task {
            await Self.pass(from: channel, reader, to: relay)
            channel.leave(reader)
        }
        return PartialResultRelaying(sentCount: { channel.sentCount }, close: { channel.close(nil) })
    }

    private static func pass(
        from channel: PartialResultChannel<PartialResult>, _ reader: PartialResultChannel<PartialResult>.ReaderID,
        to relay: @Sendable (RelayedPartialResult) async -> Bool
    ) async {
        while true {
            switch channel.read(reader) {
            case .event(.element(let element, _, let index)):
                let encoded: EncodedValue
                do { encoded = try ValueCodec.encode(element) } catch {
                    _ = await relay(.failed(error))
                    return
                }
                guard await relay(.element(encoded, index: index)) else { return }
            // The next element's index tells.
            case .event(.missed), .event(.restarted): break
            case .nothing: await channel.wait(reader, .forMore)
            case .end:
                _ = await relay(.ended)
                return
            }
        }
    }
}
