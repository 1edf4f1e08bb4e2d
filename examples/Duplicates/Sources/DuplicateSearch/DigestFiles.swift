import AOperation
import Crypto
import Foundation

/// The SHA-256 digests of some files, in hexadecimal, by path.
public final class DigestFiles: ResultableOperation<[String: String]>, ClusterOperation, @unchecked Sendable {
    public struct Parameters: Codable, Sendable {
        public var paths: [String]

        public init(paths: [String]) { self.paths = paths }
    }

    public let parameters: Parameters

    public init(_ parameters: Parameters) {
        self.parameters = parameters
        super.init()
    }

    public override func execute() {
        finish(with: Result { try digests() }.mapError { AOperationError($0) })
    }

    private func digests() throws -> [String: String] {
        var digests: [String: String] = [:]
        for (number, path) in parameters.paths.enumerated() {
            digests[path] = try NotReadable.naming(path) { try digest(of: $0) }
            // The newest of them reaches `aop show`, and the program's own object.
            reportProgress(Double(number + 1) / Double(parameters.paths.count))
        }
        return digests
    }

    /// A megabyte at a time; between two of them it sees that it has been cancelled.
    private func digest(of path: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var hash = SHA256()
        while let part = try file.read(upToCount: 1 << 20), !part.isEmpty {
            if isCancelled { throw CancellationError() }
            hash.update(data: part)
        }
        return hash.finalize().map { String(format: "%02x", $0) }.joined()
    }
}
