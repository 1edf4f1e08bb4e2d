import Foundation
import Scheduling
import Wire

/// Large values: asked of those who offer them, and given to those who ask.
extension CoordinatorLoop {
    /// Asks the peer for a value. What it brings goes on when the value is here.
    func pull(_ key: BlobKey, _ purpose: Pull.Purpose, from peer: Peer) {
        guard peer.pulls.count < CoordinatorLimits.heldUnits else {
            return note(.violation, peer, "it offers more values than a peer may")
        }
        nextNumber += 1
        removals.noteComing(key.digest, at: now.boot)
        // The store hashes what it writes.
        let fetch = BlobFetch(reference: key.wire, verifies: false)
        let pull = Pull(id: PullID(rawValue: nextNumber), key: key, purpose: purpose, fetch: fetch)
        peer.pulls.add(pull)
        startPulls(of: peer)
        noteFetching(pull, from: peer)
    }

    private func startPulls(of peer: Peer) {
        while let pull = peer.pulls.startNext() {
            pullers[pull.id] = peer.id
            let kind: BlobService.Kind =
                switch pull.purpose {
                case .value: .value
                case .elements: .elements
                case .graph: .graph
                }
            blobs.post(.begin(pull.id, pull.key, kind))
        }
    }

    /// A part of a value came.
    func receive(_ chunk: WireBlobChunk, _ bytes: Buffer?, from peer: Peer) {
        guard let digest = BlobDigest(chunk.digest), let id = peer.pulls.active(digest) else { return }
        let steps = peer.pulls.update(id) { $0.fetch.receive(chunk, bytes) } ?? []
        for step in steps {
            switch step {
            case .bytes(_, let bytes): blobs.post(.append(id, bytes))
            case .requests(let requests): _ = peer.pulls.update(id) { $0.nextRequests += requests }
            case .finished: blobs.post(.finish(id))
            case .failed(let reason):
                blobs.post(.abandon(id))
                fail(id, peer, reason)
            }
        }
    }

    /// What the blob store's thread says.
    ///
    /// - Throws: `BlobStoreError` when files cannot be relied on any more.
    func receive(_ event: BlobService.Event) throws {
        switch event {
        case .failed(let error): throw error
        case .outOfDescriptors: break  // `lookForDescriptors` says so
        case .stored(let id, let key): stored(id, key)
        case .notStored(let id, let error): notStored(id, error)
        case .tooLarge(let id, let error):
            logger.error("\(error); what ends with it fails")
            finish(id) { $0.tooLarge("\(error)") }
        case .noRoom(let ids, let error): noteLackOfRoom(ids, error)
        case .room:
            noteWaiting([])
            waitingForRoom = nil
            logger.notice("no large value waits for room any more")
        case .swept(let count, let bytes):
            if count > 0 { logger.info("\(count) large values that nothing names any more are removed: \(bytes) bytes") }
        case .notRemoved(let digests): removals.add(digests, at: now.boot)
        case .part(let peer, let digest, let offset, let part): give(part, of: digest, at: offset, to: peer)
        case .ready(let id):
            guard let peer = puller(id) else { return }
            ask(peer.pulls.update(id) { $0.fetch.start() } ?? [], peer)
        case .appended(let id):
            guard let peer = puller(id) else { return }
            let requests = peer.pulls.update(id) { pull in
                defer { pull.nextRequests = [] }
                return pull.nextRequests
            }
            ask(requests ?? [], peer)
        case .present(let id), .kept(let id): finish(id) { $0.value() }
        case .graph(let id, let result): finish(id) { $0.graph(result) }
        case .elements(let id, let result): finish(id) { $0.elements(result) }
        case .rejected(let id, let reason):
            guard let peer = puller(id) else { return }
            fail(id, peer, reason)
        }
    }

    /// Values wait until there is room, but those that nobody wants any more; graphs are refused.
    private func noteLackOfRoom(_ ids: [PullID], _ error: BlobStoreError) {
        if waitingForRoom == nil { logger.error("\(error); \(ids.count) large values wait for that, and what ends with them") }
        for id in ids {
            guard let peer = puller(id), let pull = peer.pulls.active[id] else { continue }
            guard let name = pull.attempt else {
                blobs.post(.abandon(id))
                finish(id) { $0.busy("\(error)") }
                continue
            }
            if scheduler.isWanted(name.unit, name.attempt) {
                if waitingForRoom?.contains(id) == true { continue }
                let text =
                    "its value of \(pull.key.size) bytes does not fit where the coordinator keeps its data; make room there, or cancel it"
                inputs.append(.valueWaits(peer.id, name.unit, name.attempt, reason: text))
            } else {
                blobs.post(.abandon(id))
                finish(id) { $0.failure("there is no room for it") }
            }
        }
        noteWaiting(Set(ids))
        for peer in peers.all where !peer.pulls.isEmpty {
            let unwanted = peer.pulls.removeWaiting { $0.attempt.map { !scheduler.isWanted($0.unit, $0.attempt) } ?? false }
            for pull in unwanted { conclude(PullEnd(pull: pull, host: peer.host).failure("there is no room for it"), of: peer) }
        }
    }

    /// The others that have waited for room come now.
    private func noteWaiting(_ ids: Set<PullID>) {
        let others = (waitingForRoom ?? []).subtracting(ids)
        waitingForRoom = ids
        for id in others { if let peer = puller(id), let pull = peer.pulls.active[id] { noteFetching(pull, from: peer) } }
    }

    /// For those who look, and whose timeouts are watched: it has ended.
    private func noteFetching(_ pull: Pull, from peer: Peer) {
        guard let name = pull.attempt else { return }
        let hasBegun = puller(pull.id) != nil
        guard pull.key.size >= CoordinatorLimits.slowValueBytes || !hasBegun || waitingForRoom != nil else { return }
        let text =
            hasBegun || waitingForRoom == nil
            ? "its value of \(pull.key.size) bytes comes from \(peer.host)"
            : "its value of \(pull.key.size) bytes comes behind others that do not fit where the coordinator keeps its data; make room there, or "
                + "cancel it"
        inputs.append(.valueWaits(peer.id, name.unit, name.attempt, reason: text))
    }

    func lookForRoom() {
        if waitingForRoom != nil { blobs.post(.retry) }
    }

    private func puller(_ id: PullID) -> Peer? { pullers[id].flatMap { peers[$0] } }

    private func ask(_ requests: [WireBlobRequest], _ peer: Peer) {
        for request in requests { send(.with { $0.blobRequest = request }, to: peer) }
    }

    private func fail(_ id: PullID, _ peer: Peer, _ reason: String) {
        note(.violation, peer, "a value cannot be taken over: \(reason)")
        finish(id) { $0.failure(reason) }
    }

    private func finish(_ id: PullID, _ result: (PullEnd) -> PullEnd.Result) {
        guard let peer = puller(id), let pull = peer.pulls.remove(id) else { return }
        pullers[id] = nil
        conclude(result(PullEnd(pull: pull, host: peer.host)), of: peer)
        startPulls(of: peer)
    }

    private func conclude(_ result: PullEnd.Result, of peer: Peer) {
        switch result {
        case .ended(let name, let outcome, let startedAt, let endedAt):
            inputs.append(.ended(peer.id, name.unit, name.attempt, outcome, startedAt: startedAt, at: endedAt))
        case .submit(let request, let body): ask(body, .reply(request), of: peer)
        case .refuse(let request, let failed): respond(request, .failed(failed), to: peer)
        }
    }

    // MARK: Giving

    /// A peer asks for a part of a value.
    func receive(_ request: WireBlobRequest, from peer: Peer) {
        guard let digest = BlobDigest(request.digest), request.length <= UInt32(Limits.blobChunkBytes) else {
            return note(.violation, peer, "a request for \(request.length) bytes of a value")
        }
        guard peer.reads.add(request) else {
            note(
                .violation, peer,
                "it has asked for \(CoordinatorLimits.partsPerPeer) parts of values that it has not got (partsPerPeer); its connection is "
                    + "given up")
            return forget(peer, "it asked for too many parts of values at once")
        }
        removals.noteRead(digest, at: now.boot)
        startReads(for: peer)
    }

    /// Reads what the peer asked for, as far as there is room for it in its outbox.
    func startReads(for peer: Peer) {
        while let request = peer.reads.startNext(outboxBytes: peer.outbox.bytes) {
            guard let digest = BlobDigest(request.digest) else { preconditionFailure("a request without a digest was taken up") }
            removals.noteRead(digest, at: now.boot)
            blobs.post(.read(peer.id, digest, offset: request.offset, length: Int(request.length)))
        }
    }

    private func give(_ part: BlobStore.Part, of digest: BlobDigest, at offset: UInt64, to id: PeerID) {
        guard let peer = peers[id] else { return }
        peer.reads.ended()
        defer { startReads(for: peer) }
        var chunk = WireBlobChunk()
        chunk.digest = Data(digest.bytes)
        chunk.offset = offset
        switch part {
        case .missing:
            chunk.missing = true
            send(.with { $0.blobChunk = chunk }, to: peer)
        case .unreadable(let error):
            logger.error("\(error); who asked for it is told that it is lost")
            chunk.missing = true
            send(.with { $0.blobChunk = chunk }, to: peer)
        case .bytes(let bytes, let size):
            chunk.size = size
            send(.with { $0.blobChunk = chunk }, attachment: Buffer(bytes), to: peer)
        }
    }

    // MARK: Removing

    /// Has the files removed of large values that nothing needs any more.
    ///
    /// Whoever is about to name a value is asked for it, or is among the inputs, which are none now, or has been decided on: then it is in the
    /// state. Who comes later is behind the removal in the store's line, finds the value missing, and brings it.
    func removeValues() {
        if let digests = removals.takeGoing(upTo: durable) { blobs.post(.remove(digests)) }
        if let kept = removals.takeStaying(upTo: durable) { blobs.post(.sweep(keeping: kept)) }
        guard inputs.isEmpty else { return }
        let due = removals.due(at: now.boot)
        if !due.isEmpty {
            let began = BootClock.milliseconds()
            var unnamed = due
            scheduler.forEachNamedValue { value in
                guard let digest = BlobDigest(value.digest) else { return }
                unnamed.remove(digest)
            }
            removals.looked(
                for: due, unnamed: unnamed, coming: valuesThatCome, upTo: scheduler.sequence, took: BootClock.milliseconds() - began,
                at: now.boot)
        }
        if removals.isSweepDue(at: now.boot) {
            removals.sweep(keeping: scheduler.namedValues.union(valuesThatCome), upTo: scheduler.sequence, at: now.boot)
        }
    }

    private var valuesThatCome: Set<BlobDigest> { peers.all.reduce(into: []) { $0.formUnion($1.pulls.digests) } }
}
