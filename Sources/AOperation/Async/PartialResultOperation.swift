/// An operation that sends typed elements while it runs: pages as they are read, lines as they are parsed.
///
/// ```swift
/// final class Crawl: AsyncOperation<Int>, PartialResultOperation, @unchecked Sendable {
///     typealias PartialResult = Page
///
///     override func run() async throws -> Int {
///         var count = 0
///         for try await page in pages(of: site) {
///             await send(page)
///             count += 1
///         }
///         return count
///     }
/// }
///
/// for try await page in Crawl(site).partialResults(on: queue) { print(page) }
/// ```
/// The elements are kept, numbered from 0 in each attempt, so that a late reader reads from the first. At most
/// ``partialResultsHeldMax`` are kept at a time. When so many are there, the oldest gives way as soon as every reader
/// has read it; a reader that comes for an element that is gone is told so.
///
/// A reader that is behind holds a sender of `send(_:) async` back when that many elements are kept, not before. The
/// synchronous `send(_:)` never waits: then the oldest element gives way, read or not. An operation that nobody reads
/// is never held back; a sequence counts as a reader from when it is made.
///
/// On a cluster the elements, if they are `Codable`, are kept at the coordinator, on its disk: readers of the local object,
/// or of any other process, read from the first one, however late they come, and none holds the operation back. It is
/// held back when the coordinator has no room for them.
public protocol PartialResultOperation<PartialResult>: AOperation {
    /// What is sent. `Codable` as well, if the elements are to be read from another process.
    associatedtype PartialResult: Sendable

    /// How many elements are kept at most, at least 1; 4,096 by default.
    static var partialResultsHeldMax: Int { get }
}

extension PartialResultOperation {
    public static var partialResultsHeldMax: Int { 4_096 }

    /// Sends an element and does not wait: if ``partialResultsHeldMax`` elements are kept already, the oldest gives
    /// way, and readers that had not read it are told that it is missing. For bodies that are not asynchronous.
    ///
    /// What is sent after the outcome is decided, e.g. by a cancellation, is ignored.
    public func send(_ partial: PartialResult) {
        let port = partialResultPort
        port.channel.send(partial, attempt: port.attempt)
    }

    /// Sends an element; while ``partialResultsHeldMax`` elements are kept and a reader has not read the oldest, it
    /// waits for that reader.
    ///
    /// It waits no longer than until the operation's outcome is decided (the element is ignored then), or the current
    /// task is cancelled (it is sent as the synchronous form does).
    nonisolated(nonsending)
        public func send(_ partial: PartialResult) async
    {
        let port = partialResultPort
        await port.channel.sendWaiting(partial, attempt: port.attempt)
    }
}
