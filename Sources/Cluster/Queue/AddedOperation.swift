import AOperation

/// An operation that came to a submission of a ``ClusterQueue`` while that ran: another one has produced it on a worker.
///
/// Its own type is known there only. It is told like any other: by `didProduce` of who produced it, as a child of its group,
/// by its own listeners, once there are some. Its value is what arrives, as it arrives: `value.decoded(as:)`.
public final class AddedOperation: ResultableOperation<EncodedValue>, @unchecked Sendable {
    /// Its path in the submission, as in `aop show`.
    public let path: String
    /// The name under which workers have registered it.
    public let operationType: String

    /// Invariant behind `@unchecked Sendable`: both are constant.
    ///
    /// - Parameter id: what it is called among its siblings: by its name, or its type if it has none, and the number of the
    ///   addition.
    init(path: String, id: String, operationType: String) {
        self.path = path
        self.operationType = operationType
        super.init()
        name = Self.name(inID: id)
    }

    private static func name(inID id: String) -> String {
        guard let plus = id.lastIndex(of: "+"), plus > id.startIndex, id[plus...].dropFirst().first?.isNumber == true else { return id }
        return String(id[..<plus])
    }
}
