import Glibc

/// Reads a whole file, a pipe or standard input, up to the limit.
enum FileContents {
    /// Throws a problem whose message says why the file cannot be read.
    static func read(path: String) throws(SourceProblem) -> [UInt8] {
        if path == "-" { return try read(descriptor: STDIN_FILENO) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw problem(errno) }
        defer { close(descriptor) }
        return try read(descriptor: descriptor)
    }

    private static func read(descriptor: Int32) throws(SourceProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw problem(errno)
            }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > FileLimits.fileBytes { throw SourceText.tooLarge }
        }
    }

    private static func problem(_ code: Int32) -> SourceProblem {
        switch code {
        case ENOENT: SourceProblem(message: "no such file")
        case EISDIR: SourceProblem(message: "is a directory, not a graph file")
        case EACCES: SourceProblem(message: "cannot be read: permission denied")
        default: SourceProblem(message: "cannot be read: \(String(cString: strerror(code)))")
        }
    }
}
