import Foundation

/// What this process says to an end of an operation that runs elsewhere.
package enum ConclusionAnswer: Sendable {
    /// It is tried again after this wait.
    case again(Duration)
    /// It counts.
    case final
}

/// Where an end stands that counts only when this process has had its say.
enum Conclusion {
    /// Nothing was asked.
    case open
    /// `willFinish` is told.
    case telling(@Sendable () -> Void)
    /// It has let go, or is not waited for any more: the outcome is what is reported.
    case over

    var isTelling: Bool { if case .telling = self { true } else { false } }

    var wasAsked: Bool { if case .open = self { false } else { true } }
}

/// `retryOnFailure` and `willFinish` of an operation that runs elsewhere.
extension AOperation {
    /// Its attempt has ended like this, which does not count yet: asks who decides about another attempt, and lets `willFinish`
    /// hold the end back. The outcome is what is reported later (``remoteDidEnd(_:hasStarted:)``).
    ///
    /// - Parameters:
    ///   - hasStarted: whether it has started there at all: then that is told here first.
    ///   - retries: how many attempts have failed before this one; nil: there is no other one in any case.
    ///   - tells: whether `willFinish` is told, if this is the end.
    ///   - answer: called once.
    package final func concludeElsewhere(
        _ ending: RemoteEnding, hasStarted: Bool, retries: Int?, tells: Bool, answer: @escaping @Sendable (ConclusionAnswer) -> Void
    ) {
        let ask: @Sendable () -> Void = { [self] in askAboutEnd(ending, retries: retries, tells: tells, answer) }
        let isToStart = core.withLock { core in
            guard hasStarted, core.verdict == nil, let remote = core.attachments?.remote, remote.isAway, !remote.isAwaited else {
                return false
            }
            guard !isContainer, core.state.ending == nil else { return false }
            remote.whenAwaited = ask
            return true
        }
        if isToStart { remoteDidStart() } else { ask() }
    }

    private func askAboutEnd(
        _ ending: RemoteEnding, retries: Int?, tells: Bool, _ answer: @escaping @Sendable (ConclusionAnswer) -> Void
    ) {
        // What was cancelled here is asked about no more: the cancellation ends the question.
        guard !isCancelAsked else { return }
        let decider = core.withLock { core in core.verdict == nil ? core.attachments?.remote?.retryDecider : nil }
        let hold: @Sendable () -> Void = { [self] in holdEnd(ending, tells: tells) { answer(.final) } }
        guard let retries, case .failure(let errors) = ending, let error = errors.first, let decider else { return hold() }
        let isDecided = Guarded(false)
        decider(retries, error.published(by: publisherName)) { wait in
            let isFirst = isDecided.withLock { isDecided in
                defer { isDecided = true }
                return !isDecided
            }
            guard isFirst else { return }
            if let wait { answer(.again(wait)) } else { hold() }
        }
    }

    private enum Hold {
        case none
        case tell
        case group
    }

    private func holdEnd(_ ending: RemoteEnding, tells: Bool, letGo: @escaping @Sendable () -> Void) {
        let hold = core.withLock { core -> Hold in
            guard tells, holdsBack(), core.verdict == nil, let remote = core.attachments?.remote, remote.isAway else { return .none }
            guard case .open = remote.conclusion else { return .none }
            if self is GroupOperation, core.state.ending == nil {
                remote.conclusion = .telling(letGo)
                return .group
            }
            if case .executing = core.state, remote.isAwaited {
                remote.conclusion = .telling(letGo)
                return .tell
            }
            return .none
        }
        switch hold {
        case .none: letGo()
        case .tell: conclude(with: ending)
        case .group: (self as? GroupOperation)?.conclude(asElsewhere: ending)
        }
    }

    private enum Report {
        /// Nothing was asked, or it has not come to that: the end is taken like any other.
        case usual
        case nothing
        case release
        case conclude(Ending)
        case cancel
        case endBody
    }

    /// What is reported of an end of which `willFinish` was told.
    ///
    /// - Returns: false when that is not so.
    final func takeConcludedEnd(_ ending: RemoteEnding) -> Bool {
        let report = core.withLock { core -> Report in
            guard let remote = core.attachments?.remote, remote.conclusion.wasAsked else { return .usual }
            remote.conclusion = .over
            guard remote.isAway else { return .nothing }
            switch core.state {
            case .holding:
                remote.close(with: ending)
                switch ending {
                case .success: return .release
                // A group has its children's, which it knows.
                case .failure(let errors): return errors.isEmpty ? .release : .conclude(.failure(errors))
                case .cancelled: return .cancel
                }
            case .telling, .finished:
                remote.phase = .over
                return .endBody
            case .ended:
                remote.phase = .over
                return .nothing
            case .initialized, .waiting, .ready, .preparing, .executing, .deliberating, .retrying, .provisional:
                return .usual
            }
        }
        switch report {
        case .usual: return false
        case .nothing: break
        case .release: if core.withLock({ $0.release() }) { settle() }
        case .conclude(let ending): interrupt(with: ending.named(publisherName))
        case .cancel: takeRemoteCancellation()
        case .endBody: endBody()
        }
        return true
    }
}

extension GroupOperation {
    /// The group ends like this elsewhere, unless this process holds that back: so it does here when all its children have.
    fileprivate final func conclude(asElsewhere ending: RemoteEnding) {
        closeDecisions()
        switch ending {
        case .success: takeForgiveness()
        case .failure(let errors): if !errors.isEmpty { roster.withLock { $0.impose(.failure(errors)) } }
        case .cancelled: break
        }
        remoteDidStart()
        letGo()
    }
}

extension OperationCore {
    /// `willFinish` has let go of an end that is decided elsewhere: whom that is to be told. Nil: it is decided here.
    mutating func letGoElsewhere() -> (@Sendable () -> Void)? {
        guard let remote = attachments?.remote, remote.conclusion.wasAsked else { return nil }
        guard case .telling(let letGo) = remote.conclusion else { return {} }
        remote.conclusion = .over
        return letGo
    }
}

extension Ending {
    /// The same ending; errors that nobody has published yet are published by `name`.
    fileprivate func named(_ name: String) -> Ending {
        guard case .failure(let errors) = self else { return self }
        return .failure(errors.map { $0.published(by: name) })
    }
}
