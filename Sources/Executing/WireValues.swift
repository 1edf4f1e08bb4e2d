import AOperation
import Foundation
import Wire

extension EncodedValue {
    package init(_ encoding: WireValueEncoding, _ bytes: Data) {
        switch encoding {
        case .void: self = .void
        case .json: self = .json(bytes)
        case .text: self.init(encoding: .text, bytes: bytes)
        case .bytes, .UNRECOGNIZED: self = .bytes(bytes)
        }
    }
}

extension ValueEncoding {
    package init(_ encoding: WireValueEncoding) {
        switch encoding {
        case .void: self = .void
        case .json: self = .json
        case .text: self = .text
        case .bytes, .UNRECOGNIZED: self = .bytes
        }
    }
}
