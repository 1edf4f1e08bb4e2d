/// Streams, as executors and those who look see them.
extension Scheduler {
    func lacksStream(_ unit: UnitID) -> Bool {
        durable.submissions[durable.index(of: unit.submission)].lacksStream(unit.index)
    }

    /// An executor says that the attempt runs: those that receive its stream may begin.
    mutating func beginStream(of unit: UnitID, _ attempt: Attempt, _ outputs: inout Outputs) {
        let index = durable.index(of: unit.submission)
        guard durable.submissions[index].isStreamAwaited(unit.index) else { return }
        emit(.streamBegun(unit, attempt, at: now.wall), &outputs)
    }

    /// Why a unit waits for the operation whose stream it receives.
    func streamInTheWay(of unit: UnitID) -> WaitingView? {
        let index = durable.index(of: unit.submission)
        guard let producer = durable.submissions[index].openStreamProducer(of: unit.index) else { return nil }
        let name = durable.submissions[index].path(of: producer)
        switch durable.phase(unit) {
        case .provisional:
            return WaitingView(kind: .stream, text: "has succeeded; that counts when `\(name)`, whose stream it has received, has ended")
        case .wanting, .ready, .postponed, .retryWait:
            guard durable.submissions[index].lacksStream(unit.index) else { return nil }
            return WaitingView(kind: .stream, text: "`\(name)`, whose stream it receives, has to begin anew first")
        case .blocked, .delayed, .held, .paused, .locking, .preparing, .assigned, .open, .ended, .lingering, .dropped:
            return nil
        }
    }
}
