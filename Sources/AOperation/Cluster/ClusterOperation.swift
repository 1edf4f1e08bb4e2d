import Foundation

/// An operation that can be rebuilt in another process: on a worker, or for its next attempt.
///
/// It declares what it is built from (`Parameters`), and its `Output` (and `Input`, if it is a ``ReceiverOperation``)
/// can leave the process: `Void`, `Codable`, or a ``ClusterValue``.
///
/// ```swift
/// final class CountWords: ResultableOperation<Int>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
///     struct Parameters: Codable, Sendable { var minimumLength = 1 }
///     let parameters: Parameters
///     var receivedValue: Result<String, AOperationError>?
///
///     init(_ parameters: Parameters = .init()) { self.parameters = parameters; super.init() }
///
///     override func execute() { … }
/// }
/// ```
///
/// ## Hooks for a process that hosts operations
///
/// All of them work on `any ClusterOperation` and `any ClusterOperation.Type`:
///
/// | to | use |
/// |---|---|
/// | check a type when it is registered | `try Type.clusterInterface()` → name, version, input and output types |
/// | build one from parameter bytes | `try Type.make(parameters: data)` |
/// | get its parameter bytes | `try operation.encodedParameters()` |
/// | give it what its producers sent | `try operation.receive(.single(value))`, `.list(values)`, `.failure(error)` |
/// | hear of its end, once | `operation.whenEnded { outcome in … }` → ``ClusterOutcome``, after the end of its body |
/// | run and stop it | `operation.add(to: queue)`, `operation.cancel()` |
public protocol ClusterOperation: AOperation, RetryableOperation {
    /// What the operation is built from. Parameters travel as JSON.
    associatedtype Parameters: Codable, Sendable

    /// What this operation was built from.
    var parameters: Parameters { get }

    init(_ parameters: Parameters)

    /// The name under which workers register the type and graphs ask for it; by default the type's name.
    static var operationName: String { get }

    /// The version of the type's behaviour and of its parameters, 1 by default. Raise it when either changes.
    static var operationVersion: Int { get }

    /// The oldest version whose graphs workers with this type may run as well; ``operationVersion``, the default: none but
    /// its own.
    static var oldestAcceptedVersion: Int { get }

    /// Parameters whose values stand in for keys that are not given; nil, the default, if all must be given. (The
    /// decoding that Swift makes for `Codable` types asks for every key that is not optional, also for those of
    /// properties with an initial value.)
    static var defaultParameters: Parameters? { get }
}

extension ClusterOperation {
    public static var operationName: String { String(describing: Self.self) }

    public static var operationVersion: Int { 1 }

    public static var oldestAcceptedVersion: Int { operationVersion }

    public static var defaultParameters: Parameters? { nil }

    /// A fresh operation from the same parameters: the next attempt.
    public func new() -> Self { Self(parameters) }
}

extension ClusterOperation {
    /// Builds an operation from the JSON form of its parameters.
    ///
    /// Empty bytes are read as `{}`; top-level keys that are not given are taken from ``defaultParameters``.
    /// - Throws: ``ClusterCodingError`` that names the key or the place that does not fit.
    public static func make(parameters: Data) throws -> Self {
        let given = parameters.isEmpty ? Data("{}".utf8) : parameters
        let bytes = try defaultParameters.map { try JSONForm.object(given, completedBy: $0) } ?? given
        return Self(try JSONForm.decode(Parameters.self, from: .json(bytes)))
    }

    /// The JSON form of the operation's parameters: what ``make(parameters:)`` reads.
    /// - Throws: ``ClusterCodingError``, also for numbers that are infinite or none: a coordinator takes no text for a number.
    public func encodedParameters() throws -> Data {
        try JSONForm.encode(parameters, isFinite: true)
    }

    /// Tells `handler` the outcome, once, when the outcome is decided *and* the body has ended (or was given up after
    /// its `grace`): from then on nothing of the operation runs, and its slot is free.
    ///
    /// A success whose value cannot be encoded is told as a failure. The handler runs on the thread that ended the
    /// operation and should return soon; on an operation that has ended already it runs at once.
    public func whenEnded(_ handler: @escaping @Sendable (ClusterOutcome) -> Void) {
        onEnd { operation in handler(ClusterOutcome(of: operation)) }
    }
}
