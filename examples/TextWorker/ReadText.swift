import AOperation
import Foundation

/// Reads a text file.
final class ReadText: ResultableOperation<String>, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable { var path: String }
    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        finish(with: Result { try String(contentsOfFile: parameters.path, encoding: .utf8) }.mapError { AOperationError($0) })
    }
}
