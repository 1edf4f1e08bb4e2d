import Foundation

/// A `URLError` on its way to another process, where it is a `URLError` again: with its code, URL and text.
struct LoadingError: PortableError {
    static var errorName: String { "Foundation.URLError" }

    var code: Int
    var url: URL?
    var text: String

    init(_ error: URLError) {
        code = error.errorCode
        url = error.failingURL
        text = error.localizedDescription
    }

    var original: URLError {
        var details: [String: Any] = [NSLocalizedDescriptionKey: text]
        if let url { details[NSURLErrorFailingURLErrorKey] = url }
        return URLError(URLError.Code(rawValue: code) ?? .unknown, userInfo: details)
    }
}
