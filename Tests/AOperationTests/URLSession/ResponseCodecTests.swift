import Foundation
import Testing

@testable import AOperation

/// What sessions deliver, on its way to another process.
struct ResponseCodecTests {
    private func answer(
        _ status: Int = 201, _ headers: [String: String] = ["Content-Type": "text/plain; charset=utf-8"]
    ) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://host.invalid/path?x=1"))
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers))
    }

    @Test(arguments: [Data(), Data("a\nb\n\nc".utf8), Data([0, 10, 255, 13]), Data(repeating: 7, count: 1 << 20)])
    func answers_areTheSameAgain(body: Data) throws {
        let value = try ValueCodec.encode((data: body, response: try answer() as URLResponse))
        #expect(value.encoding == .bytes)
        let again = try ValueCodec.decode((data: Data, response: URLResponse).self, from: value)
        #expect(again.data == body)
        #expect(again.data.startIndex == 0)
        let response = try #require(again.response as? HTTPURLResponse)
        #expect(response.statusCode == 201)
        #expect(response.url?.absoluteString == "http://host.invalid/path?x=1")
        #expect(response.mimeType == "text/plain")
        #expect(response.textEncodingName == "utf-8")
        let plain = try ValueCodec.decode((Data, URLResponse).self, from: value)
        #expect(plain.0 == body)
        #expect(try ValueCodec.encode(plain) == value)
    }

    @Test func downloads_areNewFilesOfTheSameContent() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try Data("line\nline".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let value = try ValueCodec.encode((url: file, response: try answer(200) as URLResponse))
        let again = try ValueCodec.decode((url: URL, response: URLResponse).self, from: value)
        let plain = try ValueCodec.decode((URL, URLResponse).self, from: value)
        for copy in [again.url, plain.0] {
            #expect(copy != file)
            #expect(try Data(contentsOf: copy) == Data("line\nline".utf8))
            try FileManager.default.removeItem(at: copy)
        }
        let missing = (url: URL(fileURLWithPath: "/nonexistent/file"), response: try answer() as URLResponse)
        #expect(throws: (any Error).self) { try ValueCodec.encode(missing) }
    }

    @Test func responsesOfOtherProtocols_keepTypeAndLength() throws {
        let url = URL(fileURLWithPath: "/etc/hostname")
        let response = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 3, textEncodingName: nil)
        let again = try ValueCodec.decode(
            (data: Data, response: URLResponse).self, from: try ValueCodec.encode((data: Data("abc".utf8), response: response)))
        #expect(!(again.response is HTTPURLResponse))
        #expect(again.response.url == url)
        #expect(again.response.mimeType == "text/plain")
        #expect(again.response.expectedContentLength == 3)
    }

    @Test(arguments: ["", "{}", "\nbody", "no JSON\nbody", "{\"status\":200}\nbody", "{\"url\":7}\n"])
    func whatIsNoAnswer_isRefusedByName(text: String) {
        for value in [EncodedValue.text(text), .bytes(Data(text.utf8))] {
            let error = #expect(throws: ClusterCodingError.self) {
                try ValueCodec.decode((data: Data, response: URLResponse).self, from: value)
            }
            #expect(error?.code == .notDecodable)
        }
    }

    @Test func parameters_makeTheSameRequest() throws {
        var request = URLRequest(
            url: try #require(URL(string: "https://host.invalid/a")), cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 7)
        request.httpMethod = "PUT"
        request.setValue("b", forHTTPHeaderField: "A")
        request.httpBody = Data("body".utf8)
        let again = try URLSessionUploadTaskOperation.make(parameters: URLSessionTaskOperation.upload(for: request).encodedParameters())
        #expect(again.source.request.url == request.url)
        #expect(again.source.request.httpMethod == "PUT")
        #expect(again.source.request.allHTTPHeaderFields == ["A": "b"])
        #expect(again.source.request.httpBody == Data("body".utf8))
        #expect(again.source.request.timeoutInterval == 7)
        #expect(again.source.request.cachePolicy == .reloadIgnoringLocalCacheData)
        let bare = try URLSessionTaskOperation.data(for: #require(URL(string: "https://host.invalid/a")))
        #expect(try String(decoding: bare.encodedParameters(), as: UTF8.self) == #"{"url":"https://host.invalid/a"}"#)
    }

    @Test func loadingErrors_keepCodeURLAndText() throws {
        let url = try #require(URL(string: "http://host.invalid/"))
        let error = URLError.about(url, .timedOut, "too slow", underlying: POSIXError(.ECONNRESET))
        let image = try #require(PortableErrors.image(of: error))
        let again = try #require(PortableErrors.error(from: image) as? URLError)
        #expect(again.code == .timedOut)
        #expect(again.failingURL == url)
        #expect(again.localizedDescription == "too slow")
    }
}
