import Foundation
import Synchronization

/// Loads a `file:` URL, which Foundation's sessions do not on Linux.
///
/// The file is read in pieces on the transfer's own queue, so that a cancellation is heard within a file of any size.
///
/// Invariant behind `@unchecked Sendable`: `receiver` is only reached on `queue`.
final class FileTransfer: Transfer, @unchecked Sendable {
    private static let pieceBytes = 1 << 18

    private let url: URL
    private let receiver: any TransferReceiver
    private let queue = DispatchQueue(label: "AOperation.file", target: .global())
    private let isCancelled = Atomic<Bool>(false)

    init(_ url: URL, to receiver: any TransferReceiver) {
        self.url = url
        self.receiver = receiver
    }

    func start() {
        queue.async { [self] in
            do {
                receiver.ended(with: nil, response: try load())
            } catch {
                receiver.ended(with: error, response: nil)
            }
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    private func load() throws -> URLResponse {
        let file = try LocalFile(opening: url)
        let response = URLResponse(
            url: url, mimeType: MediaType.of(fileExtension: url.pathExtension), expectedContentLength: Int(file.size),
            textEncodingName: nil)
        try receiver.received(response, expecting: file.size)
        while let piece = try file.read(Self.pieceBytes) {
            if isCancelled.load(ordering: .relaxed) { throw URLError.cancelled(loading: url) }
            try receiver.received(piece)
        }
        return response
    }
}
