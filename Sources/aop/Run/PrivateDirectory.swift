import Foundation

/// A directory of this run alone (0700): the socket, the cookie and, unless the user keeps them, journal and values.
struct PrivateDirectory: Sendable {
    /// A socket's path has at most 107 bytes; the rest is ours.
    private static let basePathBytesMax = 70

    let path: String

    /// Creates it in `directory`, else in `$TMPDIR`, or in /tmp where that is not set or its path is too long for a socket.
    init(in directory: String? = nil) throws {
        let wanted = Environment["TMPDIR"]
        let base = directory ?? (wanted.hasPrefix("/") && wanted.utf8.count <= Self.basePathBytesMax ? wanted : "/tmp")
        var template = Array("\(base)/aop-run-XXXXXX".utf8CString)
        // mkdtemp makes the directory with mode 0700.
        guard mkdtemp(&template) != nil else {
            throw ToolError(
                .toolError, "temporaryDirectory",
                "no temporary directory can be made in \(base): \(String(cString: strerror(errno))); set TMPDIR to a directory you can write to"
            )
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    var endpoint: String { "ipc://\(path)/socket" }

    /// Removes it with all it holds. One that is gone already is fine.
    static func remove(_ path: String) throws {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
            return
        }
    }
}
