import Scheduling
import Wire

/// What a client asks, sorted by who answers it.
enum ClientRequest {
    /// The scheduler answers.
    case scheduler(Request)
    /// The graph is asked for first.
    case submitStored(WireSubmit, BlobKey)
    /// The scheduler says which units are meant, then a spool answers.
    case read(submission: String, Reading, waits: Bool)

    /// - Throws: `TranslationError`: the request is answered with "malformed".
    init(wire: WireRequest) throws(TranslationError) {
        switch wire.body {
        case .submit(let submit): self = try Self.submit(submit)
        case .check(let check):
            self = .scheduler(.check(graph: try Graph(wire: check.graph), waitForWorkers: check.waitForWorkers))
        case .cancel(let cancel):
            try Self.checkText(cancel.submission, "the submission's id")
            guard cancel.reason.utf8.count <= Failure.textBytesMax else {
                throw TranslationError("a reason of \(cancel.reason.utf8.count) bytes; the limit is \(Failure.textBytesMax)")
            }
            self = .scheduler(
                .cancel(
                    submission: cancel.submission, path: cancel.path, reason: cancel.reason, now: cancel.now))
        case .pause(let pause):
            try Self.checkText(pause.submission, "the submission's id")
            self = .scheduler(.pause(submission: pause.submission, path: pause.path))
        case .resume(let resume):
            try Self.checkText(resume.submission, "the submission's id")
            self = .scheduler(.resume(submission: resume.submission, path: resume.path))
        case .retry(let retry):
            try Self.checkText(retry.submission, "the submission's id")
            try Self.checkText(retry.key, "the submission's key")
            guard !retry.key.isEmpty else { throw TranslationError("a retry without a key; the client draws one") }
            self = .scheduler(.retry(submission: retry.submission, key: retry.key, force: retry.force, failedOnly: retry.failedOnly))
        case .releaseLock(let release):
            try TranslationError.checkKey(release.key, "the lock's key")
            try Self.checkText(release.reason, "the reason")
            try TranslationError.checkCount(
                release.holders.count, "holders of one lock", limit: Limits.lockHolders, named: "lockHolders")
            self = .scheduler(
                .releaseLock(key: release.key, holders: release.holders, reason: release.reason, now: release.now))
        case .drainWorker(let drain):
            try Self.checkText(drain.name, "the worker's name")
            try Self.checkText(drain.reason, "the reason")
            self = .scheduler(.drainWorker(name: drain.name, reason: drain.reason))
        case .resumeWorker(let resume):
            try Self.checkText(resume.name, "the worker's name")
            self = .scheduler(.resumeWorker(name: resume.name))
        case .removeWorker(let remove):
            try Self.checkText(remove.name, "the worker's name")
            self = .scheduler(.removeWorker(name: remove.name))
        case .worker(let show):
            try Self.checkText(show.name, "the worker's name")
            self = .scheduler(.worker(name: show.name))
        case .list(let list):
            try Self.checkText(list.before, "`before`")
            self = .scheduler(.list(before: list.before, limit: Int(list.limit)))
        case .show(let show):
            try Self.checkText(show.submission, "the submission's id")
            self = .scheduler(.show(submission: show.submission))
        case .operations(let operations):
            try Self.checkText(operations.submission, "the submission's id")
            self = .scheduler(
                .operations(
                    OperationQuery(
                        submission: operations.submission, path: operations.path, from: Int(operations.from),
                        limit: Int(operations.limit), withValues: operations.values, failedOnly: operations.failedOnly,
                        withDependencies: operations.dependencies, atEnd: operations.atEnd)))
        case .follow(let follow):
            try Self.checkText(follow.submission, "the submission's id")
            let depth = follow.details ? FollowDepth.everything : follow.endOnly ? .end : .operations
            self = .scheduler(.follow(submission: follow.submission, depth))
        case .unfollow(let unfollow):
            try Self.checkText(unfollow.submission, "the submission's id")
            self = .scheduler(.unfollow(submission: unfollow.submission))
        case .workers: self = .scheduler(.workers)
        case .workerEvents(let events): self = .scheduler(.workerEvents(after: events.after))
        case .locks(let locks):
            try TranslationError.checkKey(locks.key, "the lock's key")
            self = .scheduler(.locks(key: locks.key, from: Int(locks.from)))
        case .explain(let explain):
            try Self.checkText(explain.submission, "the submission's id")
            self = .scheduler(.explain(submission: explain.submission, path: explain.path))
        case .output(let output):
            try Self.checkText(output.submission, "the submission's id")
            guard let after = Int64(exactly: output.after) else {
                throw TranslationError("the position \(output.after) in the output is out of range")
            }
            let limit = output.limitBytes == 0 ? Limits.pageBytes : min(Int(output.limitBytes), Limits.pageBytes)
            self = .read(
                submission: output.submission, .output(path: output.path, after: after, limitBytes: limit), waits: output.wait)
        case .elements(let elements):
            try Self.checkText(elements.submission, "the submission's id")
            guard elements.index < CoordinatorLimits.outputIndices else {
                throw TranslationError("the index \(elements.index) of a partial result is out of range")
            }
            let limit = elements.limitBytes == 0 ? Limits.pageBytes / 4 : min(Int(elements.limitBytes), Limits.pageBytes)
            self = .read(
                submission: elements.submission,
                .elements(path: elements.path, attempt: Int(elements.attempt), index: elements.index, limitBytes: limit),
                waits: elements.wait)
        case nil:
            throw TranslationError(
                "a request of a kind that this coordinator (\(ProductVersion.current)) does not know; the client may be newer")
        }
    }

    private static func submit(_ submit: WireSubmit) throws(TranslationError) -> ClientRequest {
        guard !submit.key.isEmpty else { throw TranslationError("a submission without a key; the client draws one") }
        try checkText(submit.key, "the submission's key")
        try checkText(submit.name, "the submission's name")
        switch (submit.hasGraph, submit.hasGraphBlob) {
        case (true, false): return .scheduler(Request(submit, of: ExaminedGraph(try Graph(wire: submit.graph))))
        case (false, true):
            return .submitStored(submit, try BlobKey(wire: submit.graphBlob, limit: CoordinatorLimits.graphBytes))
        case (false, false): throw TranslationError("a submission without a graph")
        case (true, true): throw TranslationError("a submission with two graphs")
        }
    }

    private static func checkText(_ text: String, _ what: String) throws(TranslationError) {
        try TranslationError.checkName(text, what)
    }
}

extension Request {
    /// - Parameter graph: the one that came with it, or was asked for.
    init(_ submit: WireSubmit, of graph: ExaminedGraph) {
        self = .submit(
            key: submit.key, name: submit.name, graph: graph, waitForWorkers: submit.waitForWorkers,
            cancelled: submit.cancelled.map(Int.init), submitter: Incarnation(submit.submitter),
            trace: TraceContext(TraceFields.admitted(of: submit.trace).fields))
    }
}

extension WireRequest {
    /// What is wrong with the trace of a submission, which is taken without it; nil: nothing.
    var traceProblem: String? {
        guard case .submit(let submit)? = body, !submit.trace.isEmpty else { return nil }
        return TraceFields.admitted(of: submit.trace).problem
    }

    /// Whether it asks for partial results.
    var isElementRead: Bool { if case .elements? = body { true } else { false } }
}
