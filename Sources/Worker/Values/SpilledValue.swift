import Foundation

/// A value that an event loop puts into an ``UnnamedFile`` without waiting for the disk: a queue of its own does.
///
/// `@unchecked Sendable`: `state` is touched on `queue` only.
final class SpilledValue: @unchecked Sendable {
    private enum State {
        /// Nothing has come yet.
        case empty
        case open(UnnamedFile)
        /// The disk did not take something; what comes behind that is dropped.
        case failed(any Error)
    }

    private let queue = DispatchQueue(label: "aop.spilled-value")
    private let directory: String
    private var state = State.empty

    /// - Parameter directory: the file is made there with the first bytes.
    init(in directory: String) { self.directory = directory }

    // MARK: From any thread

    /// Adds `bytes` behind those that came before.
    ///
    /// - Parameter then: called on the value's queue when they are written, with the error if they could not be.
    func append(_ bytes: [UInt8], then: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { then(self.write { file in try bytes.withUnsafeBytes { try file.write($0) } }) }
    }

    /// Adds `bytes` behind those that came before. ``whenWritten(_:)`` says when they are written.
    func append(_ bytes: Data) {
        queue.async { _ = self.write { file in try bytes.withUnsafeBytes { try file.write($0) } } }
    }

    /// Calls `then` on the value's queue when all that has come is written, or could not be.
    func whenWritten(_ then: @escaping @Sendable () -> Void) { queue.async { then() } }

    /// Calls `then` on the value's queue with all that has come. Nothing may come afterwards.
    func finish(_ then: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        queue.async { then(Result { try self.map() }) }
    }

    /// What `body` makes of all that has come, on the value's queue: it may take its time. Nothing may come afterwards.
    ///
    /// - Throws: `SystemCallError` when the disk did not take it, or what `body` throws.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Data) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            finish { bytes in continuation.resume(with: Result { try body(try bytes.get()) }) }
        }
    }

    // MARK: On the queue

    private func write(_ bytes: (UnnamedFile) throws -> Void) -> (any Error)? {
        do {
            try bytes(try file())
            return nil
        } catch {
            state = .failed(error)
            return error
        }
    }

    private func file() throws -> UnnamedFile {
        switch state {
        case .open(let file): return file
        case .failed(let error): throw error
        case .empty:
            let file = try UnnamedFile(in: directory)
            state = .open(file)
            return file
        }
    }

    private func map() throws -> Data {
        switch state {
        case .empty: return Data()
        case .open(let file): return try file.map()
        case .failed(let error): throw error
        }
    }
}
