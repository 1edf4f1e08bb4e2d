import Foundation

/// Paths of files that operations name.
enum HostPath {
    /// Relative paths are below `directory`, or below this process's own.
    static func resolve(_ path: String, in directory: String?) -> String {
        guard !path.hasPrefix("/"), let directory else { return path }
        return directory + "/" + path
    }

    /// The system's own words, where there are any.
    static func reason(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey]
        if let reason = underlying as? POSIXError { return String(cString: strerror(reason.code.rawValue)) }
        if let reason = underlying as? NSError, reason.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(reason.code))) }
        return error.localizedDescription
    }
}
