import Wire

/// What one peer asked for of large values: a few parts are read at a time, as its outbox has room; the others wait.
struct PartReads {
    private var inFlight = 0
    private var waiting = Line<WireBlobRequest>()

    /// - Returns: false: more wait already than a peer may leave waiting.
    mutating func add(_ request: WireBlobRequest) -> Bool {
        guard waiting.count < CoordinatorLimits.partsPerPeer else { return false }
        waiting.append(request)
        return true
    }

    /// The next part to read; nil: there is none, or no room for it behind `outboxBytes` that wait to be sent.
    mutating func startNext(outboxBytes: Int) -> WireBlobRequest? {
        guard outboxBytes + (inFlight + 1) * Limits.blobChunkBytes <= CoordinatorLimits.partBytesInFlight,
            let request = waiting.popFirst()
        else { return nil }
        inFlight += 1
        return request
    }

    /// A part was read: it is in the outbox now.
    mutating func ended() { inFlight -= 1 }
}
