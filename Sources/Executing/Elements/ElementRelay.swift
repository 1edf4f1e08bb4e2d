import AOperation
import Foundation
import Wire

/// The way of an operation's partial results from its thread to the executor's loop.
package struct ElementRelay: Sendable {
    package enum Event: Sendable {
        case element(WireElement)
        /// It has sent everything.
        case closed
        /// One of its elements cannot be sent: the attempt fails.
        case failed(WireOperationFailure)
    }

    package let gate: ElementGate
    let name: String
    let host: String
    /// Called in order.
    let deliver: @Sendable (Event) -> Void

    package init(name: String, host: String, deliver: @escaping @Sendable (Event) -> Void) {
        (self.name, self.host, self.deliver) = (name, host, deliver)
        gate = ElementGate()
    }

    /// - Returns: whether more is wanted.
    package func pass(_ partial: RelayedPartialResult) async -> Bool {
        switch partial {
        case .element(let value, let index):
            guard value.bytes.count <= Limits.partialResultBytes else {
                return fail(
                    .limit,
                    "a partial result of \(value.bytes.count) bytes is larger than \(Limits.partialResultBytes) (partialResultBytes);"
                        + " send it in parts, or deliver it as the operation's value")
            }
            let element = WireElement.with {
                $0.index = UInt64(index)
                $0.encoding = WireValueEncoding(value.encoding)
                $0.bytes = value.bytes
            }
            guard await gate.enter(bytes: element.spooledBytes) else { return false }
            deliver(.element(element))
            return true
        case .ended:
            deliver(.closed)
            return false
        case .failed(let error):
            return fail(.operation, "a partial result cannot be sent: \(error.localizedDescription)")
        }
    }

    private func fail(_ code: WireFailureCode, _ message: String) -> Bool {
        deliver(
            .failed(
                .with {
                    $0.code = code
                    $0.publisher = name
                    $0.message = message
                    $0.typeName = "PartialResultFailure"
                    $0.host = host
                }))
        return false
    }
}
