import Scheduling
import Wire

/// From what the scheduler says to the socket.
extension CoordinatorLoop {
    /// Passes on a message whose facts are on the disk.
    func deliver(_ message: Outputs.Send) {
        if message.to == AttemptLabels.asker, case .events(let batch) = message.message { return noteEvents(batch) }
        guard let peer = peers[message.to] else { return }
        switch message.message {
        case .welcome(let name, let drop): send(.with { $0.welcome = welcome(name: name, drop: drop) }, to: peer)
        case .superseded: supersede(peer)
        case .helloWanted: send(.with { $0.helloWanted = WireHelloWanted() }, to: peer)
        case .sessionOver: endSession(of: peer)
        case .dispatch(let assignments): dispatch(assignments, to: peer)
        case .stop(let orders):
            for part in parts(of: orders) { send(.with { $0.stop.units = part.map(\.wire) }, to: peer) }
        case .acknowledge(let names):
            for part in parts(of: names) { send(.with { $0.acknowledgement.units = part.map(\.wire) }, to: peer) }
        case .acknowledgeEnd(let incarnation):
            send(.with { $0.acknowledgement.endedExecutors = [incarnation.rawValue] }, to: peer)
        case .reply(let request, let reply): answer(request, reply, peer)
        case .productReceipts(let receipts): send(.with { $0.productReceipts.receipts = receipts.map(\.wire) }, to: peer)
        case .events(let batch): report(batch, to: peer)
        }
    }

    /// Pieces of a list of small things that fit a message each.
    private func parts<Element>(of list: [Element]) -> [ArraySlice<Element>] {
        let count = CoordinatorLimits.packedMessageBytes / 32
        return stride(from: 0, to: list.count, by: count).map { list[$0..<min($0 + count, list.count)] }
    }

    // MARK: Dispatches

    private func dispatch(_ assignments: [Assignment], to peer: Peer) {
        var pack: [Assignment] = []
        var places: [DispatchBeingStored.Place] = []
        var bytes = 0
        for assignment in assignments {
            labels.dispatched(assignment, to: peer.incarnation)
            let stored = inputsToStore(assignment)
            let size = assignment.wireBytes + stored.bytesLeft
            if !pack.isEmpty && bytes + size > CoordinatorLimits.packedMessageBytes {
                dispatch(pack, storing: places, to: peer)
                (pack, places, bytes) = ([], [], 0)
            }
            places += stored.inputs.map { .init(assignment: pack.count, input: $0) }
            pack.append(assignment)
            bytes += size
        }
        dispatch(pack, storing: places, to: peer)
    }

    /// Inputs that have to travel as blobs, the largest first, so that the others fit `Limits.inlineReceivedBytes`.
    private func inputsToStore(_ assignment: Assignment) -> (inputs: [Int], bytesLeft: Int) {
        let sizes = assignment.inputs.map { $0.wireBytes(upTo: Limits.messageBytes) }
        var left = sizes.reduce(0, +)
        guard left > Limits.inlineReceivedBytes else { return ([], left) }
        var inputs: [Int] = []
        for (index, size) in sizes.enumerated().sorted(by: { $0.element > $1.element }) {
            guard left > Limits.inlineReceivedBytes, size > Self.referenceBytes else { break }
            inputs.append(index)
            left -= size - Self.referenceBytes
        }
        return (inputs, left)
    }

    /// What a stored input takes within its message.
    private static let referenceBytes = 64

    private func dispatch(_ pack: [Assignment], storing places: [DispatchBeingStored.Place], to peer: Peer) {
        guard !pack.isEmpty else { return }
        let dispatch = DispatchBeingStored(pack, storing: places)
        guard !places.isEmpty else {
            for frames in frames(of: dispatch, for: peer) { append(frames, to: peer) }
            return
        }
        for place in places {
            nextNumber += 1
            let id = StoreID(rawValue: nextNumber)
            storing[id] = StoredInput(peer: peer.id, dispatch: dispatch, place: place)
            blobs.post(.store(id, pack[place.assignment].inputs[place.input]))
        }
        peer.outbox.append(dispatch)
        unflushed.insert(peer.id)
    }

    /// The messages of a dispatch whose inputs are all there. One that fits no message ends its attempts with an error
    /// that says so, instead of leaving them unsent.
    private func frames(of dispatch: DispatchBeingStored, for peer: Peer) -> [[Buffer]] {
        guard dispatch.failed.count < dispatch.assignments.count else { return [] }
        let message = WireCoordinatorMessage.with {
            $0.dispatch.assignments = dispatch.assignments.enumerated().compactMap { index, assignment in
                dispatch.failed.contains(index)
                    ? nil
                    : assignment.wire(
                        inputs: assignment.inputs.enumerated().map { place, input in
                            guard let key = dispatch.key(at: .init(assignment: index, input: place)) else { return input.wire }
                            return .with { $0.stored = key.wire }
                        },
                        defaultGraceMilliseconds: configuration.graceMilliseconds)
            }
        }
        do throws(WireError) { return [try message.frames()] } catch {
            logger.error("assignments for \(peer.host) cannot be sent: \(error)")
            for (index, assignment) in dispatch.assignments.enumerated() where !dispatch.failed.contains(index) {
                let failure = Failure(
                    code: .limit,
                    message: "parameters and inputs do not fit one message (\(error)); hand large data over "
                        + "as the value of one operation or as a file", host: peer.host)
                inputs.append(
                    .ended(
                        peer.id, assignment.unit, assignment.attempt, .failure([failure]), startedAt: 0, at: now.wall))
            }
            return []
        }
    }

    /// An input that was too large for its message is stored.
    func stored(_ id: StoreID, _ key: BlobKey) {
        guard let input = storing.removeValue(forKey: id), peers[input.peer] != nil else { return }
        input.dispatch.set(key, at: input.place)
        unflushed.insert(input.peer)
    }

    /// There is no room for it: its attempt ends, and whatever else is for the peer goes on.
    func notStored(_ id: StoreID, _ error: BlobStoreError) {
        logger.error("\(error); the operation that was to receive it fails")
        guard let input = storing.removeValue(forKey: id), peers[input.peer] != nil else { return }
        unflushed.insert(input.peer)
        guard let assignment = input.dispatch.fail(at: input.place) else { return }
        let message =
            switch error.obstacle {
            case .fileSize: "what it receives cannot be stored by the coordinator: \(error)"
            case .disk, .room:
                "there is no room for what it receives where the coordinator keeps its data; make room there, and try it again"
            }
        let failure = Failure(code: .limit, message: message)
        inputs.append(.ended(input.peer, assignment.unit, assignment.attempt, .failure([failure]), startedAt: 0, at: now.wall))
    }

    // MARK: Events

    /// A follower that reads too slowly misses events; it gets the view as it stands once it has read.
    private func report(_ batch: EventBatch, to peer: Peer) {
        if peer.outbox.bytes > CoordinatorLimits.followerBytes || peer.laggingViews[batch.submission] != nil {
            peer.laggingViews[batch.submission] = batch.view
            return
        }
        var events: [WireEvent] = []
        var bytes = 0
        // How far something has come is out of date when a reader that is behind gets to it.
        let isBehind = peer.outbox.bytes > CoordinatorLimits.progressBytes
        if isBehind, !batch.events.isEmpty, batch.events.allSatisfy({ $0.progress != nil }) { return }
        for event in batch.events where !isBehind || event.progress == nil {
            if bytes + event.wireBytes > CoordinatorLimits.packedMessageBytes {
                // Who reads an end reads nothing behind it.
                sendEvents(batch.submission, events, batch.view.beforeItsEnd, to: peer)
                (events, bytes) = ([], 0)
            }
            events.append(event.wire)
            bytes += event.wireBytes
        }
        sendEvents(batch.submission, events, batch.view, to: peer)
    }

    private func sendEvents(
        _ submission: String, _ events: [WireEvent], _ view: SubmissionView, missed: Bool = false, to peer: Peer
    ) {
        send(
            .with {
                $0.events = .with {
                    $0.submission = submission
                    $0.events = events
                    $0.view = view.wire
                    $0.missed = missed
                }
            }, to: peer)
    }

    private func catchUp(_ peer: Peer) {
        guard !peer.laggingViews.isEmpty, peer.outbox.bytes <= CoordinatorLimits.followerBytes / 2 else { return }
        let views = peer.laggingViews.sorted { $0.key < $1.key }
        peer.laggingViews = [:]
        for (submission, view) in views { sendEvents(submission, [], view, missed: true, to: peer) }
    }

    // MARK: Outboxes

    /// Puts a message behind what waits for the peer.
    func send(_ message: WireCoordinatorMessage, attachment: Buffer? = nil, to peer: Peer) {
        do throws(WireError) { append(try message.frames(attachment: attachment), to: peer) } catch {
            // Pages, events and dispatches are built to fit; this is for what nobody thought of.
            logger.error("a message for \(peer.host) cannot be sent: \(error)")
            if let remainder = message.remainder(of: error) { send(remainder, to: peer) }
        }
    }

    private func append(_ frames: [Buffer], to peer: Peer) {
        peer.outbox.append(frames)
        unflushed.insert(peer.id)
    }

    /// Tries once: for connections that have no outbox. What cannot be sent is lost; the peer asks again.
    func sendOnce(_ message: WireCoordinatorMessage, to route: RoutingID) {
        do {
            let result = try router.send(to: route, frames: try message.frames())
            if result != .sent { logger.debug("an answer to an unknown connection was not sent: \(result)") }
        } catch {
            logger.error("an answer to an unknown connection cannot be sent: \(error)")
        }
    }

    /// Sends what there is room for. A peer that leaves more than `Limits.outboxBytes` waiting is forgotten.
    func flush() throws {
        guard !unflushed.isEmpty else { return }
        for id in unflushed {
            guard let peer = peers[id] else {
                unflushed.remove(id)
                continue
            }
            try flush(peer)
        }
    }

    private func flush(_ peer: Peer) throws {
        while true {
            switch try sendNext(peer) {
            case .sent?:
                catchUp(peer)
                startReads(for: peer)
            case .unroutable?: return forget(peer, "its connection is gone")
            case .full?:
                if peer.outbox.bytes > Limits.outboxBytes {
                    note(.violation, peer, "it left \(peer.outbox.bytes) bytes unread; its connection is given up (outboxBytes)")
                    forget(peer, "it read too slowly")
                }
                return
            case nil:
                if peer.outbox.isEmpty { unflushed.remove(peer.id) }
                return
            }
        }
    }

    /// - Returns: nil: there is nothing to send now.
    private func sendNext(_ peer: Peer) throws -> SendResult? {
        if let sentAt = peer.outbox.heartbeat {
            let answer = WireCoordinatorMessage.with { $0.heartbeatAnswer.sentAt = sentAt }
            let result = try transmit(try answer.frames(), to: peer)
            if result == .sent { peer.outbox.heartbeat = nil }
            return result
        }
        switch peer.outbox.first {
        case .message(let frames, _)?:
            let result = try transmit(frames, to: peer)
            if result == .sent { peer.outbox.removeFirst() }
            return result
        case .storing(let dispatch)?:
            guard dispatch.isComplete else { return nil }
            peer.outbox.replaceFirst(with: frames(of: dispatch, for: peer))
            return try sendNext(peer)
        case nil: return nil
        }
    }
}

extension Message {
    var isEvents: Bool { if case .events = self { true } else { false } }
}
