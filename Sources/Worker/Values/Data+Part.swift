import Foundation

extension Data {
    /// Smaller parts are copied.
    private static let sharedPartBytesMin = 1 << 20

    /// The bytes at `range`, counted from the first one, as `Data` that begins at 0. A large part shares the memory of the whole.
    func part(_ range: Range<Int>) -> Data {
        guard range.count >= Self.sharedPartBytesMin else {
            return subdata(in: (startIndex + range.lowerBound)..<(startIndex + range.upperBound))
        }
        let first = withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? in bytes.baseAddress }
        guard let start = first else { preconditionFailure("\(count) bytes without an address") }
        // The address holds as long as the whole is kept, which nobody changes: so many bytes are not within the value itself.
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound), count: range.count,
            deallocator: .custom { [self] _, _ in extendLifetime(self) })
    }
}
