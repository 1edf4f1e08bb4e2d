extension ByteWriter {
    /// - Parameter withElements: what it sends and receives while it runs, too; a journal from before there was any has none.
    mutating func write(signature: OperationSignature, withElements: Bool) {
        write(signature.name)
        write(count: signature.version)
        write(count: signature.oldestVersion)
        write(signature.input != nil)
        if let input = signature.input { write(type: input) }
        write(type: signature.output)
        guard withElements else { return }
        for type in [signature.sent, signature.streamed] { write(optional: type) { $0.write(type: $1) } }
    }

    private mutating func write(type: ValueType) {
        write(type.form.rawValue)
        write(type.name)
        write(type.element)
    }
}

extension ByteReader {
    mutating func signature(withElements: Bool) throws(DecodingFailure) -> OperationSignature {
        var signature = OperationSignature(
            name: try text(), version: try index(), oldestVersion: try index(), input: try flag() ? try valueType() : nil,
            output: try valueType())
        guard withElements else { return signature }
        signature.sent = try optional { reader throws(DecodingFailure) in try reader.valueType() }
        signature.streamed = try optional { reader throws(DecodingFailure) in try reader.valueType() }
        return signature
    }

    private mutating func valueType() throws(DecodingFailure) -> ValueType {
        let number = try byte()
        guard let form = ValueType.Form(rawValue: number) else { throw DecodingFailure("\(number) is no form of values") }
        return ValueType(form, name: try text(), element: try text())
    }
}
