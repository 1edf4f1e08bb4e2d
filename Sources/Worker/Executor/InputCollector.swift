import Foundation
import Wire

/// Finds out which large values a unit still lacks; also within lists that are large themselves.
enum InputCollector {
    /// Blobs named by `inputs`, in the order of appearance.
    ///
    /// - Parameter held: the bytes of a value that is at hand already.
    /// - Throws: ``ReceivedValue/Missing`` when a stored list cannot be read.
    static func references(
        in inputs: [WireReceived], held: (WireBlobReference) -> Data?
    ) throws -> [WireBlobReference] {
        var found: [WireBlobReference] = []
        var pending = inputs.reversed().map(\.self)
        while let input = pending.popLast() {
            switch input.body {
            case .value(let value)?:
                if case .blob(let reference)? = value.storage { found.append(reference) }
            case .list(let list)?:
                pending.append(contentsOf: list.elements.reversed())
            case .stored(let reference)?:
                found.append(reference)
                if let bytes = held(reference) { pending.append(try StoredReceived.decode(bytes)) }
            case .failure?, nil:
                break
            }
        }
        return found
    }
}
