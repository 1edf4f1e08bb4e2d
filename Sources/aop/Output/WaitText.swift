import Shapes
import Wire

/// What an operation or group waits for, or how far it has come, in a line; empty: nothing that can be said.
enum WaitText {
    static func reason(_ view: WireOperationView) -> String {
        if view.state == .paused { return PlainText.of(view.waiting.text) }
        if view.state == .stopping, let stage = view.history.last {
            if stage.event == "overdue" { return PlainText.of(stage.text) }
            return "\(PlainText.of(stage.text)) \(TimeText.duration(milliseconds: max(0, WallClock.milliseconds() - stage.at))) ago"
        }
        if view.state == .evaluating { return ConditionText.reason(view.conditions) }
        if !view.joinedTo.isEmpty { return "joined to \(view.joinedTo), which has the unique id `\(PlainText.of(view.uniqueID))`" }
        if !view.locks.isEmpty { return LockText.reason(view.locks) }
        if view.hasWaiting { return PlainText.of(view.waiting.text) }
        if view.hasProgress { return ProgressText.of(view.progress) }
        guard view.hasLastFailure else { return "" }
        let failure = PlainText.of(view.lastFailure.message)
        guard view.retryAt > 0 else { return "the last attempt failed: \(failure)" }
        let wait = view.retryAt - WallClock.milliseconds()
        return (wait > 0 ? "next attempt in \(TimeText.duration(milliseconds: wait))" : "next attempt when a worker is free")
            + ": \(failure)"
    }
}
