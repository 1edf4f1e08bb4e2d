/// What keeps workers from taking a unit, as a person reads it.
extension WorkerWait {
    func text(now: Int64) -> String {
        switch reason {
        case .unheard(let worker, let since, let until):
            "is on \(worker), which \(since == 0 ? "has not come back since the coordinator started" : "is not heard since \(Moment.since(since, now))"); by \(Moment.until(until, now)) it is back,"
                + " or others get it"
        case .revoked(let worker, let until):
            "is on \(worker), whose key was revoked; by \(Moment.until(until, now)) it has stopped there, and others may get it"
        case .limited(let worker, let until):
            "is on \(worker), whose key may not do any more what it needs; by \(Moment.until(until, now)) it is back, or others get it"
        case .drained(let worker, let drain, let others):
            "no worker that is there could take it but \(worker)\(Self.more(others)), which is drained \(drain.text(now: now))"
                + (operation.isEmpty ? "" : ", for \(operation)")
        case .barred(let worker, let bar, let since, let others):
            "no worker that is there could take it but \(worker)\(Self.more(others)), whose key \(bar.phrase) since "
                + Moment.since(since, now) + (operation.isEmpty ? "" : ", for \(operation)")
        case .noWorker, .operation, .version, .condition, .requirements, .together:
            "\(reason.text)\(operation.isEmpty ? "" : ", for \(operation)")"
        }
    }

    /// What keeps those that could take it, one sentence for each kind of reason; empty: there are none.
    var absence: String {
        let kinds: [WorkerBar?] = [nil, .revoked, .limited]
        return kinds.map { bar in
            let names = absent.filter { $0.bar == bar }.map(\.worker)
            guard !names.isEmpty else { return "" }
            let isOne = names.count == 1
            let why =
                bar.map { "\(isOne ? "its key" : "their keys") \($0.phrase(ofOne: isOne))" }
                ?? "\(isOne ? "is" : "are") not heard or \(isOne ? "takes" : "take") no new work"
            return "; could take it, but \(why): \(names.joined(separator: ", "))"
        }.joined()
    }

    fileprivate static func more(_ others: Int) -> String { others == 0 ? "" : " (and \(others) more)" }

    var remedy: String {
        switch reason {
        case .noWorker: "start one with `aop worker`"
        case .operation(let type): "start a worker that registers `\(type)`"
        case .version(let version, let type): "start a worker with version \(version) of `\(type)`"
        case .condition(let type): "start a worker that registers the condition `\(type)`"
        case .requirements(let requirements): "start one with `aop worker \(requirements.flags)`"
        case .together: "start one worker that has all of it; `aop workers` shows what each has"
        case .drained(let worker, _, _): "`aop workers resume \(worker)` lets it take work again; or start another worker"
        case .unheard: "see why that worker does not reach the coordinator (`aop workers`)"
        case .revoked: "wait; `aop keys authorize` on the coordinator's host, with the --dir that its log names, lets that worker in again"
        case .limited: "give that worker's key what it needs with `aop keys authorize`; the coordinator's log says what is missing"
        case .barred(let worker, .revoked, _, _):
            "on the coordinator's host, with the --dir that its log names, `aop keys authorize` lets the key of \(worker) in again, and "
                + "`aop keys token` makes one for a worker that takes its place; or start another worker"
        case .barred(let worker, .limited, _, _):
            "give the key of \(worker) what it needs with `aop keys authorize` on the coordinator's host, whose log says what is missing; or "
                + "start another worker"
        }
    }
}

extension WorkerBar {
    /// As in "its key …".
    fileprivate var phrase: String { phrase(ofOne: true) }

    fileprivate func phrase(ofOne isOne: Bool) -> String {
        switch self {
        case .revoked: isOne ? "was revoked" : "were revoked"
        case .limited: "may not do any more what it needs"
        }
    }
}

extension WorkerWait.Reason {
    /// As `show` says it, too.
    var text: String {
        switch self {
        case .noWorker: "no worker is there"
        case .operation(let type): "no worker that is there has the operation `\(type)`"
        case .version(let version, let type): "no worker that is there has version \(version) of the operation `\(type)`"
        case .condition(let type): "no worker that is there has the condition `\(type)`"
        case .requirements(let requirements): "no worker that is there has \(requirements.text)"
        case .together: "no worker that is there has all that it needs"
        case .unheard(let worker, _, _): "\(worker) is not heard"
        case .drained(let worker, _, let others):
            "no worker that is there could take it but \(worker)\(WorkerWait.more(others)), which is drained; "
                + "`aop workers resume \(worker)` lets it take work again"
        case .revoked(let worker, _): "the key of \(worker) was revoked"
        case .limited(let worker, _): "the key of \(worker) may not do any more what it needs"
        case .barred(let worker, let bar, _, let others):
            "no worker that is there could take it but \(worker)\(WorkerWait.more(others)), whose key \(bar.phrase)"
        }
    }
}

extension SlotWait {
    var headline: String {
        if takers.first?.obstacle == .queued, let taker = takers.first {
            return "was given to \(taker.worker), which has not begun it and has \(taker.taken) for its \(taker.slots)"
                + " slot\(taker.slots == 1 ? "" : "s")"
        }
        if runsAlone {
            let count = crashes == 0 ? "" : " (\(crashes) of the \(crashLimit) that may)"
            return "waits for a worker that has nothing else, because a process has died under it\(count)"
        }
        return takerCount == 1
            ? "the worker that could take it takes no more now" : "the \(takerCount) workers that could take it take no more now"
    }

    /// What is to be said of each, and its place.
    var details: String {
        guard takers.first?.obstacle != .queued else { return "" }
        let shown = takers.map(\.text).joined(separator: "; ")
        let more = takerCount > takers.count ? "; and \(takerCount - takers.count) more" : ""
        let place = ahead == 0 ? "" : "; \(ahead >= Self.aheadMax ? "\(Self.aheadMax) or more are" : Blocker.units(ahead)) next before it"
        return (shown.isEmpty ? "" : " (\(shown)\(more))") + place
    }

    var remedy: String {
        let isForResources = !takers.isEmpty && takers.allSatisfy { if case .resources = $0.obstacle { true } else { false } }
        return isForResources
            ? "`aop workers` shows who has them; a worker on another host that has them (`aop worker --resource NAME=AMOUNT`) takes it at once"
            : "`aop workers` shows what they do; another `aop worker` takes more at once"
    }
}

extension SlotWait.Taker {
    fileprivate var text: String {
        switch obstacle {
        case .full: "\(worker) has \(taken) for its \(slots) slot\(slots == 1 ? "" : "s")\(undeliveredText)"
        case .suspected: "\(worker) has lost its connection"
        case .alone: "\(worker) has one that runs alone"
        case .kept: "\(worker) is kept for one that is to run alone"
        case .resources(let shortage): "\(worker) \(shortage)"
        case .queued: "\(worker) has not begun it"
        }
    }

    private var undeliveredText: String {
        switch undelivered {
        case 0: ""
        case 1: ", of which 1 has ended, but \(undeliveredReason)"
        default: ", of which \(undelivered) have ended, but their values are not here: of one, \(undeliveredReason)"
        }
    }
}
