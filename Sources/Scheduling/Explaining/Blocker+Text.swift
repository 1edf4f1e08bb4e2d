/// Blockers as a person reads them.
extension Blocker {
    /// What is in the way, in one sentence.
    ///
    /// - Parameter now: wall time.
    public func text(now: Int64) -> String {
        switch self {
        case .maxConcurrent(let wait) where wait.ahead > 0:
            "\(headline(now: now)), and \(Self.members(wait.ahead)) before it"
        case .lock(let wait):
            "\(headline(now: now)); \(wait.ahead == 0 ? "it is next" : "\(Self.units(wait.ahead)) in line before it")"
        case .condition(let wait):
            if case .notNow(_, let ahead) = wait.stage, ahead > 0 {
                "\(headline(now: now)); \(Self.units(ahead)) in line before it"
            } else {
                headline(now: now)
            }
        case .slots(let wait):
            headline(now: now) + wait.details
        case .worker(let wait): headline(now: now) + wait.absence
        case .dependency, .delivery, .order, .group, .maxConcurrent, .delay, .paused, .join, .retry, .submitter, .stopping,
            .partialResults, .value, .pausing:
            headline(now: now)
        }
    }

    /// The same of all that wait for it: without a place in a line.
    func headline(now: Int64) -> String {
        switch self {
        case .dependency(let other): "comes after \(other.operation), which \(other.phrase)"
        case .delivery(let other, .value): "receives from \(other.operation), which \(other.phrase)"
        case .delivery(let other, .begin): "receives the stream of \(other.operation), which has to begin first; that \(other.phrase)"
        case .delivery(let other, .end):
            "has succeeded, which counts when \(other.operation), whose stream it has received, has ended; that \(other.phrase)"
        case .order(let other): "has its turn after \(other.operation), which \(other.phrase)"
        case .group(let other): "is in \(other.operation), which has not started: that \(other.phrase)"
        case .maxConcurrent(let wait): "all \(wait.limit) places of \(wait.group.operation) are taken (`maxConcurrent`)"
        case .delay(let until): "does not begin before \(Moment.until(until, now))"
        case .paused(let other, let since): "\(other.operation) is paused since \(Moment.since(since, now))"
        case .lock(let wait): wait.text(now: now)
        case .condition(let wait): wait.text(now: now)
        case .join(let other, let id): "ends as \(other.operation) does, which has the same unique id `\(id)` and \(other.phrase)"
        case .worker(let wait): wait.text(now: now)
        case .slots(let wait): wait.headline
        case .retry(let wait): wait.text(now: now)
        case .submitter(let wait): wait.text(now: now)
        case .stopping(let wait): wait.text(now: now)
        case .partialResults(let reason): "runs, and is held back: \(reason)"
        case .value(let reason): "has ended, and waits: \(reason)"
        case .pausing(let wait):
            "a pause of \(wait.unit.operation) was asked for \(Moment.ago(wait.since, now)), which takes effect \(wait.moment)"
        }
    }

    /// What a person could do about it; empty: nothing but wait.
    ///
    /// - Parameter operation: submission and path of the unit that it is in the way of.
    public func remedy(for operation: String) -> String {
        switch self {
        case .dependency(let other), .delivery(let other, _), .order(let other), .join(let other, _): other.remedy
        case .group(let other): "`aop explain \(other.operation)` says why that has not started"
        case .maxConcurrent(let wait):
            "`aop explain \(wait.group.operation)` says what goes on in it; a larger `maxConcurrent` lets more run"
        case .delay: ""
        case .paused(let other, _): "`aop resume \(other.operation)` lets it go on"
        case .lock(let wait): wait.remedy
        case .condition(let wait): wait.remedy
        case .worker(let wait): wait.remedy
        case .slots(let wait): wait.remedy
        case .retry(let wait):
            wait.decidedBy.map(\.remedy) ?? "`aop logs \(operation)` has what its attempts wrote"
        case .submitter(let wait):
            wait.until == nil
                ? "" : "see that the program that submitted it runs and reaches the coordinator; else it fails with `submitterGone`"
        case .stopping(let wait): wait.remedy(for: operation)
        case .partialResults: "start the coordinator with a larger `--partial-result-bytes`, or let other submissions end"
        case .value: ""
        case .pausing(let wait): "`aop resume \(wait.unit.operation)` takes it back"
        }
    }

    static func units(_ count: Int) -> String { count == 1 ? "one is" : "\(count) are" }
    private static func members(_ count: Int) -> String { count == 1 ? "one member waits" : "\(count) members wait" }
}

extension BlockingUnit {
    /// How it stands, as in "which …".
    var phrase: String {
        switch state {
        case .blocked: "waits itself"
        case .locking: "waits for its locks"
        case .evaluating: "waits for its conditions"
        case .queued: "waits for a worker"
        case .running: worker.isEmpty ? "runs" : "runs on \(worker)"
        case .stopping: worker.isEmpty ? "is being stopped" : "is being stopped on \(worker)"
        case .retrying: "is to be tried again"
        case .paused: "is paused"
        case .succeeded, .failed, .cancelled: "has ended"
        }
    }

    var remedy: String {
        state == .running && !worker.isEmpty
            ? "`aop logs \(operation) -f` shows what it does" : "`aop explain \(operation)` says why that has not ended"
    }
}

extension LockWait {
    fileprivate func text(now: Int64) -> String {
        var text = "waits for the lock `\(lock.key)`"
        if let holder = lock.holders.first {
            text += ", held by \(Self.named(holder.operation))"
            if !holder.worker.isEmpty { text += " on \(holder.worker) with the token \(holder.token)" }
            text += " since \(Moment.since(holder.since, now))"
            if lock.holderCount > 1 { text += " and by \(lock.holderCount - 1) more" }
        } else if let first = lock.waiting.first {
            text += ", which \(Self.named(first.operation)) takes first"
        }
        return lock.scope.isEmpty ? text : text + ", inside of \(lock.scope)"
    }

    /// Of a submission that the reader may not read nothing is said.
    private static func named(_ operation: String) -> String { operation.isEmpty ? "another's operation" : operation }

    fileprivate var remedy: String {
        let other = lock.holders.first?.operation ?? lock.waiting.first?.operation ?? ""
        guard !other.isEmpty else { return "who has the role `observe` sees whose that is, with `aop locks show \(lock.key)`" }
        let take = lock.scope.isEmpty ? "; `aop locks show \(lock.key)` has the line, `aop locks release` takes it back" : ""
        return "`aop explain \(other)` says how far that is\(take)"
    }
}

extension ConditionWait {
    fileprivate func text(now: Int64) -> String {
        switch stage {
        case .notYet: "its condition `\(key)` is evaluated just before it starts"
        case .preparing(let other):
            "its condition `\(key)` is evaluated after its dependent operation \(other.operation), which \(other.phrase)"
        case .evaluating(let worker): "its condition `\(key)` is being evaluated by \(worker)"
        case .notNow(let verdict, _):
            "its condition `\(key)` said \"not now\" \(Moment.ago(verdict.at, now))"
                + "\(verdict.evaluator.isEmpty ? "" : " on \(verdict.evaluator)")\(verdict.reason.isEmpty ? "" : ": \(verdict.reason)")"
                + (verdict.until.map {
                    "; it is asked again \($0 > now ? "at \(Moment.until($0, now))" : "in a moment, or when it has its turn")"
                } ?? "")
        }
    }

    fileprivate var remedy: String {
        switch stage {
        case .preparing(let other): other.remedy
        case .notYet, .evaluating, .notNow: ""
        }
    }
}

extension Verdict {
    /// Wall time at which it is asked again; nil: it is not.
    var until: Int64? { if case .notNow(let until) = finding { until } else { nil } }
}

extension RetryWait {
    fileprivate func text(now: Int64) -> String {
        if let decidedBy {
            return "has ended; whether that counts \(decidedBy.operation) decides, the end of its delivery net, which \(decidedBy.phrase)"
        }
        let when = until > now ? "begins at \(Moment.until(until, now))" : "is due"
        return "attempt \(attempt) of \(attemptsMax) \(when); the last one failed: \(failure?.message ?? "its group did")"
    }
}

extension SubmitterWait {
    fileprivate func text(now: Int64) -> String {
        guard let until else { return "has ended; its submitter (\(name)) is asked what is to become of that" }
        return "needs its submitter (\(name)), which is not connected and has to be back by \(Moment.until(until, now))"
    }
}

extension StopWait {
    fileprivate func text(now: Int64) -> String {
        var text = "is being stopped\(since == 0 ? "" : " since \(Moment.since(since, now))") (\(reason))"
        if open > 0 { text += "; in it \(open == 1 ? "one has" : "\(open) have") not ended" }
        if let running {
            text +=
                running.worker.isEmpty
                ? "; \(running.operation) is not gone yet" : "; \(running.operation) is not gone yet on \(running.worker)"
        }
        if until > 0 { text += ", which is not heard: it has ended it by \(Moment.until(until, now))" }
        guard isOverdue else { return text }
        guard neighbourCount > 0 else { return text + ". It does not stop, and its process is ended for it" }
        return text + ". It does not stop, and its process ends when \(others) \(neighbourCount == 1 ? "has" : "have") ended"
    }

    /// The neighbours, by name where there are some.
    private var others: String {
        let named = neighbours.filter { !$0.isEmpty }
        guard !named.isEmpty else { return theOthers }
        let more = neighbourCount - named.count
        return named.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private var theOthers: String { neighbourCount == 1 ? "the other one in it" : "the \(neighbourCount) others in it" }

    fileprivate func remedy(for operation: String) -> String {
        if beginsAnew { return "" }
        if until > 0 { return "see why that worker does not reach the coordinator (`aop workers`)" }
        guard neighbourCount > 0 else { return "`aop cancel \(operation) --now` ends it without grace" }
        let cost = "\(theOthers) \(neighbourCount == 1 ? "is" : "are") lost with it, and \(neighbourCount == 1 ? "runs" : "run") again"
        return isOverdue
            ? "`aop cancel \(operation) --now` ends its process at once: \(cost) (what runs at most once fails)"
            : "`aop cancel \(operation) --now` ends it without grace; if that takes the end of its process, \(cost) (what runs at most once fails)"
    }
}

/// Wall times beside the present one.
enum Moment {
    /// "2026-11-21T22:00:00Z (in 12 s)"
    static func until(_ at: Int64, _ now: Int64) -> String {
        "\(WallTime.text(milliseconds: at))\(at > now ? " (in \(span(at - now)))" : "")"
    }

    /// "2026-11-21T22:00:00Z (12 s)"
    static func since(_ at: Int64, _ now: Int64) -> String { "\(WallTime.text(milliseconds: at)) (\(span(max(0, now - at))))" }

    /// "12 s ago"
    static func ago(_ at: Int64, _ now: Int64) -> String { "\(span(max(0, now - at))) ago" }

    /// "85 ms", "12 s", "3 min 05 s", "2 h 07 min", "3 d 04 h"
    static func span(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        switch seconds {
        case ..<1: return "\(milliseconds) ms"
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min \(padded(seconds % 60)) s"
        case ..<86_400: return "\(seconds / 3_600) h \(padded(seconds / 60 % 60)) min"
        default: return "\(seconds / 86_400) d \(padded(seconds / 3_600 % 24)) h"
        }
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
