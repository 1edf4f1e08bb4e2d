import AOperation
import Foundation
import Wire

/// Waits, and passes on what it received. Registered as `delay`.
///
/// `@unchecked Sendable`: `receivedValue` is set before the operation is added to a queue and only read afterwards.
final class DelayOperation: AsyncOperation<EncodedValue>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    struct Parameters: Codable, Sendable {
        var seconds: Double
    }
    static let operationName = "delay"

    let parameters: Parameters
    var receivedValue: Result<EncodedValue, AOperationError>?

    init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    override func run() async throws -> EncodedValue {
        guard parameters.seconds >= 0, parameters.seconds <= Limits.delaySeconds else {
            throw OperationFault(.parameters, "`seconds` is \(parameters.seconds): it must be from 0 to \(Int(Limits.delaySeconds))")
        }
        let received = try receivedValue?.get() ?? .void
        try await Task.sleep(for: .seconds(parameters.seconds), tolerance: .zero, clock: .continuous)
        return received
    }
}
