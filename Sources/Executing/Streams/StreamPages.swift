import AOperation
import Foundation
import Wire

/// The pages of one attempt's elements, as its reader sees them: pure.
package struct StreamPages: Sendable {
    /// Whose attempt is read; 0: the operation has ended without any.
    package let attempt: UInt32
    /// The first element that was not read.
    package private(set) var index: UInt64 = 0
    private var events: [StreamEvent] = []
    private var head = 0

    package init(attempt: UInt32) { self.attempt = attempt }

    package mutating func take() -> StreamEvent? {
        guard head < events.count else { return nil }
        defer { head += 1 }
        return events[head]
    }

    /// - Parameter error: makes the error with which the operation has ended.
    package mutating func read(_ page: WireElementPage, error: (WireOperationFailure) -> AOperationError = { AOperationError($0) }) {
        events = []
        head = 0
        guard page.attempt == attempt else { return events.append(.voided) }
        for element in page.elements where element.index >= index {
            skip(to: element.index)
            events.append(
                .element(EncodedValue(encoding: ValueEncoding(element.encoding), bytes: element.bytes), index: Int(clamping: element.index))
            )
            index = element.index + 1
        }
        skip(to: page.next)
        if page.ended { events.append(.ended(page.failures.first.map(error))) }
    }

    private mutating func skip(to next: UInt64) {
        guard next > index else { return }
        events.append(.missed(count: Int(clamping: next - index)))
        index = next
    }
}
