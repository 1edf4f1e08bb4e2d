import Foundation

/// Takes in the body of an answer and makes an operation's value of it. Used by one transfer, on its queue.
protocol TransferSink<Value>: AnyObject {
    associatedtype Value

    /// A body begins; what came before is dropped. `total` is its length, or -1.
    func begin(expecting total: Int64) throws
    func append(_ data: Data) throws
    func finish(with response: URLResponse) throws -> Value
    /// Nothing is made of it.
    func discard()
}

/// Keeps the body in memory.
final class DataSink: TransferSink {
    /// As much room is made at once for a body of a known length; a length that a server only claims costs no more.
    private static let reservedBytesMax: Int64 = 1 << 24

    private var data = Data()

    func begin(expecting total: Int64) {
        data = Data()
        if total > 0 { data.reserveCapacity(Int(min(total, Self.reservedBytesMax))) }
    }

    func append(_ data: Data) { self.data.append(data) }

    func finish(with response: URLResponse) -> (data: Data, response: URLResponse) { (data, response) }

    func discard() { data = Data() }
}

/// Writes the body to a temporary file.
final class FileSink: TransferSink {
    private let place: TemporaryFile.Place
    private var file: TemporaryFile?

    init(in place: TemporaryFile.Place = .temporary) { self.place = place }

    func begin(expecting total: Int64) throws { file = try TemporaryFile(in: place) }

    func append(_ data: Data) throws { try openFile().write(data) }

    func finish(with response: URLResponse) throws -> (url: URL, response: URLResponse) {
        let url = try openFile().keep()
        file = nil
        return (url, response)
    }

    func discard() { file = nil }

    /// An answer without a body may come without its beginning.
    private func openFile() throws -> TemporaryFile {
        if let file { return file }
        let new = try TemporaryFile(in: place)
        file = new
        return new
    }
}
