import Dispatch

/// Waits for operations of any kind.
enum EndOfOperations {
    /// Blocks the calling thread until all of them have ended.
    static func wait(for operations: [AOperation], _ plain: [PlainMember]) {
        let group = DispatchGroup()
        for operation in operations {
            group.enter()
            operation.onEnd { _ in group.leave() }
        }
        for member in plain {
            group.enter()
            member.onEnd { group.leave() }
        }
        Trampoline.runWaiting()
        group.wait()
    }
}
