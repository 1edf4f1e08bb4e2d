import Scheduling
import Wire

extension LockView {
    var wire: WireLockView {
        .with {
            $0.key = key
            $0.limit = UInt32(clamping: limit)
            $0.scope = scope
            $0.holders = holders.map(\.wire)
            $0.holderCount = UInt32(clamping: holderCount)
            $0.waiting = waiting.map(\.wire)
            $0.waitingCount = UInt32(clamping: waitingCount)
        }
    }
}

extension LockView.Holder {
    fileprivate var wire: WireLockHolder {
        .with {
            $0.operation = operation
            $0.worker = worker
            $0.token = token
            $0.since = since
        }
    }
}

extension LockView.Waiter {
    fileprivate var wire: WireLockWaiter {
        .with {
            $0.operation = operation
            $0.since = since
        }
    }
}
