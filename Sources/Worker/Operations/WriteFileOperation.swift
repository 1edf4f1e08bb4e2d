import AOperation
import Foundation
import Wire

/// Writes what it received to a file, whole or not at all. Registered as `writeFile`.
///
/// `@unchecked Sendable`: `receivedValue` and `directory` are set before the operation is added to a queue and only read
/// afterwards.
final class WriteFileOperation: VoidOperation, ReceiverOperation, HostedOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var path: String
    }
    static let operationName = "writeFile"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?
    private var directory: String?

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    func host(in context: UnitContext) { directory = context.host.workingDirectory }

    override func execute() {
        switch receivedValue {
        case nil:
            finish(with: .failure(.receivedValueIsNil(in: self)))
        case .failure(let error)?:
            finish(with: .failure(error))
        case .success(let value)?:
            finish(
                with: Result { try ReplacedFile(HostPath.resolve(parameters.path, in: directory)).write(value.bytes) }
                    .mapError { AOperationError($0) })
        }
    }
}
