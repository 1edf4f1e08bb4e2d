import Foundation

/// An HTTP client that sends exactly what it is told, over a plain socket.
struct RawHTTP {
    struct Answer {
        let status: Int
        /// By names in lower case.
        let headers: [String: String]
        let text: String
    }

    let host: String
    let port: UInt16

    /// - Parameter address: as in `127.0.0.1:7601`.
    init(_ address: String) throws {
        let parts = address.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1]) else { throw CocoaError(.formatting) }
        (host, self.port) = (String(parts[0]), port)
    }

    /// Sends a request and reads its whole answer.
    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil) throws -> Answer {
        try withConnection { descriptor in
            try write(method, path, headers, body, to: descriptor)
            var bytes: [UInt8] = []
            while let more = try read(descriptor) { bytes += more }
            return try Self.answer(bytes)
        }
    }

    /// Sends a request and reads its answer until `isEnough` says so; the text of all events so far.
    func stream(_ path: String, _ headers: [String: String] = [:], until isEnough: (String) -> Bool) throws -> String {
        try withConnection { descriptor in
            try write("GET", path, headers, nil, to: descriptor)
            var bytes: [UInt8] = []
            while let more = try read(descriptor) {
                bytes += more
                let text = Self.events(String(decoding: bytes, as: UTF8.self))
                if isEnough(text) { return text }
            }
            return Self.events(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Sizes of chunks fall between the lines of events.
    fileprivate static func events(_ text: String) -> String {
        text.replacingOccurrences(of: #"\r\n[0-9a-fA-F]+\r\n"#, with: "", options: .regularExpression)
    }

    /// A stream that was asked for, and that nobody reads yet.
    struct Unread {
        fileprivate let http: RawHTTP
        fileprivate let descriptor: Int32

        /// Reads until `isEnough` says so of all events so far; false: the stream has ended before.
        func read(until isEnough: (String) -> Bool) throws -> Bool {
            var bytes: [UInt8] = []
            while let more = try http.read(descriptor) {
                bytes += more
                // Not after each of thousands of small parts.
                if more.count < 4096, isEnough(RawHTTP.events(String(decoding: bytes, as: UTF8.self))) { return true }
            }
            return isEnough(RawHTTP.events(String(decoding: bytes, as: UTF8.self)))
        }

        func close() { Glibc.close(descriptor) }
    }

    /// Sends a request, and reads nothing.
    func open(_ path: String, receiveBufferBytes: Int32) throws -> Unread {
        let descriptor = try connected(receiveBufferBytes: receiveBufferBytes)
        try write("GET", path, [:], nil, to: descriptor)
        return Unread(http: self, descriptor: descriptor)
    }

    private func withConnection<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = try connected()
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private func connected(receiveBufferBytes: Int32? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var bytes = receiveBufferBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &target.sin_addr)
        let status = withUnsafePointer(to: target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw CocoaError(.fileReadUnknown)
        }
        return descriptor
    }

    private func write(
        _ method: String, _ path: String, _ headers: [String: String], _ body: String?, to descriptor: Int32
    ) throws {
        var all = headers
        all["Host"] = headers["Host"] ?? "\(host):\(port)"
        all["Connection"] = "close"
        if let body { all["Content-Length"] = "\(body.utf8.count)" }
        var text = "\(method) \(path) HTTP/1.1\r\n"
        for (name, value) in all.sorted(by: { $0.key < $1.key }) { text += "\(name): \(value)\r\n" }
        let bytes = Array((text + "\r\n" + (body ?? "")).utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw CocoaError(.fileWriteUnknown) }
    }

    /// nil: the answer has ended.
    fileprivate func read(_ descriptor: Int32) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw CocoaError(.fileReadUnknown) }
        return count == 0 ? nil : Array(buffer[..<count])
    }

    private static func answer(_ bytes: [UInt8]) throws -> Answer {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw CocoaError(.formatting) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        var body = parts.dropFirst().joined(separator: "\r\n\r\n")
        if headers["transfer-encoding"] == "chunked" { body = unchunked(body) }
        return Answer(status: status, headers: headers, text: body)
    }

    private static func unchunked(_ text: String) -> String {
        var rest = Array(text.utf8)[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 13) {
            guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), size > 0 else { break }
            let start = end + 2
            body += rest[start..<(start + size)]
            rest = rest[(start + size + 2)...]
        }
        return String(decoding: body, as: UTF8.self)
    }
}
