import AOperation
import Foundation

/// Writes down each time that it runs, and what it has received; ends as its producer has.
public final class Witness: ResultableOperation<String>, ReceiverOperation, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        /// The file.
        public var log: String

        public init(log: String) { self.log = log }
    }

    public let parameters: Parameters
    public var receivedValue: Result<String, AOperationError>?

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        let received = receivedValue ?? .failure(.receivedValueIsNil(in: self))
        let text =
            switch received {
            case .success(let value): value
            case .failure(let error): "\(error.publisher ?? "nobody"): \(error.localizedDescription)"
            }
        if let file = fopen(parameters.log, "a") {
            fputs("\(text)\n", file)
            fclose(file)
        }
        finish(with: received)
    }
}
