import Foundation
import Wire

extension ClusterConnection {
    /// Reads a value's bytes in order, part by part, whether it came with its operation or lies at the coordinator.
    ///
    /// At most `Limits.blobWindow` parts are under way at a time, so `body` sets the pace. A large value's digest is
    /// verified when its last part has been given to `body`.
    /// - Throws: `ClusterError` with code `valueUnavailable` when the coordinator does not hold it any more or the
    ///   bytes are not what was stored; whatever `body` throws.
    package func read(_ value: WireValue, _ body: (Data) async throws -> Void) async throws {
        switch value.storage {
        case nil: return
        case .inline(let bytes): if !bytes.isEmpty { try await body(bytes) }
        case .blob(let reference): try await fetch(reference, body)
        }
    }

    /// A value's bytes as a whole.
    package func bytes(of value: WireValue) async throws -> Data {
        var all = Data()
        if case .blob(let reference) = value.storage { all.reserveCapacity(Int(clamping: reference.size)) }
        try await read(value) { all.append($0) }
        return all
    }

    private func fetch(_ reference: WireBlobReference, _ body: (Data) async throws -> Void) async throws {
        let chunks = try await core.openFetch(reference.digest)
        defer { core.closeFetch(reference.digest) }
        var fetch = BlobFetch(reference: reference)
        request(fetch.start())
        for await event in chunks {
            switch event {
            case .ended(let error): throw error
            case .reattached: request(fetch.resume())
            case .chunk(let chunk, let bytes):
                for step in fetch.receive(chunk, bytes) {
                    switch step {
                    case .requests(let requests): request(requests)
                    case .bytes(_, let bytes): try await body(bytes.data)
                    case .finished: return
                    case .failed(let reason):
                        throw ClusterError(
                            .valueUnavailable, "\(reason); if it was removed by retention, submit the work again")
                    }
                }
            }
        }
        throw CancellationError()
    }

    private func request(_ requests: [WireBlobRequest]) {
        for request in requests { core.send(.with { $0.blobRequest = request }) }
    }
}
