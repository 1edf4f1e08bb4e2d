import Executing
import Foundation
import Synchronization
import Wire

/// What an executor tells the coordinator, after each turn of its loop.
extension Executor {
    func turnEnds() {
        pulse.store(BootClock.milliseconds(), ordering: .relaxed)
        runner?.turnEnds()
        // While this process is being ended its commands die of that, not by themselves: their ends are nobody's outcome.
        // The lifeline's thread may see later than the guardian that the supervisor is gone.
        guard spawns.isOpen, !(reports.contains(where: \.isEnd) && isOrphaned) else { return }
        // Before the ends: a reader who hears of an end has seen all output.
        if link?.isAttached == true {
            for batch in spool.take(now: BootClock.milliseconds()) { link?.send(.with { $0.output = batch }) }
            for batch in elements.take(now: BootClock.milliseconds()) { link?.send(.with { $0.elements = batch }) }
            for batch in products.take() { link?.send(.with { $0.products = batch }) }
        }
        if !holdsReports() { sendReports() }
        armTimer()
        // The slots help themselves for a while: many ends in one message cost little more than one.
        if state.withLock({ !$0.lined.isEmpty }) { loop.rest(milliseconds: Self.restMilliseconds) }
    }

    private func sendReports() {
        if isProgressDue || !reports.isEmpty && progress.hasNews {
            // What an operation says stands behind its start, and before its end.
            let ends = reports.filter(\.isEnd)
            send(reports.filter { !$0.isEnd })
            sendProgress()
            send(ends)
        } else {
            send(reports.foldingStarts)
        }
        reports.removeAll(keepingCapacity: true)
    }

    private static let restMilliseconds: Int32 = 1
    private static let startMilliseconds: Int64 = 1

    /// What has begun mostly ends soon, and one message tells both: a start waits for a moment if nothing else is to be told. So does
    /// everything while units follow one another here: where more of them are lined up nobody can begin anything in the place of one that has ended.
    ///
    /// Until it is told the coordinator counts it among those that may have begun.
    private func holdsReports() -> Bool {
        guard !reports.isEmpty, !isProgressDue, reports.allSatisfy(\.isStart) || state.withLock({ $0.hasLinks || !$0.lined.isEmpty }) else {
            startHold = .none
            return false
        }
        switch startHold {
        case .none:
            startHold = .held
            loop.after(milliseconds: Self.startMilliseconds) { [unowned self] in if case .held = startHold { startHold = .due } }
            return true
        case .held: return true
        case .due:
            startHold = .none
            return false
        }
    }

    private func send(_ reports: [WireUnitReport]) {
        for batch in Batching.split(reports, limitBytes: Self.reportBytesMax, size: \.sizeEstimate) {
            link?.send(.with { $0.reports = .with { $0.reports = batch } })
        }
    }

    /// There is news of how far something has come: not more often than people look.
    func sendProgressSoon() {
        let wait = progressSentAt + ProgressDesk.intervalMilliseconds - BootClock.milliseconds()
        guard wait > 0 else { return isProgressDue = true }
        loop.after(milliseconds: wait) { [unowned self] in isProgressDue = true }
    }

    private func sendProgress() {
        isProgressDue = false
        // What is not sent now is when the coordinator is there again.
        guard link?.isAttached == true else { return }
        progressSentAt = BootClock.milliseconds()
        let news = progress.take { runner?.isRunning($0) == true }
        for batch in Batching.split(news, limitBytes: Limits.pageBytes, size: { $0.progress.message.utf8.count + 64 }) {
            link?.send(.with { $0.progress = .with { $0.units = batch } })
        }
    }

    private func armTimer() {
        // What is paused is sent to nobody while nobody is there.
        let pauses = link?.isAttached == true ? [elements.deadline, spool.deadline] : []
        let deadline = ([state.withLock { $0.deadline }] + pauses).compactMap(\.self).min()
        guard deadline != timer?.deadline else { return }
        if let timer { loop.cancel(timer.timer) }
        timer = deadline.map { deadline in
            (
                deadline,
                loop.after(milliseconds: deadline - BootClock.milliseconds()) { [unowned self] in
                    timer = nil
                    stepWithoutLine { $0.tick(now: $1, at: $2) }
                }
            )
        }
    }
}

extension WireValue {
    fileprivate var inlineCount: Int { if case .inline(let bytes)? = storage { bytes.count } else { 0 } }
}

extension WireAddition {
    fileprivate var sizeEstimate: Int { graph.parameters.reduce(graph.nodes.count * 256) { $0 + $1.count } }
}

extension WireUnitReport {
    fileprivate var isEnd: Bool { if case .ended? = body { true } else { false } }
    fileprivate var isStart: Bool { if case .started? = body { true } else { false } }

    /// Roughly what it takes in a message.
    fileprivate var sizeEstimate: Int {
        switch body {
        case .ended(let end)?:
            switch end.outcome {
            case .success(let value)?:
                (value.inlineCount + 128) + (end.hasAddition ? end.addition.sizeEstimate : 0)
            case .failure(let failures)?:
                failures.errors.reduce(64) { $0 + $1.message.utf8.count + $1.stderr.utf8.count + 256 }
            case .elements(let elements)?: elements.elements.reduce(64) { $0 + $1.count + 8 }
            case .answers(let answers)?: answers.answers.reduce(64) { $0 + $1.reason.utf8.count + 16 }
            case .decided(let decision)?:
                decision.state.count + decision.addition.sizeEstimate + decision.failures.reduce(128) { $0 + $1.message.utf8.count + 256 }
            case .stopped?, .storedElements?, .concluded?, nil: 128
            }
        case .started?, .stopping?, .released?, nil: 64
        }
    }
}
