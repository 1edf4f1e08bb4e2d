import Foundation
import Synchronization
import Wire

/// The shared state behind a `ClusterConnection`: what the link's thread and the asking tasks meet in.
///
/// The ledger decides; this keeps the continuations it decides about. Nothing is resumed while the lock is held.
package final class ConnectionCore: Sendable {
    enum ChunkEvent: Sendable {
        case chunk(WireBlobChunk, Buffer?)
        /// The connection was made anew: what had been asked for will not come.
        case reattached
        case ended(ClusterError)
    }

    private struct State {
        var ledger = RequestLedger()
        var connecting: CheckedContinuation<Void, any Error>?
        var hasAttached = false
        var ended: ClusterError?
        var welcome: WireWelcome?
        var lastTrouble: Trouble?
        var answers: [UInt64: CheckedContinuation<WireResponse.OneOf_Body, any Error>] = [:]
        var followers: [UInt64: FollowedEvents.Source] = [:]
        var fetches: [Data: AsyncStream<ChunkEvent>.Continuation] = [:]
        var fetchWaiters: [Data: [Promise<Void>]] = [:]
        var served: [Data: ServedBlob] = [:]
        weak var carrier: (any MessageCarrier)?

        /// Sends what is to be sent, in the order in which the ledger has decided it: an end of a follow must not overtake the next one.
        /// - Returns: the other actions.
        func sending(_ actions: [RequestLedger.Action]) -> [RequestLedger.Action] {
            actions.filter { action in
                guard case .send(let request) = action else { return true }
                carrier?.send(.with { $0.request = request }, attachment: nil)
                return false
            }
        }
    }

    /// Why there is no connection.
    private enum Trouble {
        /// Nobody has answered.
        case away(String)
        /// The coordinator has, and has an obstacle that may pass.
        case obstacle(String)
    }

    private struct ServedBlob {
        var content: Data
        var users: Int
    }

    private let state = Mutex(State())

    func use(_ carrier: any MessageCarrier) { state.withLock { $0.carrier = carrier } }

    var welcome: WireWelcome? { state.withLock { $0.welcome } }

    // MARK: events of the link (its thread)

    package func handle(_ event: PeerLink.Event) {
        switch event {
        case .attached(let welcome, _): attached(welcome)
        case .detached(let reason, let isThere): detached(reason, isThere: isThere)
        case .refused(let refusal): end(ClusterError(refusal))
        case .denied(let reason): end(ClusterError(.notPermitted, reason))
        case .farewell(let reason): state.withLock { $0.lastTrouble = .away(reason) }
        case .leaseOver, .lockLeaseEnding, .orphanLimitOver: break
        case .message(let message, let attachment): received(message, attachment)
        }
    }

    private func attached(_ welcome: WireWelcome) {
        state.withLock { $0.carrier }?.enter()
        let (actions, connecting, fetches) = state.withLock { state in
            state.welcome = welcome
            state.hasAttached = true
            let connecting = state.connecting.take()
            return (state.sending(state.ledger.attached()), connecting, Array(state.fetches.values))
        }
        connecting?.resume()
        perform(actions)
        for fetch in fetches { fetch.yield(.reattached) }
    }

    private func detached(_ reason: String, isThere: Bool) {
        let actions = state.withLock { state in
            state.lastTrouble = isThere ? .obstacle(reason) : .away(reason)
            return state.sending(state.ledger.detached(reason: reason))
        }
        perform(actions)
    }

    private func received(_ message: WireCoordinatorMessage, _ attachment: Buffer?) {
        switch message.body {
        case .response(let response): perform(state.withLock { $0.sending($0.ledger.received(response)) })
        case .events(let events): perform(state.withLock { $0.sending($0.ledger.received(events)) })
        case .blobRequest(let request): serve(request)
        case .blobChunk(let chunk):
            let fetch = state.withLock { $0.fetches[chunk.digest] }
            fetch?.yield(.chunk(chunk, attachment))
        case .welcome, .refusal, .heartbeatAnswer, .dispatch, .stop, .acknowledgement, .farewell, .helloWanted,
            .elementReceipts, .productReceipts, .outputReceipts, .enrolled, nil:
            break  // the link's own, an executor's, or a joiner's
        }
    }

    /// Ends everything that waits, for good. Later requests fail with the same error.
    func end(_ error: ClusterError) {
        let (actions, connecting, fetches) = state.withLock { state in
            if state.ended == nil { state.ended = error }
            let connecting = state.connecting.take()
            return (state.sending(state.ledger.end(error)), connecting, Array(state.fetches.values))
        }
        connecting?.resume(throwing: error)
        perform(actions)
        for fetch in fetches { fetch.yield(.ended(error)) }
    }

    // MARK: connecting

    func waitUntilAttached() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let known: Result<Void, any Error>? = state.withLock { state in
                    if let ended = state.ended { return .failure(ended) }
                    if state.hasAttached { return .success(()) }
                    state.connecting = continuation
                    return nil
                }
                if let known { return continuation.resume(with: known) }
                // The handler may have been called before there was anybody to let go.
                if Task.isCancelled { giveUpAttaching() }
            }
        } onCancel: {
            giveUpAttaching()
        }
    }

    private func giveUpAttaching() {
        state.withLock { $0.connecting.take() }?.resume(throwing: CancellationError())
    }

    /// The connect timeout passed: ends the wait, if there still is one.
    func giveUpConnecting(endpoint: Endpoint, seconds: Double) {
        let waiting = state.withLock { state in
            (state.connecting.take(), state.lastTrouble)
        }
        guard let continuation = waiting.0 else { return }
        continuation.resume(throwing: Self.error(of: waiting.1, at: endpoint, after: seconds))
    }

    private static func error(of trouble: Trouble?, at endpoint: Endpoint, after seconds: Double) -> ClusterError {
        let reason: String
        switch trouble {
        case .obstacle(let obstacle):
            return ClusterError(
                .busy, "the coordinator at \(endpoint) has not let this process in within \(seconds.formatted()) s: \(obstacle)")
        case .away(let text): reason = " (\(text))"
        case nil: reason = ""
        }
        return ClusterError(
            .unreachable,
            "no coordinator answers at \(endpoint) within \(seconds.formatted()) s\(reason); "
                + "start one with `aop coordinator`, or name another with --coordinator URL or AOP_COORDINATOR")
    }

    // MARK: requests

    /// - Parameter next: called when the request is on its way: what it asks for is asked after it.
    func ask(_ body: WireRequest.OneOf_Body, then next: () -> Void = {}) async throws -> WireResponse.OneOf_Body {
        let asked = Mutex<UInt64?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let actions = state.withLock { state in
                    let (id, actions) = state.ledger.ask(body)
                    state.answers[id] = continuation
                    asked.withLock { $0 = id }
                    return state.sending(actions)
                }
                perform(actions)
                next()
                // The cancellation handler may have run before there was anything to abandon.
                if Task.isCancelled { abandonRequest(asked.withLock { $0 }) }
            }
        } onCancel: {
            abandonRequest(asked.withLock { $0 })
        }
    }

    private func abandonRequest(_ id: UInt64?) {
        guard let id else { return }
        let (continuation, actions) = state.withLock { state in
            (state.answers.removeValue(forKey: id), state.sending(state.ledger.abandon(id)))
        }
        perform(actions)
        continuation?.resume(throwing: CancellationError())
    }

    // MARK: following

    func follow(_ submission: String, _ depth: FollowDepth = .operations) -> FollowedEvents {
        let (events, source) = FollowedEvents.make()
        let (id, actions) = state.withLock { state in
            let (id, actions) = state.ledger.follow(submission, depth)
            state.followers[id] = source
            return (id, state.sending(actions))
        }
        source.onTermination { [weak self] in self?.abandonFollow(id) }
        perform(actions)
        return events
    }

    private func abandonFollow(_ id: UInt64) {
        let actions = state.withLock { state in
            state.followers[id] = nil
            return state.sending(state.ledger.abandon(id))
        }
        perform(actions)
    }

    // MARK: large values

    /// The chunks that arrive for `digest`. One task at a time fetches a given value: others wait for their turn.
    func openFetch(_ digest: Data) async throws -> AsyncStream<ChunkEvent> {
        while true {
            try Task.checkCancellation()
            if let stream = claimFetch(digest) { return stream }
            let turn = Promise<Void>()
            let isFree = state.withLock { state in
                guard state.fetches[digest] != nil else { return true }
                state.fetchWaiters[digest, default: []].append(turn)
                return false
            }
            if !isFree { try await turn.value() }
        }
    }

    private func claimFetch(_ digest: Data) -> AsyncStream<ChunkEvent>? {
        let (stream, continuation) = AsyncStream<ChunkEvent>.makeStream()
        let isOurs = state.withLock { state in
            guard state.fetches[digest] == nil else { return false }
            state.fetches[digest] = continuation
            if let ended = state.ended { continuation.yield(.ended(ended)) }
            return true
        }
        return isOurs ? stream : nil
    }

    func closeFetch(_ digest: Data) {
        let (fetch, waiters) = state.withLock { state in
            (state.fetches.removeValue(forKey: digest), state.fetchWaiters.removeValue(forKey: digest) ?? [])
        }
        fetch?.finish()
        for waiter in waiters { waiter.settle(.success(())) }
    }

    func send(_ message: WirePeerMessage, attachment: Buffer? = nil) {
        let carrier = state.withLock { $0.carrier }
        carrier?.send(message, attachment: attachment)
    }

    /// Holds `content` for the coordinator to ask for, part by part.
    func offer(_ content: Data, digest: Data) {
        state.withLock { $0.served[digest, default: ServedBlob(content: content, users: 0)].users += 1 }
    }

    func withdraw(digest: Data) {
        state.withLock { state in
            guard var blob = state.served[digest] else { return }
            blob.users -= 1
            state.served[digest] = blob.users > 0 ? blob : nil
        }
    }

    private func serve(_ request: WireBlobRequest) {
        let content = state.withLock { $0.served[request.digest]?.content }
        var chunk = WireBlobChunk()
        chunk.digest = request.digest
        chunk.offset = request.offset
        guard let content, let range = request.range(inValueOf: content.count) else {
            chunk.missing = true
            return send(.with { $0.blobChunk = chunk })
        }
        chunk.size = UInt64(content.count)
        send(.with { $0.blobChunk = chunk }, attachment: Buffer(content.subdata(in: range)))
    }

    // MARK: actions

    private func perform(_ actions: [RequestLedger.Action]) {
        for action in actions {
            switch action {
            case .send: break  // sent where it was decided
            case .finish(let id, let result):
                let continuation = state.withLock { $0.answers.removeValue(forKey: id) }
                continuation?.resume(with: result.mapError { $0 as any Error })
            case .deliver(let id, let event):
                let follower = state.withLock { $0.followers[id] }
                follower?.yield(event)
            case .endFollow(let id, let error):
                let follower = state.withLock { $0.followers.removeValue(forKey: id) }
                follower?.finish(throwing: error)
            }
        }
    }
}
