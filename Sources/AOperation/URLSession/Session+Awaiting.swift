import Foundation

/// For those who load within an operation of their own: its body ends when the transfer has, also after a cancellation.
extension URLSessionTaskOperation.Session {
    /// Loads the answer to `request` into a new file beside `target`, which is not looked at. The file is the caller's, with any status.
    ///
    /// Cancelling the task cancels the transfer. Where this throws, no file is left.
    /// - Parameter progress: told of fractions that rise, in steps of a hundredth, while the length is known.
    /// - Throws: `URLError`; `.cannotCreateFile` and `.cannotWriteToFile`, with what the system said below, are about the file.
    package func download(
        _ request: URLRequest, beside target: URL, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> (url: URL, response: URLResponse) {
        try await load(TransferRequest(request), measuredBy: .bytesReceived, progress) { FileSink(in: .beside(target)) }
    }

    /// Sends `request` with the content of `file` as its body, and loads the answer into memory.
    ///
    /// Cancelling the task cancels the transfer.
    /// - Parameter progress: told of the fraction that was sent, in steps of a hundredth.
    /// - Throws: `URLError`; of the codes of ``LocalFile`` where `file` cannot be read.
    package func upload(
        _ request: URLRequest, fromFile file: URL, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> (data: Data, response: URLResponse) {
        try await load(TransferRequest(uploading: request, .file(file)), measuredBy: .bytesSent, progress) { DataSink() }
    }

    private func load<Value: Sendable>(
        _ source: TransferRequest, measuredBy measure: Reception<Value>.Measure, _ progress: @escaping @Sendable (Double) -> Void,
        into makeSink: () -> any TransferSink<Value>
    ) async throws -> Value {
        let report: ProgressReport.Handler = { steps in
            if !steps.isIndeterminate { progress(steps.fractionCompleted) }
        }
        let end = TransferEnd<Value>()
        let reception = Reception(
            into: makeSink(), progress: [ProgressReport(to: [report], on: .global(), fractionMin: 0.01)], measuredBy: measure,
            completion: end.reach)
        let transfer = SessionTransfer(source, in: self, to: reception)
        return try await withTaskCancellationHandler {
            transfer.start()
            return try await end.value
        } onCancel: {
            transfer.cancel()
        }
    }
}

/// The end of one transfer, which one task waits for.
private final class TransferEnd<Value: Sendable>: Sendable {
    private enum State {
        /// It goes on, and nobody waits yet.
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case reached(Result<Value, any Error>)
    }

    private let state = Guarded(State.open)

    func reach(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            defer { state = .reached(result) }
            return state
        }
        if case .awaited(let continuation) = waiting { continuation.resume(with: result) }
    }

    var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if case .reached(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}
