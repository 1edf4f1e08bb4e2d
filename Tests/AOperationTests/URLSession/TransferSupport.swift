import Foundation
import Testing

@testable import AOperation

extension ResultableOperation {
    /// Runs the operation and returns the error it fails with, as a `URLError`.
    func urlError(on queue: AOperationQueue) async throws -> URLError {
        let result = await result(on: queue)
        let error = try #require(result.error, "it succeeded")
        return try #require(error.publishedError as? URLError, "\(error.publishedError)")
    }
}

extension URLResponse {
    var status: Int? { (self as? HTTPURLResponse)?.statusCode }
}

/// A request with a method and a body.
func request(_ url: URL, _ method: String, _ body: String? = nil) -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    return request
}

/// Bytes that are not all alike.
func bytes(_ count: Int) -> Data {
    var bytes = Data(capacity: count + pattern.count)
    while bytes.count < count { bytes.append(pattern) }
    return bytes.prefix(count)
}

/// Of a length that no buffer has.
private let pattern = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

/// A directory that is removed with the object.
final class Scratch: Sendable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("scratch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func file(_ name: String, _ content: Data) throws -> URL {
        let url = directory.appendingPathComponent(name)
        try content.write(to: url)
        return url
    }
}

/// A switch that a thread waits for; for routes, which may block.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    func wait() { semaphore.wait() }
}
