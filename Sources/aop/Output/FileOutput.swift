import Cluster
import Dispatch
import Foundation
import Shapes
import Synchronization

/// Writes to a file descriptor in the order of the calls, from a queue of its own: a slow reader at the other end of a
/// pipe never holds up a thread of the cooperative pool.
final class FileOutput: Sendable {
    /// The other side has closed its end (`aop list | head`), or the disk is full.
    struct WriteError: Error, CustomStringConvertible {
        var descriptor: Int32
        var code: Int32
        var description: String {
            let name = descriptor == STDERR_FILENO ? "standard error" : "standard output"
            return "cannot write to \(name): \(String(cString: strerror(code)))"
        }
    }

    static let standardOutput = FileOutput(STDOUT_FILENO)
    static let standardError = FileOutput(STDERR_FILENO)

    let descriptor: Int32
    private let queue: DispatchQueue
    private let waiting = Mutex(0)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        queue = DispatchQueue(label: "aop.output.\(descriptor)")
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Bytes that were enqueued and are not written yet.
    var backlog: Int { waiting.withLock { $0 } }

    /// Writes and waits until the bytes are with the system.
    func write(_ data: Data) async throws {
        guard !data.isEmpty else { return }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { continuation.resume(with: Result { try self.writeAll(data) }) }
        }
    }

    /// Writes some time soon. For messages, whose loss is nobody's fault: an error here is dropped.
    func enqueue(_ text: String) {
        guard !text.isEmpty else { return }
        let data = Data(text.utf8)
        waiting.withLock { $0 += data.count }
        queue.async {
            // Standard error is gone: there is no place left to say so.
            try? self.writeAll(data)
            self.waiting.withLock { $0 -= data.count }
        }
    }

    /// Returns when everything enqueued before has been written.
    func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func writeAll(_ data: Data) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    // The descriptor is shared with somebody who made it non-blocking.
                    var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&descriptors, 1, -1)
                } else if errno != EINTR {
                    throw WriteError(descriptor: descriptor, code: errno)
                }
            }
        }
    }
}

extension JSONWriter {
    /// - Parameter connection: where large values come from; nil: there are none.
    init(_ output: FileOutput, connection: ClusterConnection? = nil) {
        self.init(connection: connection) { try await output.write($0) }
    }
}
