extension ByteWriter {
    mutating func write(signature: OperationSignature) {
        write(signature.name)
        write(count: signature.version)
        write(count: signature.oldestVersion)
        write(signature.input != nil)
        if let input = signature.input { write(type: input) }
        write(type: signature.output)
    }

    private mutating func write(type: ValueType) {
        write(type.form.rawValue)
        write(type.name)
        write(type.element)
    }
}

extension ByteReader {
    mutating func signature() throws(DecodingFailure) -> OperationSignature {
        OperationSignature(
            name: try text(), version: try index(), oldestVersion: try index(), input: try flag() ? try valueType() : nil,
            output: try valueType())
    }

    private mutating func valueType() throws(DecodingFailure) -> ValueType {
        let number = try byte()
        guard let form = ValueType.Form(rawValue: number) else { throw DecodingFailure("\(number) is no form of values") }
        return ValueType(form, name: try text(), element: try text())
    }
}
