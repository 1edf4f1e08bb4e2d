/// What clients ask.
extension Scheduler {
    mutating func answer(_ request: RequestID, _ body: Request, by authority: Authority, _ outputs: inout Outputs) {
        if let refusal = body.refusal(for: authority) { return pending.send(.reply(request, .failed(refusal)), to: request.peer) }
        let reply: Reply
        switch body {
        case .submit(let key, let name, let graph, let waitForWorkers, let cancelled, let submitter, let trace):
            reply = submit(
                key: key, name: name, graph: graph, waitForWorkers: waitForWorkers, cancelled: cancelled, submitter: submitter,
                trace: trace, by: authority, &outputs)
        case .check(let graph, let waitForWorkers):
            reply = .checked(admissionErrors(ExaminedGraph(graph), waitForWorkers: waitForWorkers, limitedTo: authority.operations).inOrder)
        case .cancel(let submission, let path, let reason, let now):
            reply = cancel(submission, path: path, reason: reason, now: now, by: authority, &outputs)
        case .pause(let submission, let path):
            if let unit = steered(submission, path: path, pauses: true, by: authority).unit,
                let awaited = awaitingLinks(request, path, by: authority, of: unit)
            {
                awaitedPauses.append(awaited)
                return recall(awaited.links)
            }
            reply = steer(submission, path: path, pauses: true, by: authority, &outputs)
        case .resume(let submission, let path):
            reply = steer(submission, path: path, pauses: false, by: authority, &outputs)
        case .retry(let submission, let key, let force, let failedOnly):
            reply = retry(submission, key: key, force: force, failedOnly: failedOnly, by: authority, &outputs)
        case .releaseLock(let key, let holders, let reason, let now):
            reply = releaseLock(key, heldBy: holders, reason: reason, now: now, &outputs)
        case .list(let before, let limit):
            reply = list(before: before, limit: limit, for: authority)
        case .show(let submission):
            reply = resolving(submission, by: authority) { number in .submission(view(of: number)) }
        case .operations(let query):
            if query.atEnd, waitForEnd(request, query, by: authority) { return }
            reply = resolving(query.submission, by: authority) { number in operations(query, of: number, for: authority) }
        case .follow(let submission, let depth):
            reply = follow(submission, depth, by: authority, request.peer)
        case .unfollow(let submission):
            reply = unfollow(submission, by: authority, request.peer)
        case .workers:
            reply = .workers(workerViews())
        case .worker(let name):
            reply = showWorker(name)
        case .workerEvents(let number):
            reply = .workerEvents(workerLog.events(after: number), last: workerLog.last)
        case .drainWorker(let name, let reason):
            reply = drainWorker(name, reason: reason, by: authority, &outputs)
        case .resumeWorker(let name):
            reply = resumeWorker(name, by: authority, &outputs)
        case .removeWorker(let name):
            reply = removeWorker(name, by: authority, &outputs)
        case .locks(let key, let from):
            reply = lockViews(of: key, from: from)
        case .explain(let submission, let path):
            explanationsAsked.append(ExplanationRequest(request: request, submission: submission, path: path, authority: authority))
            return
        case .locate(let submission, let path):
            reply = resolving(submission, by: authority) { number in locate(path, in: number) }
        case .locateOperation(let submission, let path):
            reply = resolving(submission, by: authority) { number in locateOperation(path, in: number) }
        }
        pending.send(.reply(request, reply), to: request.peer)
    }

    // MARK: Admission

    /// - Parameter whenAdmitted: called when nothing is in the way any more, before the first fact.
    mutating func submit(
        key: String, name: String, graph examined: ExaminedGraph, waitForWorkers: Bool, cancelled: [Int], submitter: Incarnation,
        trace: TraceContext, by authority: Authority, _ outputs: inout Outputs,
        whenAdmitted: (inout Self, inout Outputs) -> Void = { _, _ in }
    ) -> Reply {
        let graph = examined.graph
        if let first = durable.submissionByKey[.init(principal: authority.principal, key: key)] {
            let submission = durable.submission(first)
            guard submission.isMade(of: graph) else { return .failed(.keyReused(key, by: submission, for: graph)) }
            return .submitted(id: submission.id, existing: true)
        }
        let errors = admissionErrors(examined, waitForWorkers: waitForWorkers, limitedTo: authority.operations).inOrder
        guard errors.isEmpty else {
            return .failed(.refused(message: "the graph cannot run: \(errors.count) error\(errors.count == 1 ? "" : "s")", errors: errors))
        }
        let needsSubmitter = graph.nodes.contains(where: \.needsSubmitter)
        if needsSubmitter, !isOpenSubmitter(submitter) {
            return .failed(
                .sessionOver("the graph has hosted code, and the session of the process that submits it is not open; submit it again"))
        }
        if let busy = lackOfRoom(for: graph) { return .failed(.busy(busy)) }
        if let full = lackOfKeys(for: graph) { return .failed(.refused(message: full, errors: [])) }
        whenAdmitted(&self, &outputs)
        let number = SubmissionNumber(UInt32(durable.submissions.total + 1))
        let id = drawID()
        var admission = Admission(
            number: number, id: id, key: key, name: name.isEmpty ? graph.name : name, graph: graph, at: now.wall,
            submitter: needsSubmitter ? submitter : Incarnation(0), waitsForWorkers: waitForWorkers, principal: authority.principal,
            operations: authority.operations, trace: trace)
        admission.examined = examined
        emit(.submitted(admission), &outputs)
        findMisfits(durable.submissions.total - 1)
        // The first units are the graph's nodes. All of this is one step: nothing of it is handed out before.
        for node in cancelled where graph.nodes.indices.contains(node) {
            emit(.cancelRequested(UnitID(number, node), reason: "", now: false, at: now.wall), &outputs)
        }
        return .submitted(id: id, existing: false)
    }

    /// Why nothing as large as the graph is admitted now; nil: there is room.
    private func lackOfRoom(for graph: Graph) -> String? {
        if let fullDisk { return fullDisk }
        guard unfinishedUnits + graph.nodes.count > configuration.unitsMax else { return nil }
        return
            "\(unfinishedUnits) units are unfinished, \(graph.nodes.count) more would exceed the limit of \(configuration.unitsMax); try again later"
    }

    /// Why no more keys can be known; nil: there is room. Keys are never forgotten: who waited for one, and when it was used last, counts
    /// for whoever names it next.
    func lackOfKeys(for graph: Graph) -> String? {
        var more: Set<String> = []
        var rates: Set<String> = []
        for node in graph.nodes where node.hasOptions {
            for exclusion in node.options.exclusive where durable.locks.numbers[exclusion.key] == nil { more.insert(exclusion.key) }
            for condition in node.options.conditions {
                if let limit = condition.rate, durable.rates.records[limit.key] == nil { rates.insert(limit.key) }
            }
        }
        let known = durable.locks.keys.count + durable.rates.records.count
        let added = more.count + rates.count
        guard added > 0, known + added > configuration.keysMax else { return nil }
        return
            "\(known) keys of locks and rate limits are known, \(added) more would exceed the limit of \(configuration.keysMax) (keys); "
            + "name keys that are there already: one for each thing that is protected, not for each submission"
    }

    /// Ten characters of Crockford's base 32 in lower case.
    private mutating func drawID() -> String {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
        while true {
            var bits = identifiers.next()
            var id = ""
            for _ in 0..<10 {
                id.append(alphabet[Int(bits & 31)])
                bits >>= 5
            }
            if durable.submissionByID[id] == nil { return id }
        }
    }

    /// - Parameter operations: names of operations, groups and conditions that may be in it; empty: any.
    func admissionErrors(_ examined: ExaminedGraph, waitForWorkers: Bool, limitedTo operations: [String]) -> [AdmissionError] {
        let (graph, judgement) = (examined.graph, examined.judged(by: configuration.graphLimits))
        var (faults, soundness) = (judgement.faults, judgement.soundness)
        if soundness != .malformed { faults += Authority.faults(of: graph, limitedTo: operations) }
        if faults.isEmpty {
            for (name, node) in graph.zones where durable.zones[name] == nil {
                faults.append(
                    graph.fault(
                        node,
                        "names the time zone `\(name)`, which the coordinator does not know; write an IANA name such as `Europe/Berlin`"))
            }
        }
        guard !waitForWorkers else { return faults }
        let isWellFormed = soundness != .malformed
        if case .connected = soundness { faults += unsatisfiable(graph) + typeFaults(graph) }
        let known = durable.knownTypes.union(configuration.builtInOperations)
        var unknown: [AdmissionError] = []
        var last = ""
        let operations = known.count <= Self.namesComparedMax ? known.filter { !OperationClasses.isCondition($0) }.sorted() : []
        for (index, node) in graph.nodes.enumerated() {
            guard let operation = node.registered, operation.type != last else { continue }
            guard !known.contains(operation.type) else {
                last = operation.type
                continue
            }
            let path = isWellFormed ? graph.path(of: index) : ""
            let isCompared = unknown.count < Self.unknownComparedMax
            let near = isCompared ? EditDistance.nearest(to: operation.type, among: operations) : nil
            let meant = near.map { "; did you mean `\($0)`? Otherwise" } ?? ";"
            unknown.append(
                AdmissionError(
                    node: index, path: path,
                    message: "unknown operation `\(operation.type)`: no worker has ever registered it\(meant)"
                        + " start one that does, or submit with --wait-for-workers"
                ))
        }
        return faults + unknown + unknownConditions(graph, known: known, arePathsKnown: isWellFormed)
    }

    /// Known names with which one that is unknown is compared, and unknown ones that are.
    private static let namesComparedMax = 1_000
    private static let unknownComparedMax = 20

    private func unknownConditions(_ graph: Graph, known: Set<String>, arePathsKnown: Bool) -> [AdmissionError] {
        var errors: [AdmissionError] = []
        for (index, node) in graph.nodes.enumerated() where node.hasOptions {
            for type in node.probeTypes
            where !configuration.builtInConditions.contains(type) && !known.contains(OperationClasses.knownName(type)) {
                errors.append(
                    AdmissionError(
                        node: index, path: arePathsKnown ? graph.path(of: index) : "",
                        message: "unknown condition `\(type)`: no worker has ever registered it"
                            + "; start one that does, or submit with --wait-for-workers"))
            }
        }
        return errors
    }

    // MARK: Looking things up

    enum Resolution {
        case found(SubmissionNumber)
        case failed(RequestFailure)
    }

    /// A submission by id, unique prefix of one, `last`, or `key=` and its key, among those that may be read.
    func resolve(_ text: String, by authority: Authority) -> Resolution {
        if let number = durable.submissionByID[text] {
            let submission = durable.submission(number)
            guard authority.mayRead(submission) else {
                return .failed(
                    authority.refusal("read submission \(submission.id), which belongs to \(submission.owner)", takes: "observe"))
            }
            return .found(number)
        }
        if text == "last" {
            guard let last = durable.submissions.last(where: authority.mayRead) else {
                let isNone = durable.submissions.count == 0 || authority.mayObserve
                return .failed(
                    isNone
                        ? .notFound("there is no submission yet")
                        : authority.refusal(
                            "read any submission that is there, as others have submitted them and it has submitted none", takes: "observe"))
            }
            return .found(last.number)
        }
        if text.hasPrefix("key=") { return resolve(key: String(text.dropFirst(4)), by: authority) }
        let fitting = text.isEmpty ? [] : durable.submissions.filter { $0.id.hasPrefix(text) && authority.mayRead($0) }
        return one(
            of: fitting, named: text,
            notFound: "no submission `\(text)`\(authority.mayObserve ? "" : " of yours"); `aop list` shows those there are")
    }

    /// One's own comes before that of others.
    private func resolve(key: String, by authority: Authority) -> Resolution {
        if let number = durable.submissionByKey[.init(principal: authority.principal, key: key)] { return .found(number) }
        let fitting = authority.mayObserve ? durable.submissions.filter { $0.key == key } : []
        return one(
            of: fitting, named: "key=\(key)",
            notFound: "no submission\(authority.mayObserve ? "" : " of yours") has the key `\(key)`; `aop list` shows those there are")
    }

    private func one(of fitting: [Submission], named text: String, notFound: String) -> Resolution {
        switch fitting.count {
        case 0: return .failed(.notFound(notFound))
        case 1: return .found(fitting[0].number)
        default:
            let ids = fitting.prefix(5).map(\.id).joined(separator: ", ")
            return .failed(
                .ambiguous("`\(text)` fits \(fitting.count) submissions (\(ids)\(fitting.count > 5 ? ", …" : "")); give more of the id"))
        }
    }

    /// As `resolve`, of one that may be changed.
    func resolve(_ text: String, by authority: Authority, toSteer verb: String) -> Resolution {
        // Who may neither read nor change it hears of what it asked for.
        if let number = durable.submissionByID[text], !authority.mayAdminister, !authority.owns(durable.submission(number)) {
            let submission = durable.submission(number)
            return .failed(authority.refusal("\(verb) submission \(submission.id), which belongs to \(submission.owner)", takes: "admin"))
        }
        let resolution = resolve(text, by: authority)
        guard case .found(let number) = resolution, !authority.mayAdminister, !authority.owns(durable.submission(number)) else {
            return resolution
        }
        return resolve(durable.submission(number).id, by: authority, toSteer: verb)
    }

    private func resolving(_ text: String, by authority: Authority, _ body: (SubmissionNumber) -> Reply) -> Reply {
        switch resolve(text, by: authority) {
        case .found(let number): body(number)
        case .failed(let failure): .failed(failure)
        }
    }

    private func unit(_ path: String, in number: SubmissionNumber) -> Int? {
        path.isEmpty ? 0 : durable.submissions[durable.index(of: number)].unit(atPath: path)
    }

    private func noSuchPath(_ path: String, in number: SubmissionNumber) -> Reply {
        let id = durable.submissions[durable.index(of: number)].id
        return .failed(.notFound("no operation `\(path)` in submission \(id); `aop show \(id)` lists them"))
    }

    private func locate(_ path: String, in number: SubmissionNumber) -> Reply {
        guard let unit = unit(path, in: number) else { return noSuchPath(path, in: number) }
        let index = durable.index(of: number)
        let submission = durable.submissions[index]
        let units = unit == 0 ? nil : submission.units.indices.filter { submission.isInside($0, of: unit) }
        return .located(number, id: submission.id, units: units, ended: submission.units[unit].hasEnded)
    }

    private func locateOperation(_ path: String, in number: SubmissionNumber) -> Reply {
        guard let unit = unit(path, in: number) else { return noSuchPath(path, in: number) }
        let submission = durable.submissions[durable.index(of: number)]
        guard submission.node(unit).isOperation else {
            return .failed(
                .notFound("`\(path)` in submission \(submission.id) is a group, which sends nothing; name an operation in it"))
        }
        let state = submission.units[unit]
        var failures: [Failure] = []
        if state.hasEnded, case .failure(let found) = submission.received(from: unit) { failures = found }
        return .locatedOperation(
            UnitID(number, unit), id: submission.id, attempts: Int(state.attempts), ended: state.hasEnded, failures: failures)
    }

    // MARK: Steering and watching

    private mutating func cancel(
        _ text: String, path: String, reason: String, now stopsNow: Bool, by authority: Authority, _ outputs: inout Outputs
    ) -> Reply {
        switch resolve(text, by: authority, toSteer: "cancel") {
        case .failed(let failure): return .failed(failure)
        case .found(let number):
            guard let unit = unit(path, in: number) else { return noSuchPath(path, in: number) }
            let id = durable.submissions[durable.index(of: number)].id
            guard !durable.submissions[durable.index(of: number)].units[unit].hasEnded else {
                return .cancelAccepted(id: id, alreadyEnded: true)
            }
            emit(.cancelRequested(UnitID(number, unit), reason: reason, now: stopsNow, at: now.wall), &outputs)
            return .cancelAccepted(id: id, alreadyEnded: false)
        }
    }

    mutating func steer(_ text: String, path: String, pauses: Bool, by authority: Authority, _ outputs: inout Outputs) -> Reply {
        switch steered(text, path: path, pauses: pauses, by: authority) {
        case (let unit?, _):
            if !pauses { pauseBeforeResuming(unit, &outputs) }
            return steer(unit, pauses: pauses, &outputs)
        case (nil, let refusal): return refusal
        }
    }

    /// What is meant, or why nothing is.
    private func steered(_ text: String, path: String, pauses: Bool, by authority: Authority) -> (unit: UnitID?, refusal: Reply) {
        switch resolve(text, by: authority, toSteer: pauses ? "pause" : "resume") {
        case .failed(let failure): return (nil, .failed(failure))
        case .found(let number):
            return (unit(path, in: number).map { UnitID(number, $0) }, noSuchPath(path, in: number))
        }
    }

    private mutating func follow(_ text: String, _ depth: FollowDepth, by authority: Authority, _ peer: PeerID) -> Reply {
        switch resolve(text, by: authority) {
        case .failed(let failure): return .failed(failure)
        case .found(let number):
            // There is nothing more to be told of it.
            guard durable.submissions[durable.index(of: number)].outcome == nil else { return .following(view(of: number)) }
            // 0 is the coordinator itself.
            let isFull = peer.rawValue != 0 && followers.count(of: peer) >= configuration.followsPerPeerMax
            guard !isFull || followers.follows(peer, number) else {
                return .failed(
                    .busy(
                        "this connection follows \(configuration.followsPerPeerMax) submissions (followsPerPeer); unfollow some, or use another "
                            + "connection"))
            }
            followers.add(peer, to: number, depth)
            return .following(view(of: number))
        }
    }

    private mutating func unfollow(_ text: String, by authority: Authority, _ peer: PeerID) -> Reply {
        switch resolve(text, by: authority) {
        case .failed(let failure): return .failed(failure)
        case .found(let number):
            followers.remove(peer, from: number)
            return .done
        }
    }

    private func list(before: String, limit: Int, for authority: Authority) -> Reply {
        var end = durable.submissions.total
        if !before.isEmpty {
            switch resolve(before, by: authority) {
            case .failed(let failure): return .failed(failure)
            case .found(let number): end = durable.index(of: number)
            }
        }
        let count = min(limit > 0 ? limit : Self.listedDefault, Self.listedMax)
        var views: [SubmissionView] = []
        while let index = durable.submissions.index(before: end) {
            end = index
            guard authority.mayRead(durable.submissions[index]) else { continue }
            if views.count == count { return .submissions(views, more: true) }
            views.append(view(of: durable.submissions[index].number))
        }
        return .submissions(views, more: false)
    }

    private static let listedDefault = 100
    private static let listedMax = 1_000
}

extension RequestFailure {
    /// Another graph has the key; the name is one of those things in which they may differ.
    static func keyReused(_ key: String, by submission: Submission, for graph: Graph) -> RequestFailure {
        let name = submission.layout.graph.name
        let what = name == graph.name ? "another graph" : "a graph of another name, `\(name)`"
        return .refused(
            message: "the key `\(key)` belongs to submission \(submission.id) with \(what) (KeyReused); use another key", errors: [])
    }
}
