/// What an error of the scheduler's own consists of beside its text, so that it is itself wherever it arrives.
public enum FailureDetail: Hashable, Sendable {
    /// Of a time limit of the attempt, of the wait for a start, or of all together.
    case limit(milliseconds: Int64)
    /// Another unit had the unique id.
    case uniqueID(String)
    /// The keys of a circle of waits, and who holds them.
    case circle(keys: [String], holders: [String])
    /// Paths of the dependencies that a condition did not allow.
    case dependencies(failed: [String], cancelled: [String])
    /// The key of the condition that should not have held.
    case negated(String)
}

extension Failure {
    /// What it consists of, if it is one of the scheduler's own. It stands in the place of an image, as `parts` do.
    public var detail: FailureDetail? {
        get {
            guard image.first == Self.detailTag else { return nil }
            var reader = ByteReader(image.dropFirst())
            return try? reader.failureDetail()
        }
        set { image = newValue.map(Self.image) ?? [] }
    }

    /// What a failure, or the verdict that leads to one, has in the place of an image.
    static func image(of detail: FailureDetail) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(detailTag)
        writer.write(detail)
        return writer.bytes
    }

    /// What the answer to a condition, and the verdict on it, has in the place of an image: an error with all that is known of it.
    public static func image(of failure: Failure) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(wholeTag)
        writer.write(wholeFailures: [failure])
        return writer.bytes
    }

    /// The error of which this is the image; nil: it is that of a Codable error, or of another thing, or there is none.
    static func whole(in image: [UInt8]) -> Failure? {
        guard image.first == wholeTag else { return nil }
        var reader = ByteReader(image.dropFirst())
        return try? reader.wholeFailures().first
    }

    /// No image begins with one of these: they are JSON.
    private static let detailTag: UInt8 = 1
    private static let wholeTag: UInt8 = 2

    /// Whether these bytes stand for something of the scheduler's own: nobody else may say such a thing.
    public static func isReserved(_ image: some Collection<UInt8>) -> Bool {
        image.first.map { [partsTag, detailTag, wholeTag].contains($0) } ?? false
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ detail: FailureDetail) {
        switch detail {
        case .limit(let milliseconds):
            write(0 as UInt8)
            write(milliseconds)
        case .uniqueID(let id):
            write(1 as UInt8)
            write(id)
        case .circle(let keys, let holders):
            write(2 as UInt8)
            write(list: keys) { $0.write($1) }
            write(list: holders) { $0.write($1) }
        case .dependencies(let failed, let cancelled):
            write(3 as UInt8)
            write(list: failed) { $0.write($1) }
            write(list: cancelled) { $0.write($1) }
        case .negated(let key):
            write(4 as UInt8)
            write(key)
        }
    }
}

extension ByteReader {
    fileprivate mutating func failureDetail() throws(DecodingFailure) -> FailureDetail {
        func texts(_ reader: inout ByteReader) throws(DecodingFailure) -> [String] {
            try reader.list { reader throws(DecodingFailure) in try reader.text() }
        }
        switch try byte() {
        case 0: return .limit(milliseconds: try signed())
        case 1: return .uniqueID(try text())
        case 2: return .circle(keys: try texts(&self), holders: try texts(&self))
        case 3: return .dependencies(failed: try texts(&self), cancelled: try texts(&self))
        case 4: return .negated(try text())
        case let other: throw DecodingFailure("\(other) is no detail of a failure")
        }
    }
}
