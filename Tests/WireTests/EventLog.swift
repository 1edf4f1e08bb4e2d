import Foundation
import Testing

/// Collects what other threads report; a test waits for what it expects, with a deadline.
final class EventLog<Element: Sendable>: @unchecked Sendable {
    // Invariant: `elements` and `read` are used only while `condition` is locked.
    private let condition = NSCondition()
    private var elements: [Element] = []
    private var read = 0

    func append(_ element: Element) {
        condition.lock()
        elements.append(element)
        condition.broadcast()
        condition.unlock()
    }

    /// Goes on to the first element that is not read yet and for which `body` gives something; those before it are skipped.
    func next<Result>(
        within seconds: Double = 60, _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: (Element) -> Result?
    ) throws -> Result {
        let deadline = Date().addingTimeInterval(seconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            while read < elements.count {
                read += 1
                if let result = body(elements[read - 1]) { return result }
            }
            guard condition.wait(until: deadline) else {
                Issue.record("\(what) did not come within \(seconds) s; seen: \(elements)", sourceLocation: sourceLocation)
                throw Missing(what: what)
            }
        }
    }

    var all: [Element] {
        condition.lock()
        defer { condition.unlock() }
        return elements
    }
}

struct Missing: Error {
    let what: String
}
