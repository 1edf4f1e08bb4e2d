import Scheduling
import Wire

extension ConclusionQuestion {
    var wire: WireConclusionQuestion {
        .with {
            $0.number = UInt32(clamping: number)
            $0.failedAttempts = UInt32(clamping: failedAttempts)
            $0.started = hasStarted
            $0.tellsWillFinish = tellsWillFinish
            $0.asksForRetry = asksForRetry
            $0.children = UInt32(clamping: children)
            if let failures { $0.ending = .failure(failures.wire) } else { $0.ending = .success((value ?? .void).wire) }
        }
    }

    /// About how many bytes it takes within a message.
    var wireBytes: Int { 30 + (value?.wireBytes ?? 0) + (failures?.reduce(0) { $0 + $1.wireBytes } ?? 0) }
}
