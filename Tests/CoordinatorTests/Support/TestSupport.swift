import Foundation
import Scheduling
import Testing
import Wire

@testable import Coordinator

/// A directory that goes with the object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "aop-coordinator-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Runs blocking code on a thread of its own: sockets belong to one, and the cooperative pool is not blocked.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let result = OneShot<Result<Value, any Error>>()
    let thread = try OSThread(name: "aop-test") { result.set(Result { try body() }) }
    defer { _ = thread }
    return try await result.value.get()
}

/// Collects what a thread reports, and lets the test wait for it.
final class Collector<Element: Sendable>: Sendable {
    private let queue = WorkQueue<Element>()

    func add(_ element: Element) { queue.post(element) }

    /// What was added since the last look.
    func rest() -> [Element] {
        guard case .jobs(let elements) = queue.take(withinMilliseconds: 0) else { return [] }
        return elements
    }

    /// Waits until `isEnough` of what was collected, at most 10 s. Blocks: call it within `onThread`.
    func wait(until isEnough: ([Element]) -> Bool) throws -> [Element] {
        var all: [Element] = []
        let deadline = BootClock.milliseconds() + 60_000
        while !isEnough(all) {
            guard case .jobs(let more) = queue.take(withinMilliseconds: max(0, deadline - BootClock.milliseconds())),
                !more.isEmpty
            else { throw Timeout(what: "collected \(all.count) elements, which is not enough") }
            all += more
        }
        return all
    }
}

struct Timeout: Error, CustomStringConvertible {
    let what: String
    var description: String { "timed out: \(what)" }
}

/// A few facts that can stand at the beginning of a journal.
enum Facts {
    static func types(_ range: Range<Int>) -> [Fact] { range.map { .typesRegistered(["type\($0)"]) } }
}

func folded(_ database: JournalDatabase) throws -> (facts: [Fact], end: JournalEnd) {
    var facts: [Fact] = []
    let end = try database.fold { facts.append($0) }
    return (facts, end)
}

func batch(_ facts: [Fact], after end: JournalEnd) -> JournalBatch {
    var batch = JournalBatch(after: end.sequence)
    for fact in facts { batch.append(fact) }
    return batch
}
