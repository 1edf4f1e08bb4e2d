import Foundation

/// Loads an answer into a file.
///
/// ```swift
/// URLSessionTaskOperation.download(for: url)
///     .didFinish { result in
///         guard let (file, _) = try? result.get() else { return }
///         try? FileManager.default.moveItem(at: file, to: destination)
///     }
///     .add(to: queue)
/// ```
/// The file is new, in the directory for temporary files (`TMPDIR`, else `/tmp`), readable by its owner only, named
/// `AOperation-….tmp`. With the success it is yours: it stays until you move or remove it; the library removes it
/// only where there is no success (failure, cancellation). A `file:` URL is copied to such a file. What arrives faster
/// than the disk takes it is held in memory.
///
/// See ``URLSessionTaskBaseOperation`` for what is a success, for errors and for cancellation.
///
/// `@unchecked Sendable`: it adds nothing that changes.
public final class URLSessionDownloadTaskOperation: URLSessionTaskBaseOperation<(url: URL, response: URLResponse)>,
    ClusterOperation, @unchecked Sendable
{
    init(_ source: TransferRequest) {
        super.init(source, measuredBy: .bytesReceived) { FileSink() }
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

    final override func valueHasLeft() {
        if let file = outcome?.value?.url { unlink(file.path) }
    }

    /// A file that comes too late, for an operation that was cancelled or ran out of time, is nobody's.
    override func willPropose(_ value: (url: URL, response: URLResponse)) {
        onSettled { operation, _ in
            let file = (operation as? URLSessionDownloadTaskOperation)?.outcome?.value?.url
            if file != value.url { unlink(value.url.path) }
        }
    }
}
