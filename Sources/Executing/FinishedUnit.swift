import AOperation
import Foundation
import Wire

/// What became of a unit, with the bytes of a large result.
package struct FinishedUnit: Sendable {
    package var ending: UnitEnding
    package var blob: (digest: BlobDigest, bytes: Data)?
    /// When its body ended, in milliseconds since 1970; nil: when this is heard of.
    package var endedAt: Int64?
    /// It has failed because this process could not begin it: nothing of it has run.
    package var isUnbegun = false

    package init(_ ending: UnitEnding, blob: (digest: BlobDigest, bytes: Data)? = nil) {
        self.ending = ending
        self.blob = blob
    }

    package func ended(at endedAt: Int64) -> FinishedUnit {
        var finished = self
        finished.endedAt = endedAt
        return finished
    }

    /// The same with what a success adds to its group.
    package func adding(_ addition: WireAddition) -> FinishedUnit {
        guard case .success(let value) = ending else { return self }
        return FinishedUnit(.production(value, addition), blob: blob)
    }

    /// A success. A large value travels by its digest, which takes its time to compute.
    package init(_ value: EncodedValue) {
        guard value.bytes.count >= Limits.inlineValueBytes else {
            self.init(.success(WireValue(encoding: value.encoding, storage: .inline(value.bytes))))
            return
        }
        let digest = BlobDigest(hashing: value.bytes)
        let reference = WireBlobReference(digest: digest, size: UInt64(value.bytes.count))
        self.init(.success(WireValue(encoding: value.encoding, storage: .blob(reference))), blob: (digest, value.bytes))
    }
}

extension FinishedUnit {
    /// With its value in it, however large.
    package var whole: UnitEnding {
        guard let blob else { return ending }
        switch ending {
        case .success(var value):
            value.storage = .inline(blob.bytes)
            return .success(value)
        case .production(var value, let addition):
            value.storage = .inline(blob.bytes)
            return .production(value, addition)
        case .storedElements:
            guard let elements = try? WireElements(serializedBytes: blob.bytes) else { return ending }
            return .elements(elements)
        case .failure, .cancelled, .elements, .answers, .decided, .concluded: return ending
        }
    }
}

extension WireValue {
    fileprivate init(encoding: ValueEncoding, storage: OneOf_Storage) {
        self.init()
        self.encoding = WireValueEncoding(encoding)
        if encoding != .void { self.storage = storage }
    }
}

extension WireValueEncoding {
    package init(_ encoding: ValueEncoding) {
        switch encoding {
        case .void: self = .void
        case .json: self = .json
        case .text: self = .text
        case .bytes: self = .bytes
        }
    }
}
