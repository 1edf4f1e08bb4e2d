import Foundation
import SwiftProtobuf

/// What the two envelopes have in common.
private protocol Envelope: SwiftProtobuf.Message {
    var hasBody: Bool { get }
    /// The blob chunk it carries, if that is what it carries.
    var chunk: WireBlobChunk? { get }
    /// Its bytes, as ``MessageBatch`` encodes them; nil: it is none.
    func batched() throws -> [UInt8]?
}

extension WirePeerMessage: Envelope {
    fileprivate var hasBody: Bool { body != nil }
    fileprivate func batched() throws -> [UInt8]? {
        guard case .reports(var batch)? = body else { return nil }
        let reports = batch.reports
        batch.reports = []
        return try MessageBatch.encode(reports, as: 1, of: batch, as: 3)
    }
    fileprivate var chunk: WireBlobChunk? {
        guard case .blobChunk(let chunk) = body else { return nil }
        return chunk
    }

    /// Decodes a message from its frames (without the routing id). Of a blob chunk, `frames[1]` is the bytes.
    ///
    /// - Parameter limitBytes: of the first frame; pass ``Limits/helloBytes`` for a connection that has not said hello.
    /// - Throws: ``WireError``, whatever the bytes are.
    public init(frames: [Buffer], limitBytes: Int = Limits.messageBytes) throws(WireError) {
        self = try decode(frames, limitBytes: limitBytes)
    }

    /// Encodes the message for sending.
    ///
    /// - Parameter attachment: the bytes of a blob chunk; nil for everything else.
    /// - Throws: ``WireError`` when the message is too large for the wire, or has or lacks an attachment against its kind.
    public func frames(attachment: Buffer? = nil) throws(WireError) -> [Buffer] {
        try encode(self, attachment: attachment)
    }
}

extension WireCoordinatorMessage: Envelope {
    fileprivate var hasBody: Bool { body != nil }
    fileprivate func batched() throws -> [UInt8]? {
        switch body {
        case .dispatch(var batch)?:
            let assignments = batch.assignments
            batch.assignments = []
            return try MessageBatch.encode(assignments, as: 1, of: batch, as: 4)
        case .events(var batch)?:
            let events = batch.events
            batch.events = []
            return try MessageBatch.encode(events, as: 2, of: batch, as: 10)
        default: return nil
        }
    }
    fileprivate var chunk: WireBlobChunk? {
        guard case .blobChunk(let chunk) = body else { return nil }
        return chunk
    }

    /// Decodes a message from its frames. Of a blob chunk, `frames[1]` is the bytes.
    ///
    /// - Throws: ``WireError``, whatever the bytes are.
    public init(frames: [Buffer], limitBytes: Int = Limits.messageBytes) throws(WireError) {
        self = try decode(frames, limitBytes: limitBytes)
    }

    /// Encodes the message for sending.
    ///
    /// - Parameter attachment: the bytes of a blob chunk; nil for everything else.
    /// - Throws: ``WireError`` when the message is too large for the wire, or has or lacks an attachment against its kind.
    public func frames(attachment: Buffer? = nil) throws(WireError) -> [Buffer] {
        try encode(self, attachment: attachment)
    }
}

private func decode<Message: Envelope>(_ frames: [Buffer], limitBytes: Int) throws(WireError) -> Message {
    guard let first = frames.first else { throw .empty }
    guard frames.count <= Limits.messageFrames else { throw .tooManyFrames(frames.count) }
    guard first.count <= limitBytes else {
        throw .tooLarge(
            what: "a message", bytes: first.count, limit: limitBytes == Limits.helloBytes ? "helloBytes" : "messageBytes",
            limitBytes: limitBytes)
    }
    if Message.self == WirePeerMessage.self, first.count > Limits.inlineGraphBytes {
        try first.withUnsafeBytes { bytes throws(WireError) in try MessageScan.checkGraphs(in: bytes) }
    }
    var options = BinaryDecodingOptions()
    options.messageDepthLimit = Limits.messageDepth
    options.discardUnknownFields = true
    let message: Message
    do {
        message = try first.withUnsafeBytes { try Message(serializedBytes: $0.bytes, options: options) }
    } catch {
        throw .undecodable("\(error)")
    }
    guard message.hasBody else { throw .unknownBody }
    try check(attachment: frames.count == 2 ? frames[1] : nil, of: message.chunk)
    return message
}

private func encode(_ message: some Envelope, attachment: Buffer?) throws(WireError) -> [Buffer] {
    try check(attachment: attachment, of: message.chunk)
    let bytes: [UInt8]
    do {
        bytes = try message.batched() ?? message.serializedBytes()
    } catch {
        throw .undecodable("cannot be encoded: \(error)")
    }
    guard bytes.count <= Limits.messageBytes else {
        throw .tooLarge(what: "a message", bytes: bytes.count, limit: "messageBytes", limitBytes: Limits.messageBytes)
    }
    let first = Buffer(bytes)
    return attachment.map { [first, $0] } ?? [first]
}

private func check(attachment: Buffer?, of chunk: WireBlobChunk?) throws(WireError) {
    switch (chunk, attachment) {
    case (nil, nil): return
    case (nil, .some): throw .attachmentUnexpected
    case (.some(let chunk), nil):
        guard chunk.missing else { throw .attachmentMissing }
    case (.some(let chunk), .some(let bytes)):
        guard !chunk.missing else { throw .attachmentUnexpected }
        guard bytes.count <= Limits.blobChunkBytes else {
            throw .tooLarge(what: "a blob chunk", bytes: bytes.count, limit: "blobChunkBytes", limitBytes: Limits.blobChunkBytes)
        }
    }
}
