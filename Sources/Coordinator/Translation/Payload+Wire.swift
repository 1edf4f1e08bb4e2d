import Foundation
import Scheduling
import Wire

extension BlobKey {
    /// - Throws: `TranslationError` unless the digest is a SHA-256 and the size within the limit.
    init(wire: WireBlobReference, limit: UInt64 = CoordinatorLimits.blobBytes) throws(TranslationError) {
        guard wire.size <= limit else {
            throw TranslationError("a value of \(wire.size) bytes; the limit is \(limit) bytes")
        }
        self.init(digest: try BlobDigest(wire: wire.digest), size: wire.size)
    }

    var wire: WireBlobReference {
        WireBlobReference(digest: digest, size: size)
    }
}

extension BlobDigest {
    /// - Throws: `TranslationError` unless there are 32 bytes.
    init(wire: Data) throws(TranslationError) {
        guard let digest = BlobDigest(wire) else {
            throw TranslationError("a digest of \(wire.count) bytes where a SHA-256 has 32")
        }
        self = digest
    }
}

extension Payload {
    /// A value that travels within its message.
    ///
    /// - Throws: `TranslationError` when it is too large for that, of an unknown encoding, or a blob.
    init(inline wire: WireValue) throws(TranslationError) {
        let encoding = try PayloadEncoding(wire: wire.encoding)
        switch wire.storage {
        case .inline(let bytes):
            guard bytes.count < Limits.inlineValueBytes else {
                throw TranslationError(
                    "a value of \(bytes.count) bytes within a message; from \(Limits.inlineValueBytes) bytes on "
                        + "(inlineValueBytes) it is sent as a blob")
            }
            guard encoding != .void || bytes.isEmpty else {
                throw TranslationError("a void value with \(bytes.count) bytes")
            }
            self.init(encoding: encoding, storage: .inline([UInt8](bytes)))
        case nil:
            self.init(encoding: encoding, storage: .inline([]))
        case .blob:
            throw TranslationError("a blob where a value within the message is expected")
        }
    }

    var wire: WireValue {
        var wire = WireValue()
        wire.encoding = encoding.wire
        switch storage {
        case .inline(let bytes):
            if encoding != .void { wire.storage = .inline(Data(bytes)) }
        case .blob(let digest, let size):
            var reference = WireBlobReference()
            reference.digest = Data(digest)
            reference.size = size
            wire.storage = .blob(reference)
        }
        return wire
    }

    /// About how many bytes it takes within a message.
    var wireBytes: Int {
        switch storage {
        case .inline(let bytes): bytes.count + 8
        case .blob: 56
        }
    }
}

extension PayloadEncoding {
    init(wire: WireValueEncoding) throws(TranslationError) {
        switch wire {
        case .void: self = .void
        case .json: self = .json
        case .text: self = .text
        case .bytes: self = .bytes
        case .UNRECOGNIZED(let number): throw TranslationError("a value of the unknown encoding \(number)")
        }
    }

    var wire: WireValueEncoding {
        switch self {
        case .void: .void
        case .json: .json
        case .text: .text
        case .bytes: .bytes
        }
    }
}

extension Received {
    var wire: WireReceived {
        var wire = WireReceived()
        switch self {
        case .value(let payload): wire.body = .value(payload.wire)
        case .failure(let failures): wire.body = .failure(failures.wire)
        case .list(let elements):
            var list = WireReceivedList()
            list.elements = elements.map(\.wire)
            wire.body = .list(list)
        }
        return wire
    }

    /// About how many bytes it takes within a message; counting ends at `limit`.
    func wireBytes(upTo limit: Int) -> Int {
        switch self {
        case .value(let payload): return payload.wireBytes + 4
        case .failure(let failures): return failures.reduce(8) { $0 + $1.wireBytes }
        case .list(let elements):
            var bytes = 8
            for element in elements {
                bytes += element.wireBytes(upTo: limit - bytes)
                if bytes > limit { break }
            }
            return bytes
        }
    }
}
