import Wire

extension ClusterConnection {
    /// One submission as it stands. `id` may be any unique prefix, or `last`.
    package func show(_ id: String) async throws -> WireSubmissionView {
        guard case .submission(let view) = try await core.ask(.show(.with { $0.submission = id })) else {
            throw RequestLedger.unexpected
        }
        return view
    }

    /// The submissions the coordinator keeps, newest first.
    package func list(limit: Int = .max) async throws -> [WireSubmissionView] {
        var all: [WireSubmissionView] = []
        while all.count < limit {
            let request = WireListSubmissions.with {
                $0.before = all.last?.id ?? ""
                $0.limit = UInt32(clamping: min(limit - all.count, 1000))
            }
            guard case .submissions(let page) = try await core.ask(.list(request)) else { throw RequestLedger.unexpected }
            all += page.submissions
            if !page.more || page.submissions.isEmpty { break }
        }
        return all
    }

    /// The workers the coordinator knows.
    package func workers() async throws -> [WireWorkerView] {
        guard case .workers(let list) = try await core.ask(.workers(.init())) else { throw RequestLedger.unexpected }
        return list.workers
    }

    /// Why a submission waits or ended as it did, or the operation or group at `path` within it: everything that is in its way, the
    /// causes of its end, and what has happened to it.
    package func explain(_ id: String, path: String = "") async throws -> WireExplanation {
        let request = WireExplain.with {
            $0.submission = id
            $0.path = path
        }
        guard case .explanation(let explanation) = try await core.ask(.explain(request)) else { throw RequestLedger.unexpected }
        return explanation
    }

    /// The locks that somebody holds or waits for, in the order in which their keys were first named; `key`: only its.
    /// Those that members of a group take in turns inside of it are not among them.
    package func locks(key: String = "") async throws -> [WireLockView] {
        var all: [WireLockView] = []
        var request = WireListLocks.with { $0.key = key }
        repeat {
            guard case .locks(let page) = try await core.ask(.locks(request)) else { throw RequestLedger.unexpected }
            all += page.locks
            request.from = page.next
        } while request.from != 0
        return all
    }

    /// The first page of the locks that somebody holds or waits for: of very many not all.
    package func firstLocks() async throws -> [WireLockView] {
        guard case .locks(let page) = try await core.ask(.locks(.init())) else { throw RequestLedger.unexpected }
        return page.locks
    }

    /// A submission's whole id. Who may not read the submission is told so by the coordinator when it is asked for what the id is needed for.
    func wholeID(of id: String) async throws -> String {
        guard id.utf8.count != Limits.submissionIDBytes || id.hasPrefix("key=") else { return id }
        do {
            return try await show(id).id
        } catch let error as ClusterError where error.code == .notPermitted {
            return id
        }
    }

    /// Asks for the cancellation of a submission, or of the operation or group at `path` within it.
    ///
    /// When this returns the request is durable; the work ends as cancelled some time later. What `id` names is settled
    /// first: a request that has to be repeated cannot come upon another submission.
    /// - Parameter now: end commands without their grace.
    /// - Returns: the whole id, and whether the work had already ended.
    public func cancel(
        _ id: String, path: String = "", reason: String = "", now: Bool = false
    ) async throws -> (id: String, alreadyEnded: Bool) {
        let whole = try await wholeID(of: id)
        let request = WireCancel.with {
            $0.submission = whole
            $0.path = path
            $0.reason = reason
            $0.now = now
        }
        guard case .cancelled(let accepted) = try await core.ask(.cancel(request)) else { throw RequestLedger.unexpected }
        return (accepted.id, accepted.alreadyEnded)
    }

    /// Pauses a submission, or the operation or group at `path` within it: nothing of it that has not begun does so until
    /// it is resumed. What runs goes on, and so do deadlines; locks of what has not begun go to others.
    ///
    /// When this returns the pause is durable. To ask again changes nothing.
    public func pause(_ id: String, path: String = "") async throws -> Steering { try await steer(id, path: path, pauses: true) }

    /// Lets a submission, or the operation or group at `path` within it, go on. To ask again changes nothing.
    ///
    /// - Returns: also what is still paused around it, because of which it does not go on yet.
    public func resume(_ id: String, path: String = "") async throws -> Steering { try await steer(id, path: path, pauses: false) }

    private func steer(_ id: String, path: String, pauses: Bool) async throws -> Steering {
        // What `id` names is settled first: a request that has to be repeated cannot come upon another submission.
        let whole = try await wholeID(of: id)
        let request = WirePause.with {
            $0.submission = whole
            $0.path = path
        }
        guard case .steered(let steered) = try await core.ask(pauses ? .pause(request) : .resume(request)) else {
            throw RequestLedger.unexpected
        }
        return Steering(
            id: steered.id, isChange: steered.changed, alreadyEnded: steered.alreadyEnded,
            pausedBy: steered.hasPausedBy ? steered.pausedBy : nil)
    }

    /// What the operations of a submission wrote, from `after` on, a page at a time.
    ///
    /// - Parameter waits: where there is nothing yet, wait until there is, until it has ended, or for some seconds.
    package func readOutput(
        _ id: String, path: String = "", after: UInt64 = 0, limitBytes: Int = Limits.pageBytes, waits: Bool = false
    ) async throws -> WireOutputPage {
        let request = WireReadOutput.with {
            $0.submission = id
            $0.path = path
            $0.after = after
            $0.wait = waits
            $0.limitBytes = UInt32(clamping: limitBytes)
        }
        guard case .output(let page) = try await core.ask(.output(request)) else { throw RequestLedger.unexpected }
        return page
    }

    /// What the newest attempt of an operation has sent, a page at a time: from `index` on if `attempt` is still the newest,
    /// else from its first element.
    ///
    /// ``RemoteSubmission/partialResults(of:as:)`` is easier to use.
    /// - Parameter waits: where there is nothing new yet, wait until there is, until it has ended, or for some seconds.
    package func readPartialResults(
        _ id: String, path: String, attempt: UInt32 = 0, index: UInt64 = 0, waits: Bool = false
    ) async throws -> WireElementPage {
        let request = WireReadElements.with {
            $0.submission = id
            $0.path = path
            $0.attempt = attempt
            $0.index = index
            $0.wait = waits
        }
        guard case .elements(let page) = try await core.ask(.elements(request)) else { throw RequestLedger.unexpected }
        return page
    }

    /// What happens to a submission, beginning with the view as it stands and ending with its final state.
    ///
    /// It goes on by itself after a restart of the coordinator.
    package func follow(_ id: String) -> FollowedEvents {
        core.follow(id)
    }

    /// One page of the submission's operations, parents before children; `next`: where the next one begins, 0: there is none.
    package func page(of id: String, path: String, from: Int, limit: Int, failedOnly: Bool) async throws -> WireOperationPage {
        let request = WireListOperations.with {
            $0.submission = id
            $0.path = path
            $0.from = UInt32(clamping: from)
            $0.limit = UInt32(clamping: limit)
            $0.failedOnly = failedOnly
        }
        guard case .operations(let page) = try await core.ask(.operations(request)) else { throw RequestLedger.unexpected }
        return page
    }

    /// As `follow(_:)`, also of groups, and with when what ends has begun.
    package func followDetails(of id: String) -> FollowedEvents { core.follow(id, .everything) }

    /// The submission's operations in pages, parents before children. `path` limits them to a node and all below it.
    ///
    /// - Parameter withDependencies: also which units each waits for before it begins.
    package func operations(
        of id: String, path: String = "", withValues: Bool = false, failedOnly: Bool = false, withDependencies: Bool = false
    ) -> OperationPages {
        OperationPages(
            core: core,
            query: .with {
                $0.submission = id
                $0.path = path
                $0.values = withValues
                $0.failedOnly = failedOnly
                $0.dependencies = withDependencies
            })
    }
}

/// What became of a request to pause or resume.
public struct Steering: Hashable, Sendable {
    /// The submission's whole id.
    public let id: String
    /// It was not so before.
    public let isChange: Bool
    /// It had already ended: there was nothing to pause or resume.
    public let alreadyEnded: Bool
    /// Of a resume: the path of what is still paused around it; empty: the whole submission; nil: nothing is.
    public let pausedBy: String?
}
