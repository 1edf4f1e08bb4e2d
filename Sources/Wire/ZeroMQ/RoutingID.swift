/// A connection, as the ROUTER that accepted it names it. Means nothing outside that socket and after the connection's end.
public struct RoutingID: Hashable, Sendable, CustomStringConvertible {
    private enum Storage: Hashable {
        /// Up to eight bytes, the first in the lowest byte: all names that ROUTER gives itself.
        case short(UInt64, count: UInt8)
        case long([UInt8])
    }

    private let storage: Storage

    /// Of no connection.
    package static let none = RoutingID(UnsafeRawBufferPointer(start: nil, count: 0))

    init(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count <= 8 {
            var value: UInt64 = 0
            for byte in bytes.reversed() { value = value << 8 | UInt64(byte) }
            storage = .short(value, count: UInt8(bytes.count))
        } else {
            storage = .long(Array(bytes))
        }
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch storage {
        case .short(let value, let count):
            Swift.withUnsafeBytes(of: value.littleEndian) { body(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(count)))) }
        case .long(let bytes): bytes.withUnsafeBytes(body)
        }
    }

    public var description: String {
        withUnsafeBytes { bytes in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    }
}
