import Foundation

/// Loads an answer into memory.
///
/// ```swift
/// URLSessionTaskOperation.data(for: url)
///     .didFinish { result in
///         guard case .success((let data, let response)) = result else { return }
///         print((response as? HTTPURLResponse)?.statusCode ?? 0, data.count)
///     }
///     .add(to: queue)
/// ```
/// See ``URLSessionTaskBaseOperation`` for what is a success, for errors and for cancellation.
///
/// `@unchecked Sendable`: it adds nothing that changes.
public final class URLSessionDataTaskOperation: URLSessionTaskBaseOperation<(data: Data, response: URLResponse)>,
    RetryableOperation, @unchecked Sendable
{
    init(_ source: TransferRequest) {
        super.init(source, measuredBy: .bytesReceived) { DataSink() }
    }

    /// An operation with the same request, session and progress handlers.
    public func new() -> Self {
        let copy = Self(source)
        copy.adoptConfiguration(of: self)
        return copy
    }
}
