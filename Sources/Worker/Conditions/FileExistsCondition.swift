import AOperation
import Foundation

/// There is a file or directory. Registered as `fileExists`.
struct FileExistsCondition: ClusterCondition {
    static let conditionName = "fileExists"
    var path: String

    func evaluateForOperation(
        _ operation: AOperation, completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        guard !FileManager.default.fileExists(atPath: path) else { return completion(.success) }
        completion(.failure(AOperationError(OperationFault(.condition, "there is no \(path)"))))
    }
}
