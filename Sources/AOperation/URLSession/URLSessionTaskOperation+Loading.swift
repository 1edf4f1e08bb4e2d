import Foundation

extension URLSessionTaskOperation {
    // MARK: Data

    /// An operation that loads the answer to `request` into memory.
    public static func data(for request: URLRequest) -> URLSessionDataTaskOperation {
        URLSessionDataTaskOperation(TransferRequest(request))
    }

    /// An operation that loads what is at `url` into memory.
    public static func data(for url: URL) -> URLSessionDataTaskOperation {
        data(for: URLRequest(url: url))
    }

    // MARK: Upload

    /// An operation that sends `request` with its own body: its `httpBody` or its `httpBodyStream`.
    ///
    /// A request without a method, or with GET, which carries no body, is sent as POST.
    public static func upload(for request: URLRequest) -> URLSessionUploadTaskOperation {
        URLSessionUploadTaskOperation(TransferRequest(uploading: request, .own))
    }

    /// An operation that sends a POST without a body to `url`.
    public static func upload(for url: URL) -> URLSessionUploadTaskOperation {
        upload(for: URLRequest(url: url))
    }

    /// An operation that sends `request` with `data` as its body, instead of the one it has.
    public static func upload(for request: URLRequest, from data: Data) -> URLSessionUploadTaskOperation {
        URLSessionUploadTaskOperation(TransferRequest(uploading: request, .data(data)))
    }

    /// An operation that sends `data` to `url`, by POST.
    public static func upload(for url: URL, from data: Data) -> URLSessionUploadTaskOperation {
        upload(for: URLRequest(url: url), from: data)
    }

    /// An operation that sends `request` with the content of `file` as its body, instead of the one it has. The file
    /// is read anew for each attempt.
    public static func upload(for request: URLRequest, fromFile file: URL) -> URLSessionUploadTaskOperation {
        URLSessionUploadTaskOperation(TransferRequest(uploading: request, .file(file)))
    }

    /// An operation that sends the content of `file` to `url`, by POST.
    public static func upload(for url: URL, fromFile file: URL) -> URLSessionUploadTaskOperation {
        upload(for: URLRequest(url: url), fromFile: file)
    }

    // MARK: Download

    /// An operation that loads the answer to `request` into a file; see ``URLSessionDownloadTaskOperation`` for who
    /// removes that.
    public static func download(for request: URLRequest) -> URLSessionDownloadTaskOperation {
        URLSessionDownloadTaskOperation(TransferRequest(request))
    }

    /// An operation that loads what is at `url` into a file; see ``URLSessionDownloadTaskOperation`` for who removes
    /// that.
    public static func download(for url: URL) -> URLSessionDownloadTaskOperation {
        download(for: URLRequest(url: url))
    }
}
