/// The bytes of what became of an attempt, in facts and in snapshots.
extension ByteWriter {
    mutating func write(outcome: AttemptOutcome) {
        switch outcome {
        case .success(let payload):
            write(UInt8(0))
            write(payload: payload)
        case .failure(let failures):
            write(UInt8(1))
            write(list: failures) { $0.write(failure: $1) }
        case .stopped:
            write(UInt8(2))
        case .elements(let elements):
            write(UInt8(3))
            write(list: elements) { $0.write($1) }
        case .answers(let answers):
            write(UInt8(4))
            write(answers: answers)
        case .production(let payload, let addition):
            write(UInt8(5))
            write(payload: payload)
            write(addition: addition)
        case .concluded(let wait):
            write(UInt8(7))
            write(optional: wait) { $0.write($1) }
        case .decided(let decision):
            write(UInt8(6))
            write(decision: decision) { writer, failures in writer.write(list: failures) { $0.write(failure: $1) } }
        }
    }

    mutating func write(payload: Payload) {
        write(payload.encoding.rawValue)
        switch payload.storage {
        case .inline(let bytes):
            write(UInt8(0))
            write(bytes)
        case .blob(let digest, let size):
            write(UInt8(1))
            write(digest)
            write(size)
        }
    }

    mutating func write(failure: Failure) {
        write(failure.code.rawValue)
        write(failure.isCondition)
        write(failure.publisher)
        write(failure.message)
        write(failure.typeName)
        write(optional: failure.exitCode) { $0.write(Int64($1)) }
        write(optional: failure.signal) { $0.write(Int64($1)) }
        write(optional: failure.stderr) { $0.write($1) }
        write(failure.host)
        write(failure.image)
        write(failure.origin)
    }
}

extension ByteReader {
    mutating func outcome() throws(DecodingFailure) -> AttemptOutcome {
        switch try byte() {
        case 0: return .success(try payload())
        case 1: return .failure(try list { reader throws(DecodingFailure) in try reader.failure() })
        case 2: return .stopped
        case 3: return .elements(try list { reader throws(DecodingFailure) in try reader.content() })
        case 4: return .answers(try answers())
        case 5: return .production(try payload(), try addition())
        case 6:
            return .decided(
                try decision { reader throws(DecodingFailure) in
                    try reader.list { reader throws(DecodingFailure) in try reader.failure() }
                })
        case 7: return .concluded(try optional { reader throws(DecodingFailure) in try reader.signed() })
        case let other: throw DecodingFailure("\(other) is no outcome of an attempt")
        }
    }

    mutating func payload() throws(DecodingFailure) -> Payload {
        let encoding = try named(PayloadEncoding.self)
        switch try byte() {
        case 0: return Payload(encoding: encoding, storage: .inline(try content()))
        case 1: return Payload(encoding: encoding, storage: .blob(digest: try content(), size: try unsigned()))
        case let other: throw DecodingFailure("\(other) is no way to store a value")
        }
    }

    mutating func failure() throws(DecodingFailure) -> Failure {
        Failure(
            code: try named(FailureCode.self), isCondition: try flag(), publisher: try text(), message: try text(),
            typeName: try text(),
            exitCode: try optional { reader throws(DecodingFailure) in try reader.signed32() },
            signal: try optional { reader throws(DecodingFailure) in try reader.signed32() },
            stderr: try optional { reader throws(DecodingFailure) in try reader.text() },
            host: try text(), image: try content(), origin: try text()
        )
    }
}
