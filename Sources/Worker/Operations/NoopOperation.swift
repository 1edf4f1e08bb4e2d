import AOperation

/// Does nothing: its value is what it received, or none. Registered as `noop`.
///
/// `@unchecked Sendable`: `receivedValue` is set before the operation is added to a queue and only read afterwards.
final class NoopOperation: ResultableOperation<EncodedValue>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {}
    static let operationName = "noop"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func execute() {
        finish(with: receivedValue ?? .success(.void))
    }
}
