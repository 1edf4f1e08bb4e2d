import Foundation

/// Makes an operation's value of what a transfer loads, and counts its progress.
final class Reception<Value>: TransferReceiver {
    /// What the progress of a transfer is counted by.
    enum Measure: Sendable {
        case bytesReceived
        case bytesSent
    }

    private let sink: any TransferSink<Value>
    private let progress: [ProgressReport]
    private let measure: Measure
    private let completion: (Result<Value, any Error>) -> Void
    private var response: URLResponse?
    private var received: Int64 = 0
    private var expected: Int64 = -1

    /// `completion` is called once, at the end, on the transfer's queue.
    init(
        into sink: any TransferSink<Value>, progress: [ProgressReport], measuredBy measure: Measure,
        completion: @escaping (Result<Value, any Error>) -> Void
    ) {
        self.sink = sink
        self.progress = progress
        self.measure = measure
        self.completion = completion
    }

    func received(_ response: URLResponse, expecting total: Int64) throws {
        self.response = response
        received = 0
        expected = total
        try sink.begin(expecting: total)
        if measure == .bytesReceived { tellProgress(0, of: total) }
    }

    func received(_ data: Data) throws {
        try sink.append(data)
        received += Int64(data.count)
        if measure == .bytesReceived { tellProgress(received, of: expected) }
    }

    func sent(_ count: Int64, of total: Int64) {
        if measure == .bytesSent { tellProgress(count, of: total) }
    }

    func ended(with error: (any Error)?, response: URLResponse?) {
        do {
            if let error { throw error }
            guard let response = response ?? self.response else {
                throw URLError.about(nil, .badServerResponse, "There was no response.")
            }
            let value = try sink.finish(with: response)
            for report in progress { report.complete() }
            completion(.success(value))
        } catch {
            sink.discard()
            for report in progress { report.close() }
            completion(.failure(error))
        }
    }

    private func tellProgress(_ completed: Int64, of total: Int64) {
        for report in progress { report.update(completed: completed, of: total) }
    }
}
