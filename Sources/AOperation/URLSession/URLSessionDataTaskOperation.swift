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
    ClusterOperation, @unchecked Sendable
{
    init(_ source: TransferRequest) {
        super.init(source, measuredBy: .bytesReceived) { DataSink() }
    }

    /// What a worker builds it from.
    public var parameters: TransferParameters { TransferParameters(source) }

    public convenience init(_ parameters: TransferParameters) {
        self.init(TransferRequest(parameters.request))
    }

    /// An operation with the same request, session and progress handlers.
    public func new() -> Self {
        let copy = Self(source)
        copy.adoptConfiguration(of: self)
        return copy
    }
}
