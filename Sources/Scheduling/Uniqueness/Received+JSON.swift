/// What a group delivers that has joined another one, for those who look: its own members have no values.
extension Received {
    /// As a list of JSON, null where there is no value or a large one. nil: it takes more than `limit` bytes.
    func json(upTo limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        return append(to: &bytes, limit) ? bytes : nil
    }

    private func append(to bytes: inout [UInt8], _ limit: Int) -> Bool {
        switch self {
        case .failure: bytes += Array("null".utf8)
        case .value(let payload): payload.append(to: &bytes)
        case .list(let elements):
            bytes.append(UInt8(ascii: "["))
            for (position, element) in elements.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                guard element.append(to: &bytes, limit) else { return false }
            }
            bytes.append(UInt8(ascii: "]"))
        }
        return bytes.count <= limit
    }
}

extension Submission {
    /// nil: the group has joined nothing, or its values are too large to be shown together.
    func joinedValue(of unit: Int) -> Payload? {
        guard let bytes = joinedValues[Int32(unit)]?.json(upTo: Self.joinedValueBytesMax) else { return nil }
        return Payload(encoding: .json, storage: .inline(bytes))
    }

    /// Below what is stored by its digest.
    private static let joinedValueBytesMax = 60 * 1024
}

extension Payload {
    fileprivate func append(to bytes: inout [UInt8]) {
        guard case .inline(let content) = storage else { return bytes += Array("null".utf8) }
        switch encoding {
        case .void: bytes += Array("null".utf8)
        case .json: bytes += content
        case .text: Self.append(text: content, to: &bytes)
        case .bytes: Self.append(base64: content, to: &bytes)
        }
    }

    private static func append(text: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00".utf8) + [hexDigit(byte >> 4), hexDigit(byte & 15)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    private static func append(base64 content: [UInt8], to bytes: inout [UInt8]) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        bytes.append(UInt8(ascii: "\""))
        for start in stride(from: 0, to: content.count, by: 3) {
            let part = content[start..<min(start + 3, content.count)]
            let bits = part.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << UInt32(16 - 8 * $1.offset) }
            for digit in 0..<4 {
                bytes.append(digit <= part.count ? alphabet[Int(bits >> UInt32(18 - 6 * digit) & 63)] : UInt8(ascii: "="))
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
