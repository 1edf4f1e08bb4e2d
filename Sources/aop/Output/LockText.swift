import Shapes
import Wire

/// Locks as text.
enum LockText {
    static func table(_ locks: [WireLockView]) -> String {
        let now = WallClock.milliseconds()
        var table = Table(["KEY", "LIMIT", "HELD BY", "WORKER", "TOKEN", "TAKEN", "WAITING"])
        for lock in locks {
            let first = lock.holders.first
            let more = lock.holderCount > 1 ? " and \(lock.holderCount - 1) more" : ""
            table.add([
                PlainText.of(lock.key), "\(lock.limit)", first.map { $0.operation + more } ?? "-", worker(first), token(first),
                TimeText.age(first?.since ?? 0, now: now), "\(lock.waitingCount)",
            ])
        }
        return table.text
    }

    /// Each holder, then the line.
    static func details(_ locks: [WireLockView]) -> String {
        locks.map(details).joined(separator: "\n")
    }

    /// What an operation waits for that is locking.
    static func reason(_ locks: [WireLockView]) -> String {
        let now = WallClock.milliseconds()
        return locks.map { lock in
            var text = "waits for the key `\(PlainText.of(lock.key))`"
            if let holder = lock.holders.first {
                text += ", held by \(named(holder.operation))"
                if !holder.worker.isEmpty { text += " on \(holder.worker) with the token \(holder.token)" }
                text += " since \(TimeText.duration(milliseconds: now - holder.since))"
                if lock.holderCount > 1 { text += " and by \(lock.holderCount - 1) more" }
            } else if let next = lock.waiting.first {
                text += ", which \(named(next.operation)) takes first"
            }
            return lock.scope.isEmpty ? text : text + ", inside of \(lock.scope)"
        }.joined(separator: "; ")
    }

    /// Empty: of a submission that is not to be seen by whom asks.
    private static func named(_ operation: String) -> String { operation.isEmpty ? "another's operation" : operation }

    private static func details(_ lock: WireLockView) -> String {
        let now = WallClock.milliseconds()
        var table = Table(["", "OPERATION", "WORKER", "TOKEN", "SINCE"])
        for holder in lock.holders {
            table.add(["held", holder.operation, worker(holder), token(holder), TimeText.age(holder.since, now: now)])
        }
        for (index, waiter) in lock.waiting.enumerated() {
            table.add(["\(index + 1).", waiter.operation, "-", "-", TimeText.age(waiter.since, now: now)])
        }
        let unshown = Int(lock.waitingCount) - lock.waiting.count
        return "key    \(PlainText.of(lock.key))\nlimit  \(lock.limit)\n\n" + table.text + (unshown > 0 ? "and \(unshown) more wait\n" : "")
    }

    private static func worker(_ holder: WireLockHolder?) -> String {
        guard let holder, !holder.worker.isEmpty else { return "-" }
        return holder.worker
    }

    private static func token(_ holder: WireLockHolder?) -> String {
        guard let holder, holder.token != 0 else { return "-" }
        return "\(holder.token)"
    }
}
