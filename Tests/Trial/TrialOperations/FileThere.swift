import AOperation
import Foundation

/// A file is there.
public struct FileThere: ClusterCondition {
    public var path: String

    public init(path: String) { self.path = path }

    public func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard !FileManager.default.fileExists(atPath: path) else { return completion(.success) }
        completion(.failure(AOperationError(TrialError(text: "no file"))))
    }
}
