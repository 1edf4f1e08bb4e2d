import Foundation
import Wire

/// Threads for work that blocks: Swift's cooperative pool has as few threads as there are processors.
enum OwnThread {
    /// - Throws: `ThreadError` when the system has none to give.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError) { _ = try OSThread(name: name, body) }
}
