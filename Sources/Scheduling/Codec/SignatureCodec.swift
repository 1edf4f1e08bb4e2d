extension ByteWriter {
    /// - Parameters:
    ///   - withElements: what it sends and receives while it runs, too; a journal from before there was any has none.
    ///   - withParameters: their shapes, too; likewise. Only with elements.
    mutating func write(signature: OperationSignature, withElements: Bool, withParameters: Bool) {
        write(signature.name)
        write(count: signature.version)
        write(count: signature.oldestVersion)
        write(signature.input != nil)
        if let input = signature.input { write(type: input) }
        write(type: signature.output)
        guard withElements else { return }
        for type in [signature.sent, signature.streamed] { write(optional: type) { $0.write(type: $1) } }
        guard withParameters else { return }
        if signature.decides { write(Self.decides) }
        write(shape: signature.parameters)
    }

    /// Before the shape of the parameters of a group that decides: no shape begins like that.
    fileprivate static let decides: UInt8 = 8

    private mutating func write(shape: ParameterShape) {
        switch shape {
        case .any: write(UInt8(0))
        case .bool: write(UInt8(1))
        case .integer: write(UInt8(2))
        case .number: write(UInt8(3))
        case .text: write(UInt8(4))
        case .choice(let texts):
            write(UInt8(5))
            write(list: texts) { $0.write($1) }
        case .array(let element):
            write(UInt8(6))
            write(shape: element)
        case .object(let fields):
            write(UInt8(7))
            write(list: fields) { writer, field in
                writer.write(field.name)
                writer.write(field.isRequired)
                writer.write(shape: field.shape)
            }
        }
    }

    private mutating func write(type: ValueType) {
        write(type.form.rawValue)
        write(type.name)
        write(type.element)
    }
}

extension ByteReader {
    mutating func signature(withElements: Bool, withParameters: Bool) throws(DecodingFailure) -> OperationSignature {
        var signature = OperationSignature(
            name: try text(), version: try index(), oldestVersion: try index(), input: try flag() ? try valueType() : nil,
            output: try valueType())
        guard withElements else { return signature }
        signature.sent = try optional { reader throws(DecodingFailure) in try reader.valueType() }
        signature.streamed = try optional { reader throws(DecodingFailure) in try reader.valueType() }
        guard withParameters else { return signature }
        let number = try byte()
        signature.decides = number == ByteWriter.decides
        signature.parameters = try shape(signature.decides ? try byte() : number, depth: 0)
        return signature
    }

    private mutating func shape(_ number: UInt8, depth: Int) throws(DecodingFailure) -> ParameterShape {
        guard depth <= ParameterShape.depthMax else { throw DecodingFailure("a shape of parameters is too deep") }
        switch number {
        case 0: return .any
        case 1: return .bool
        case 2: return .integer
        case 3: return .number
        case 4: return .text
        case 5: return .choice(try list { reader throws(DecodingFailure) in try reader.text() })
        case 6: return .array(try shape(try byte(), depth: depth + 1))
        case 7:
            return .object(
                try list { reader throws(DecodingFailure) in
                    let (name, isRequired) = (try reader.text(), try reader.flag())
                    return ParameterShape.Field(name, try reader.shape(try reader.byte(), depth: depth + 1), isRequired: isRequired)
                })
        default: throw DecodingFailure("\(number) is no shape of parameters")
        }
    }

    private mutating func valueType() throws(DecodingFailure) -> ValueType {
        let number = try byte()
        guard let form = ValueType.Form(rawValue: number) else { throw DecodingFailure("\(number) is no form of values") }
        return ValueType(form, name: try text(), element: try text())
    }
}
