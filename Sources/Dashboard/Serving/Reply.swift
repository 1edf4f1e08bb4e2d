import Cluster
import Foundation
import Hummingbird
import Shapes

/// Answers.
enum Reply {
    /// A value that is in memory.
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.data + [0x0A])))
    }

    /// A value whose parts are fetched as they are written.
    static func json(_ value: JSONValue, over connection: ClusterConnection) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody { writer in
                let sink = BodySink(writer)
                var json = JSONWriter(connection: connection) { try await sink.write($0) }
                try await json.writeLine(value)
                try await sink.finish()
            })
    }

    static func text(_ text: String, type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The body of an answer, for those who write parts of it from elsewhere. Belongs to the task that answers.
final class BodySink {
    private var writer: any ResponseBodyWriter

    init(_ writer: any ResponseBodyWriter) { self.writer = writer }

    func write(_ data: Data) async throws {
        guard !data.isEmpty else { return }
        try await writer.write(ByteBuffer(bytes: data))
    }

    func finish() async throws { try await writer.finish(nil) }
}

extension JSONValue {
    /// Its text, for values that hold nothing that has to be fetched.
    var data: Data {
        var data = Data()
        append(to: &data)
        return data
    }

    private func append(to data: inout Data) {
        func text(_ text: String) { data.append(contentsOf: text.utf8) }
        switch self {
        case .null, .value: text("null")
        case .bool(let value): text(value ? "true" : "false")
        case .integer(let number): text(String(number))
        case .number(let number): text(JSONWriter.text(of: number))
        case .string(let string):
            text("\"")
            JSONEscape.append(Data(string.utf8), to: &data)
            text("\"")
        case .array(let elements):
            text("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { text(",") }
                element.append(to: &data)
            }
            text("]")
        case .object(let members):
            text("{")
            for (index, member) in members.enumerated() {
                if index > 0 { text(",") }
                JSONValue.string(member.0).append(to: &data)
                text(":")
                member.1.append(to: &data)
            }
            text("}")
        }
    }
}
