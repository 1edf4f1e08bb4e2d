import Cluster
import Foundation
import Wire

/// Writes JSON values as they are walked; operations' values stream through, so that a result of any
/// size needs a few parts of it in memory.
package struct JSONWriter {
    private static let bufferBytes = 64 * 1024

    private let output: (Data) async throws -> Void
    /// Where large values come from; nil: there are none.
    private let connection: ClusterConnection?
    private var buffer = Data()

    /// - Parameter output: takes the text, part by part.
    package init(connection: ClusterConnection? = nil, output: @escaping (Data) async throws -> Void) {
        self.connection = connection
        self.output = output
    }

    /// One value on one line.
    package mutating func writeLine(_ value: JSONValue) async throws {
        try await write(value)
        append("\n")
        try await flush()
    }

    package mutating func write(_ value: JSONValue) async throws {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .number(let value): append(Self.text(of: value))
        case .string(let text): writeString(text)
        case .array(let elements):
            append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { append(",") }
                try await write(element)
                try await flushIfLarge()
            }
            append("]")
        case .object(let members):
            append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { append(",") }
                writeString(member.0)
                append(":")
                try await write(member.1)
            }
            append("}")
        case .value(let value):
            try await write(value)
        }
        try await flushIfLarge()
    }

    package mutating func flush() async throws {
        let full = buffer
        buffer = Data()
        try await output(full)
    }

    // MARK: operations' values

    private mutating func write(_ value: WireValue) async throws {
        switch value.encoding {
        case .void, .UNRECOGNIZED: append("null")
        case .json:
            try await stream(value) { writer, bytes in
                // A raw line break can only be between tokens: a value stays on one line.
                writer.buffer.append(contentsOf: bytes.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? 0x20 : $0 })
            }
        case .text:
            append("\"")
            try await stream(value) { writer, bytes in JSONEscape.append(bytes, to: &writer.buffer) }
            append("\"")
        case .bytes:
            append("\"")
            var encoder = Base64Stream()
            try await stream(value) { writer, bytes in encoder.append(bytes, to: &writer.buffer) }
            encoder.finish(to: &buffer)
            append("\"")
        }
    }

    private mutating func stream(_ value: WireValue, _ body: (inout JSONWriter, Data) -> Void) async throws {
        guard let connection else {
            if case .inline(let bytes) = value.storage { body(&self, bytes) }
            return
        }
        var writer = self
        try await connection.read(value) { bytes in
            body(&writer, bytes)
            try await writer.flushIfLarge()
        }
        self = writer
    }

    private mutating func flushIfLarge() async throws {
        if buffer.count >= Self.bufferBytes { try await flush() }
    }

    private mutating func append(_ text: String) { buffer.append(contentsOf: text.utf8) }

    private mutating func writeString(_ text: String) {
        append("\"")
        JSONEscape.append(Data(text.utf8), to: &buffer)
        append("\"")
    }

    /// A number as JSON; what is none is null.
    package static func text(of number: Double) -> String {
        guard number.isFinite else { return "null" }
        return number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}

/// The characters of a JSON string that cannot stand for themselves. Works on any part of a UTF-8 text.
package enum JSONEscape {
    /// Appends what needs no escape in whole stretches: values can be large.
    package static func append(_ bytes: Data, to buffer: inout Data) {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.count + bytes.count / 8 + 16)
        bytes.withUnsafeBytes { bytes in
            var start = 0
            for index in bytes.indices where needsEscape(bytes[index]) {
                escaped.append(contentsOf: bytes[start..<index])
                append(escaped: bytes[index], to: &escaped)
                start = index + 1
            }
            escaped.append(contentsOf: bytes[start...])
        }
        buffer.append(contentsOf: escaped)
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func append(escaped byte: UInt8, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(byte)
        case UInt8(ascii: "\n"): text.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): text.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): text.append(UInt8(ascii: "t"))
        default:
            let digits = String(byte, radix: 16)
            text.append(contentsOf: "u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
        }
    }
}

/// Base64 of bytes that come in parts of any length.
package struct Base64Stream {
    private var rest = Data()

    package init() {}

    package mutating func append(_ bytes: Data, to buffer: inout Data) {
        rest.append(bytes)
        let whole = rest.count / 3 * 3
        guard whole > 0 else { return }
        buffer.append(Data(rest.prefix(whole)).base64EncodedData())
        rest = Data(rest.dropFirst(whole))
    }

    package mutating func finish(to buffer: inout Data) {
        buffer.append(rest.base64EncodedData())
        rest = Data()
    }
}
