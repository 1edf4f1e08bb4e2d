import Foundation

@testable import AOperation

/// What a client asks for.
struct TestRequest: Sendable {
    let method: String
    let target: String
    /// Names in lower case.
    let headers: [String: String]
    let body: Data
}

/// One request and what is answered to it. Used by the thread of its connection.
final class Exchange: @unchecked Sendable {
    let request: TestRequest
    /// The how-manieth this is on its connection, from 1.
    let number: Int
    /// Whether the connection cannot be used for another request.
    private(set) var isOver = false
    private let stream: ByteStream

    init(_ request: TestRequest, number: Int, on stream: ByteStream) {
        self.request = request
        self.number = number
        self.stream = stream
    }

    /// A whole answer.
    func respond(_ status: Int, _ body: Data = Data(), headers: [String: String] = [:]) {
        begin(status, headers: headers.merging(["Content-Length": "\(body.count)"]) { own, _ in own })
        if request.method != "HEAD" { write(body) }
    }

    func respond(_ status: Int, text: String, headers: [String: String] = [:]) {
        respond(status, Data(text.utf8), headers: headers)
    }

    /// Only the head of an answer.
    func begin(_ status: Int, headers: [String: String] = [:]) {
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        write(Data("HTTP/1.1 \(status) Status\r\n\(lines)\r\n".utf8))
    }

    func write(_ data: Data) {
        if !stream.write(data) { isOver = true }
    }

    /// A piece of a body that is sent in chunks; an empty one ends it.
    func writeChunk(_ data: Data) {
        write(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8))
    }

    /// Reads the body, where the server leaves that to routes; nil when the connection ends within it.
    @discardableResult
    func readBody() -> Data? { stream.readBody(request.headers) }

    /// Tells the client that nothing will come.
    func closeWriting() { stream.closeWriting() }

    /// Ends the connection as it stands.
    func drop() { isOver = true }

    /// Blocks until the client, or the end of the test, closes the connection.
    func waitForClose() {
        while stream.readMore() {}
        isOver = true
    }
}

/// The bytes of a connection.
final class ByteStream {
    private let descriptor: Int32
    private var buffer = Data()

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func write(_ data: Data) -> Bool {
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 { if errno == EINTR { continue } else { return false } }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits for bytes; false when there will be none.
    func readMore() -> Bool {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { return count < 0 && errno == EINTR }
        buffer.append(contentsOf: piece[..<count])
        return true
    }

    /// The next request with its body, or nil when the client has gone.
    func readRequest(withBody readsBody: Bool) -> TestRequest? {
        var lines: [String] = []
        while let line = readLine(), !line.isEmpty { lines.append(line) }
        let words = lines.first?.split(separator: " ").map(String.init) ?? []
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().reduce(into: [String: String]()) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        guard readsBody else { return TestRequest(method: words[0], target: words[1], headers: headers, body: Data()) }
        if headers["expect"] != nil { _ = write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        guard let body = readBody(headers) else { return nil }
        return TestRequest(method: words[0], target: words[1], headers: headers, body: body)
    }

    func readBody(_ headers: [String: String]) -> Data? {
        guard headers["transfer-encoding"]?.lowercased() == "chunked" else {
            return read(headers["content-length"].flatMap { Int($0) } ?? 0)
        }
        var body = Data()
        while let line = readLine(), let count = Int(line, radix: 16), let chunk = read(count), readLine() != nil {
            if count == 0 { return body }
            body += chunk
        }
        return nil
    }

    func closeWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func read(_ count: Int) -> Data? {
        while buffer.count < count { guard readMore() else { return nil } }
        let bytes = Data(buffer.prefix(count))
        buffer.removeFirst(count)
        return bytes
    }

    private func readLine() -> String? {
        let lineEnd = Data("\r\n".utf8)
        while true {
            if let range = buffer.range(of: lineEnd) {
                let line = String(decoding: buffer[buffer.startIndex..<range.lowerBound], as: UTF8.self)
                buffer.removeSubrange(buffer.startIndex..<range.upperBound)
                return line
            }
            guard readMore() else { return nil }
        }
    }
}
