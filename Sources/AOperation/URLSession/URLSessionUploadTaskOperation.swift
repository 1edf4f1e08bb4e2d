import Foundation

/// Sends a body, and loads the answer into memory.
///
/// ```swift
/// var request = URLRequest(url: url)
/// request.httpMethod = URLRequest.HTTPMethod.put
/// URLSessionTaskOperation.upload(for: request, fromFile: file)
///     .didChangeProgress { print($0.fractionCompleted) }
///     .didFinish { result in … }
///     .add(to: queue)
/// ```
/// The body is the request's own (`httpBody`, `httpBodyStream`), or the data or file given beside it. It is read when
/// the operation runs and sent with its length, from memory; a file of more than 256 MiB is read while it is sent,
/// in chunks, which not every server takes. A body stream can be read once: another attempt of the operation fails
/// with `URLError.requestBodyStreamExhausted`. Nothing can be sent to a `file:` URL (`URLError.unsupportedURL`).
///
/// See ``URLSessionTaskBaseOperation`` for what is a success, for errors and for cancellation.
///
/// `@unchecked Sendable`: it adds nothing that changes.
public final class URLSessionUploadTaskOperation: URLSessionTaskBaseOperation<(data: Data, response: URLResponse)>,
    ClusterOperation, @unchecked Sendable
{
    init(_ source: TransferRequest) {
        super.init(source, measuredBy: .bytesSent) { DataSink() }
    }

    /// What a worker builds it from.
    public var parameters: TransferParameters { TransferParameters(source) }

    public convenience init(_ parameters: TransferParameters) {
        self.init(TransferRequest(uploading: parameters.request, .own))
    }

    /// An operation with the same request and body, session and progress handlers.
    public func new() -> Self {
        let copy = Self(source)
        copy.adoptConfiguration(of: self)
        return copy
    }
}
