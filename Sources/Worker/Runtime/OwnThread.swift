import Foundation

/// Threads for work that blocks: Swift's cooperative pool has as few threads as there are processors.
enum OwnThread {
    static func start(name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }
}
