import Foundation

/// The wire form of what a session's operations deliver: `(data:, response:)` and `(url:, response:)`, with or without labels.
///
/// A line of JSON (URL, status, headers) and behind it the body as it is. The file of a download travels as its content, and is a
/// new temporary file where it arrives.
enum ResponseCodec {
    static func knows(_ type: Any.Type) -> Bool {
        type == DataPair.self || type == PlainDataPair.self || type == FilePair.self || type == PlainFilePair.self
    }

    /// Whether they differ in their labels only.
    static func isAlike(_ first: Any.Type, _ second: Any.Type) -> Bool {
        [DataPair.self, FilePair.self].contains { (labelled: Any.Type) in
            let plain: Any.Type = labelled == DataPair.self ? PlainDataPair.self : PlainFilePair.self
            return (first == labelled || first == plain) && (second == labelled || second == plain)
        }
    }

    private typealias DataPair = (data: Data, response: URLResponse)
    private typealias PlainDataPair = (Data, URLResponse)
    private typealias FilePair = (url: URL, response: URLResponse)
    private typealias PlainFilePair = (URL, URLResponse)

    /// What can be said of a response in JSON.
    private struct Head: Codable {
        var url: URL?
        /// nil for one that is not of HTTP.
        var status: Int?
        var headers: [String: String]?
        var mediaType: String?
        var length: Int?
        var textEncoding: String?

        init(_ response: URLResponse) {
            url = response.url
            guard let answer = response as? HTTPURLResponse else {
                mediaType = response.mimeType
                length = response.expectedContentLength < 0 ? nil : Int(response.expectedContentLength)
                textEncoding = response.textEncodingName
                return
            }
            status = answer.statusCode
            var fields: [String: String] = [:]
            for (name, value) in answer.allHeaderFields { fields["\(name)"] = "\(value)" }
            headers = fields
        }

        var response: URLResponse? {
            guard let url else { return nil }
            guard let status else {
                return URLResponse(url: url, mimeType: mediaType, expectedContentLength: length ?? -1, textEncodingName: textEncoding)
            }
            return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        }
    }

    private static let newline = UInt8(ascii: "\n")

    /// - Throws: `URLError` when the file cannot be read; ``ClusterCodingError``.
    static func encode<T>(_ value: T) throws -> EncodedValue {
        switch value {
        case let pair as DataPair: return try encode(pair.data, pair.response)
        case let pair as PlainDataPair: return try encode(pair.0, pair.1)
        case let pair as FilePair: return try encode(content(of: pair.url), pair.response)
        case let pair as PlainFilePair: return try encode(content(of: pair.0), pair.1)
        default: throw ClusterCodingError(.noCodec, type: T.self, reason: "it is no answer of a session")
        }
    }

    private static func encode(_ body: Data, _ response: URLResponse) throws -> EncodedValue {
        var bytes = try JSONForm.encode(Head(response))
        bytes.reserveCapacity(bytes.count + 1 + body.count)
        bytes.append(newline)
        bytes.append(body)
        return .bytes(bytes)
    }

    private static func content(of url: URL) throws -> Data { try Data(contentsOf: url, options: .mappedIfSafe) }

    /// - Throws: ``ClusterCodingError``; `URLError` when no file can be made.
    static func decode(_ type: Any.Type, from value: EncodedValue) throws -> Any {
        guard let end = value.bytes.firstIndex(of: newline) else {
            throw ClusterCodingError(.notDecodable, type: type, value: value, reason: "it does not begin with a line of JSON")
        }
        let head = try JSONForm.decode(Head.self, from: .json(value.bytes[..<end]))
        guard let response = head.response else {
            throw ClusterCodingError(.notDecodable, type: type, value: value, reason: "it has no URL, or no valid status")
        }
        let body = value.bytes[value.bytes.index(after: end)...]
        if type == DataPair.self { return (data: Data(body), response: response) as DataPair }
        if type == PlainDataPair.self { return (Data(body), response) as PlainDataPair }
        let file = try TemporaryFile()
        try file.write(body)
        if type == FilePair.self { return (url: file.keep(), response: response) as FilePair }
        return (file.keep(), response) as PlainFilePair
    }
}
