import AOperation
import Crypto
import Foundation

/// What files are like inside.
public struct FileDigests: Codable, Sendable {
    /// The SHA-256 digests, in hexadecimal, by path.
    public var byPath: [String: String] = [:]
    public var unreadable: [NotReadable] = []
}

/// Digests some files. One that cannot be read does not cost the work that went into the others.
public final class DigestFiles: ResultableOperation<FileDigests>, ClusterOperation, @unchecked Sendable {
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

    private func digests() throws -> FileDigests {
        var digests = FileDigests()
        for (number, path) in parameters.paths.enumerated() {
            do {
                digests.byPath[path] = try digest(of: path)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                digests.unreadable.append(NotReadable(path, error))
            }
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
