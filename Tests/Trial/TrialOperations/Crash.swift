import AOperation
import Foundation

/// Ends its worker's process, unless there is a file.
public final class Crash: AsyncOperation<String>, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var unless: String
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func run() async throws -> String {
        guard FileManager.default.fileExists(atPath: parameters.unless) else { abort() }
        return "survived"
    }
}
