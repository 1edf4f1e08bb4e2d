extension ByteWriter {
    mutating func write(requirements: Requirements) {
        write(list: requirements.labels) { $0.write($1) }
        write(amounts: requirements.resources)
    }

    mutating func write(offers: [Offer]) {
        write(list: offers) { writer, offer in
            writer.write(list: offer.labels) { $0.write($1) }
            writer.write(amounts: offer.resources)
        }
    }

    private mutating func write(amounts: [ResourceAmount]) {
        write(list: amounts) { writer, amount in
            writer.write(amount.name)
            writer.write(amount.amount)
        }
    }
}

extension ByteReader {
    mutating func requirements() throws(DecodingFailure) -> Requirements {
        Requirements(labels: try texts(), resources: try amounts())
    }

    mutating func offers() throws(DecodingFailure) -> [Offer] {
        try list { reader throws(DecodingFailure) in Offer(labels: try reader.texts(), resources: try reader.amounts()) }
    }

    private mutating func amounts() throws(DecodingFailure) -> [ResourceAmount] {
        try list { reader throws(DecodingFailure) in ResourceAmount(name: try reader.text(), amount: try reader.signed()) }
    }
}
