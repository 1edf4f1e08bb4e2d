import Foundation

extension TransferRequest {
    private static let pieceBytes = 1 << 18

    /// Whether preparing it means to read something.
    var isToBeRead: Bool { file != nil || request.httpBodyStream != nil }

    /// The request in a form that Foundation sends reliably: with its body in memory, or as a stream of a file that is
    /// too large for that.
    ///
    /// Foundation on Linux ends the program when an upload task that reads a file is cancelled at the wrong moment;
    /// it reads streams on the one queue that all its sessions share, does not tell their length, and when a
    /// connection dies it goes on with the rest of a stream as if that were all.
    ///
    /// Blocks while it reads.
    /// - Throws: `URLError`.
    func prepared(isCancelled: () -> Bool) throws -> TransferRequest {
        guard url != nil else { throw URLError.about(nil, .badURL, "The request has no URL.") }
        var prepared = self
        if let file {
            guard file.isFileURL else {
                throw URLError.about(file, .unsupportedURL, "The file to upload is no file URL.")
            }
            let source = try LocalFile(opening: file)
            if source.size > heldBytesMax {
                prepared.streamedBytes = source.size
            } else {
                prepared.file = nil
                prepared.request.httpBody = try collect(isCancelled) { try source.read(Self.pieceBytes) }
            }
        } else if let stream = request.httpBodyStream {
            prepared.request.httpBodyStream = nil
            prepared.request.httpBody = try read(stream, isCancelled)
        }
        return prepared
    }

    private func read(_ stream: InputStream, _ isCancelled: () -> Bool) throws -> Data {
        guard stream.streamStatus == .notOpen else {
            throw URLError.about(
                url, .requestBodyStreamExhausted,
                "The body stream of the request was read before: use httpBody, or a file, for what may be sent twice.")
        }
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceBytes)
        return try collect(isCancelled) {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count >= 0 else {
                throw URLError.about(
                    url, .requestBodyStreamExhausted, "The body stream of the request cannot be read.",
                    underlying: stream.streamError)
            }
            return count == 0 ? nil : Data(buffer[..<count])
        }
    }

    private func collect(_ isCancelled: () -> Bool, _ next: () throws -> Data?) throws -> Data {
        var body = Data()
        while let piece = try next() {
            if isCancelled() { throw URLError.cancelled(loading: url) }
            guard body.count + piece.count <= heldBytesMax else {
                throw URLError.about(
                    url, .dataLengthExceedsMaximum,
                    "The body stream is longer than \(heldBytesMax) bytes: use a file for a body of that length.")
            }
            body.append(piece)
        }
        return body
    }
}
