import AOperation
import Foundation

/// Receives texts while they are sent, and delivers them.
public final class Gather: AsyncOperation<[String]>, StreamReceiver, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        /// Where it writes a line for each text, "+gather" when it begins and "-gather" when it has ended.
        public var log: String
        /// After so many it ends with success.
        public var first: Int?

        public init(log: String, first: Int? = nil) {
            self.log = log
            self.first = first
        }
    }

    public let parameters: Parameters
    public var receivedElements: ReceivedElements<String>?

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func run() async throws -> [String] {
        write("+gather")
        defer { write("-gather") }
        var texts: [String] = []
        guard let receivedElements else { throw TrialError(text: "nothing is received") }
        for try await text in receivedElements {
            texts.append(text)
            write(text)
            if texts.count == parameters.first { break }
        }
        return texts
    }

    private func write(_ line: String) {
        guard let file = fopen(parameters.log, "a") else { return }
        fputs("\(line)\n", file)
        fclose(file)
    }
}
