/// Bytes that are not a message of this protocol, or a message that may not be sent.
public enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message has no frame at all.
    case empty
    /// More frames than any message of the protocol has.
    case tooManyFrames(Int)
    /// `what` is larger than the limit named.
    case tooLarge(what: String, bytes: Int, limit: String, limitBytes: Int)
    /// A graph of more nodes than `Limits.graphNodes`.
    case tooManyNodes(Int)
    /// The first frame is not the Protocol Buffers form of the envelope.
    case undecodable(String)
    /// A well-formed envelope whose body this version does not know, from a newer peer: skip it.
    case unknownBody
    /// A blob chunk without its bytes.
    case attachmentMissing
    /// A second frame behind a message that has none.
    case attachmentUnexpected

    public var description: String {
        switch self {
        case .empty:
            "a message without frames"
        case .tooManyFrames(let count):
            "a message of \(count) or more frames; the protocol has at most \(Limits.messageFrames)"
        case .tooLarge(let what, let bytes, let limit, let limitBytes):
            "\(what) of \(bytes) bytes is larger than Limits.\(limit) (\(limitBytes) bytes)"
        case .tooManyNodes(let count):
            "\(count) nodes in one graph; the limit is \(Limits.graphNodes) with its root (graphNodes)"
        case .undecodable(let reason):
            "a message that is not of the aop protocol, version \(ProtocolVersion.major): \(reason)"
        case .unknownBody:
            "a message of a kind that protocol \(ProtocolVersion.major).\(ProtocolVersion.minor) does not have; the peer may be newer"
        case .attachmentMissing:
            "a blob chunk without its bytes"
        case .attachmentUnexpected:
            "an attachment behind a message that has none"
        }
    }
}
