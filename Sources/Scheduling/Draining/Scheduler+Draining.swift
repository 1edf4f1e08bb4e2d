/// Workers taken out of service and back, as operators ask for it.
extension Scheduler {
    /// Whether the executor is there and gets new work, as far as it and the operators are concerned.
    func isTaking(_ worker: Int) -> Bool {
        // In its place: a copy would count references to all that a session holds.
        workers.sessions[worker].isAttached && workers.sessions[worker].isAccepting
            && (!durable.workers[worker].isDrained || configuration.ignoresDrains)
    }

    /// Whether the executor would get new work if no operator had drained it.
    func isOnlyDrained(_ worker: Int) -> Bool {
        durable.workers[worker].isDrained && workers.sessions[worker].isAttached && workers.sessions[worker].isAccepting
    }

    /// What it runs goes on to its end; what it has not begun comes back, if it is not too late.
    mutating func drainWorker(_ text: String, reason: String, by authority: Authority, _ outputs: inout Outputs) -> Reply {
        switch resolve(worker: text) {
        case .failed(let failure): return .failed(failure)
        case .found(let name):
            let isChange = durable.drains[name] == nil
            if isChange {
                emit(.workerDrained(name: name, by: authority.principal, reason: reason, at: now.wall), &outputs)
                note(.draining, named: name, by: authority, reason: reason)
                lockIntake.haveWorkersChanged = true
                for index in named(name) { recallUnbegun(from: index) }
            }
            return .workerSteered(name: name, changed: isChange, views(ofWorkersNamed: name).map { described($0) })
        }
    }

    mutating func resumeWorker(_ text: String, by authority: Authority, _ outputs: inout Outputs) -> Reply {
        switch resolve(worker: text) {
        case .failed(let failure): return .failed(failure)
        case .found(let name):
            let isChange = durable.drains[name] != nil
            if isChange {
                emit(.workerResumed(name: name, by: authority.principal, at: now.wall), &outputs)
                note(.resumed, named: name, by: authority)
                lockIntake.haveWorkersChanged = true
            }
            return .workerSteered(name: name, changed: isChange, views(ofWorkersNamed: name).map { described($0) })
        }
    }

    /// Forgets a worker of which nothing can run any more. Nothing is taken from it: what it had has moved by then.
    mutating func removeWorker(_ text: String, by authority: Authority, _ outputs: inout Outputs) -> Reply {
        // The request may come twice.
        if durable.workers.contains(where: { $0.isNamed(text) }), !isKnown(text) {
            return .workerSteered(name: text, changed: false, [])
        }
        switch resolve(worker: text) {
        case .failed(let failure): return .failed(failure)
        case .found(let name):
            for index in named(name) {
                if let refusal = removalRefusal(index) { return .failed(.refused(message: refusal, errors: [])) }
            }
            emit(.workerRemoved(name: name, by: authority.principal, at: now.wall), &outputs)
            note(.removed, named: name, by: authority)
            return .workerSteered(name: name, changed: true, [])
        }
    }

    func showWorker(_ text: String) -> Reply {
        switch resolve(worker: text) {
        case .failed(let failure): .failed(failure)
        case .found(let name): .workers(views(ofWorkersNamed: name).map { described($0) })
        }
    }

    /// What the executor has and has not said that it has begun. What is to be stopped there ends by that.
    private mutating func recallUnbegun(from worker: Int) {
        for unit in workers.sessions[worker].units {
            guard case .assigned(let attempt, let number) = durable.phase(unit),
                durable.submissions[durable.index(of: unit.submission)].units[unit.index].stop == nil
            else { continue }
            recall(unit, attempt, number)
        }
    }

    private func removalRefusal(_ index: Int) -> String? {
        let name = durable.workers[index].identity.name
        switch workers.sessions[index].connection {
        case .absent where !mayRun(index): return nil
        case .attached where !workers.sessions[index].isSuspected:
            return "worker \(name) is connected; stop its `aop worker` first, then remove it"
        case .attached, .awaited:
            return "worker \(name) may come back within its lease, and go on; try again in a while, or start it again"
        case .absent, .silent, .revoked:
            return "worker \(name) is not heard, and something may still run in it; by \(Moment.until(limit(of: index), now.wall)) it has "
                + "stopped everything: remove it then"
        }
    }

    /// The wall time by which an executor that is not heard has stopped everything.
    func limit(of worker: Int) -> Int64 {
        now.wall + workers.sessions[worker].lastHeard + configuration.orphanLimitMilliseconds - now.boot
    }
}

/// Which workers a name means.
extension Scheduler {
    enum WorkerResolution {
        /// Under which it was started.
        case found(String)
        case failed(RequestFailure)
    }

    /// A worker by its name, or by a unique prefix of one among those that are listed.
    func resolve(worker text: String) -> WorkerResolution {
        if isKnown(text) { return .found(text) }
        if let index = durable.workers.indices.last(where: { isKnown($0) && durable.workers[$0].identity.name == text }) {
            return .found(durable.workers[index].identity.givenName)
        }
        var fitting = Set(durable.drains.keys.filter { $0.hasPrefix(text) })
        for index in workers.sessions.indices where isListed(index) {
            let identity = durable.workers[index].identity
            if identity.name.hasPrefix(text) || identity.givenName.hasPrefix(text) { fitting.insert(identity.givenName) }
        }
        let names = fitting.sorted()
        switch names.count {
        case _ where text.isEmpty, 0: return .failed(.notFound("no worker `\(text)` is known; `aop workers` lists those there are"))
        case 1: return .found(names[0])
        default:
            let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
            return .failed(.ambiguous("`\(text)` fits \(names.count) workers (\(shown)); give more of the name"))
        }
    }

    /// Indices of the workers that were started under the name.
    func named(_ name: String) -> [Int] { workers.sessions.indices.filter { durable.workers[$0].isNamed(name) } }

    private func isKnown(_ name: String) -> Bool { workers.sessions.indices.contains { isKnown($0) && durable.workers[$0].isNamed(name) } }

    /// One that was removed is known while it is there.
    private func isKnown(_ index: Int) -> Bool {
        !durable.workers[index].identity.isSubmitter && (!durable.workers[index].isRemoved || isListed(index))
    }

    private func isListed(_ index: Int) -> Bool {
        !durable.workers[index].identity.isSubmitter && workers.sessions[index].connection != .absent
    }
}

/// What is shown of workers.
extension Scheduler {
    /// Those that are there or may come back, and the drained ones.
    func workerViews() -> [WorkerView] {
        var shown = Set<Int>()
        var missing = Set(durable.drains.keys)
        for index in workers.sessions.indices where isListed(index) {
            shown.insert(index)
            missing.remove(durable.workers[index].identity.givenName)
        }
        for name in missing { if let last = named(name).last { shown.insert(last) } }
        // By host and number, not in the order in which they came; `h/2` comes before `h/10`.
        func order(_ view: WorkerView) -> (String, Int, String, UInt32) {
            (view.host, view.name.utf8.count, view.name, view.number.rawValue)
        }
        return shown.map { view(ofWorker: $0) }.sorted { order($0) < order($1) }
    }

    /// Those that are there or may come back; when there is none, the last that was.
    private func views(ofWorkersNamed name: String) -> [WorkerView] {
        let all = named(name)
        let listed = all.filter { isListed($0) }
        return (listed.isEmpty ? all.suffix(1) : listed).map { view(ofWorker: $0) }
    }

    private func view(ofWorker index: Int) -> WorkerView {
        let session = workers.sessions[index]
        let identity = durable.workers[index].identity
        return WorkerView(
            number: WorkerNumber(UInt32(index)), name: identity.name, host: identity.host, pid: identity.pid, state: state(ofWorker: index),
            slots: session.slots,
            running: session.units.count { durable.submissions[durable.index(of: $0.submission)].units[$0.index].isRunning },
            operations: session.operations.map(\.name), labels: session.labels, lastHeard: session.lastHeardWall,
            resources: resourceViews(of: index), givenName: identity.givenName, drain: durable.drains[identity.givenName])
    }

    private func state(ofWorker index: Int) -> WorkerView.State {
        let session = workers.sessions[index]
        switch session.connection {
        case .absent: return durable.workers[index].isDrained ? .drained : .absent
        case .attached where session.isSuspected && session.bar == .limited: return .limited
        case .awaited, .silent, .revoked:
            switch session.bar {
            case nil: return .silent
            case .revoked: return .revoked
            case .limited: return .limited
            }
        case .attached:
            if durable.workers[index].isDrained { return mayRun(index) ? .draining : .drained }
            return session.isAccepting ? .attached : .draining
        }
    }

    private func described(_ view: WorkerView) -> WorkerView {
        let index = view.number.index
        let session = workers.sessions[index]
        var view = view
        view.detail = WorkerDetail(
            held: session.units.prefix(WorkerDetail.heldMax).map { unit in
                let submission = durable.index(of: unit.submission)
                return WorkerDetail.Held(
                    operation: durable.name(of: unit), state: operationState(of: unit.index, submission),
                    startedAt: durable.submissions[submission].units[unit.index].startedAt)
            },
            heldCount: session.units.count, conditions: session.conditions, signatures: session.operations, line: session.line,
            mayRunUntil: session.connection.isUnheard ? limit(of: index) : 0)
        return view
    }
}
