import Foundation

extension URLError {
    /// An error about `url`, with a text of its own.
    static func about(_ url: URL?, _ code: URLError.Code, _ text: String, underlying: (any Error)? = nil) -> URLError {
        var details: [String: Any] = [NSLocalizedDescriptionKey: text]
        if let url { details[NSURLErrorFailingURLErrorKey] = url }
        if let underlying { details[NSUnderlyingErrorKey] = underlying }
        return URLError(code, userInfo: details)
    }

    /// An error of the file system about `url`: the code for `errno`, or `otherwise`.
    static func file(_ url: URL, _ number: Int32, otherwise code: URLError.Code, _ what: String) -> URLError {
        let reason = POSIXErrorCode(rawValue: number).map { POSIXError($0) }
        let mapped: URLError.Code =
            switch number {
            case ENOENT, ENOTDIR: .fileDoesNotExist
            case EACCES, EPERM: .noPermissionsToReadFile
            case EISDIR: .fileIsDirectory
            default: code
            }
        return about(url, mapped, "\(what) \(url.path): \(String(cString: strerror(number)))", underlying: reason)
    }

    /// What a task ended with, as a `URLError` that names the URL, where it is an error of loading at all. Foundation
    /// leaves the URL and the text out of some.
    static func ofTask(_ error: any Error, loading url: URL?) -> any Error {
        let known: URLError
        if let error = error as? URLError {
            known = error
        } else {
            let general = error as NSError
            guard general.domain == NSURLErrorDomain, let code = URLError.Code(rawValue: general.code) else { return error }
            known = URLError(code, userInfo: general.userInfo)
        }
        guard known.failingURL == nil || known.userInfo[NSLocalizedDescriptionKey] == nil else { return known }
        let text =
            known.userInfo[NSLocalizedDescriptionKey] as? String
            ?? (known.code == .timedOut ? "The request timed out." : known.localizedDescription)
        return about(known.failingURL ?? url, known.code, text, underlying: known)
    }

    static func cancelled(loading url: URL?) -> URLError {
        about(url, .cancelled, "The loading was cancelled.")
    }
}
