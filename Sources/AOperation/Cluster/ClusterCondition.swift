import Foundation

/// A condition that graphs name and workers evaluate.
///
/// ```swift
/// struct DiskSpace: ClusterCondition {
///     var minimumBytes: Int
///
///     func evaluateForOperation(
///         _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
///     ) {
///         freeBytes() >= minimumBytes ? completion(.success) : completion(.retry(after: .seconds(30), because: "disk is full"))
///     }
/// }
/// ```
/// A graph on a `ClusterQueue` has it like any condition. A graph file names it with `{type: DiskSpace, with: {minimumBytes: 1000000}}`. It is decoded from `with` on a worker that
/// could run the node, evaluated for each attempt, and has 60 seconds. `.retry` lets the operation wait without a slot;
/// `.ignored` counts as a failure. The operation it is given stands in for the one that will run, and has only its name;
/// dependent operations and locks of the condition are not used.
public protocol ClusterCondition: AOperationCondition, Codable, Sendable {
    /// The name under which workers register the type and graphs ask for it; by default the type's name.
    static var conditionName: String { get }
}

extension ClusterCondition {
    public static var conditionName: String { String(describing: Self.self) }

    package static func decoded(from parameters: Data) throws -> Self {
        try JSONForm.decoder.decode(Self.self, from: parameters.isEmpty ? Data("{}".utf8) : parameters)
    }

    /// What ``decoded(from:)`` reads.
    package func encoded() throws -> Data { try JSONForm.encode(self) }
}
