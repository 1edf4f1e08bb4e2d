import AOperation
import Foundation

/// Sends numbered texts, tells how far it has come, and delivers how many there were.
public final class Drip: AsyncOperation<Int>, PartialResultOperation, ClusterOperation, @unchecked Sendable {
    public typealias PartialResult = String

    public struct Parameters: Codable, Sendable {
        public var count: Int
        /// Where it writes a line "+drip" when it begins, by which attempts are counted, and "-drip" when it has sent all.
        public var log: String
        /// After so many elements it waits for the file `until`.
        public var stopAfter: Int?
        public var until: String?
        /// How many characters are added to each text.
        public var padding: Int?

        public init(count: Int, log: String, stopAfter: Int? = nil, until: String? = nil, padding: Int? = nil) {
            self.count = count
            self.log = log
            self.stopAfter = stopAfter
            self.until = until
            self.padding = padding
        }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func run() async throws -> Int {
        let attempt = write("+drip")
        for index in 0..<parameters.count {
            if index == parameters.stopAfter, let until = parameters.until { try await Emit.wait(for: until) }
            await send("\(attempt).\(index)" + String(repeating: "x", count: parameters.padding ?? 0))
            reportProgress(Double(index + 1) / Double(parameters.count), message: "\(index + 1) sent")
        }
        write("-drip")
        return parameters.count
    }

    /// Returns how often this line is there now.
    @discardableResult
    private func write(_ line: String) -> Int {
        guard let file = fopen(parameters.log, "a") else { return 1 }
        fputs("\(line)\n", file)
        fclose(file)
        let lines = (try? String(contentsOfFile: parameters.log, encoding: .utf8)) ?? ""
        return lines.split(separator: "\n").count { $0 == line }
    }
}
