import Wire

extension WireCoordinatorMessage {
    /// What is sent in the place of a message that cannot be encoded; nil: nothing.
    ///
    /// A request gets an answer in any case, and a follower the submission as it stands: it waits for the final state.
    func remainder(of error: WireError) -> WireCoordinatorMessage? {
        switch body {
        case .response(let response)?:
            if case .failed? = response.body { return nil }
            return .with {
                $0.response.request = response.request
                $0.response.failed = WireRequestFailed(.unspecified, "the answer cannot be sent: \(error)")
            }
        case .events(var events)? where !events.events.isEmpty:
            events.events = []
            events.missed = true
            return .with { $0.events = events }
        case .events?, .welcome?, .refusal?, .heartbeatAnswer?, .dispatch?, .stop?, .acknowledgement?, .blobRequest?,
            .blobChunk?, .farewell?, .helloWanted?, .elementReceipts?, .productReceipts?, .outputReceipts?, .enrolled?, nil:
            return nil
        }
    }
}
