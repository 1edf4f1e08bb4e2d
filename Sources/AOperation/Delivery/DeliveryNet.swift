import Foundation

/// Connects producers with receivers.
enum DeliveryNet {
    /// Lets `receiver` wait for all `producers`, and calls `fill` just before it runs: to set its received value from
    /// their outcomes. A later connection of the same receiver replaces `fill`, with an error line; it still waits for all.
    ///
    /// `fill` must not hold the receiver; it is let go when the receiver has ended. It asks for each producer who stands for that.
    /// Producers and receivers hold each
    /// other until they have ended: a net that is never run, nor cancelled, stays in memory.
    ///
    /// - Parameter form: how the producers' values become the received one.
    static func connect<Receiver: ReceiverOperation>(
        _ producers: [AOperation], to receiver: Receiver, as form: DeliveryForm.Shape,
        fill: @escaping (Receiver, FreshProducers) -> Void
    ) {
        for producer in producers {
            receiver.addDependency(producer)
            producer.core.withLock { core in
                if !core.state.isEnded { core.receivers.append(receiver) }
            }
        }
        let (isConnected, earlier) = receiver.core.withLock { ($0.inbox != nil, $0.producers) }
        if isConnected, !earlier.isEmpty { tellReplacement(of: earlier, by: producers, at: receiver) }
        receiver.core.withLock { core in
            core.producers += producers
            core.delivery = .of(producers.count, form)
            core.inbox = DeliveryInbox { operation, producers in
                if let operation = operation as? Receiver { fill(operation, producers) }
            }
        }
        receiver.announceChange(isShortcut: true)  // the producers, on which it depends by now, are not in its way
        receiver.forgetLockScan()
        for producer in producers { producer.forgetLockScan() }
    }

    /// Lets `receiver`, which is made anew, receive as the first one did from those that are made anew with its producers. It depends on them.
    static func connect(_ receiver: AOperation, as first: Connection, to fresh: [ObjectIdentifier: AOperation]) {
        let producers = first.producers.map { fresh[ObjectIdentifier($0)] ?? $0 }
        for producer in producers {
            producer.core.withLock { core in
                if !core.state.isEnded { core.receivers.append(receiver) }
            }
        }
        receiver.core.withLock { core in
            core.producers = producers
            core.delivery = first.form
            core.inbox = first.inbox?.taking(fresh, inPlaceOf: first.producers)
        }
        receiver.announceChange(isShortcut: true)
        receiver.forgetLockScan()
        for producer in producers { producer.forgetLockScan() }
    }

    /// From whom an operation receives, and how.
    struct Connection {
        let producers: [AOperation]
        let form: DeliveryForm
        let inbox: DeliveryInbox?
    }

    /// Several connections of one receiver: what the earlier ones deliver is lost.
    private static func tellReplacement(of earlier: [AOperation], by producers: [AOperation], at receiver: AOperation) {
        let names = { (operations: [AOperation]) in operations.map(\.publisherName).joined(separator: ", ") }
        AOperation.Debugger.error(
            "the operation \(receiver.publisherName) receives from \(names(earlier)), and now from \(names(producers)) instead: "
                + "the last delivery counts. Deliver all of them at once: [a, b].deliver(to:), or deliver(a, b, to:).")
    }

    /// Cancels those producers of a cancelled receiver whose result nobody else waits for.
    static func cancelUnneeded(_ producers: [AOperation]) {
        guard !producers.isEmpty else { return }
        Trampoline.run {
            for producer in producers where producer.isUnneeded { producer.cancel() }
        }
    }

    /// The first error in declared order among results that are all there.
    static func firstError<Value>(of results: [Result<Value, AOperationError>?]) -> AOperationError? {
        for case .failure(let error)? in results { return error }
        return nil
    }
}

/// Sets the received value of an operation, or of another attempt of it.
struct DeliveryInbox {
    private let body: (AOperation, FreshProducers) -> Void
    private var producers = FreshProducers()

    init(_ body: @escaping (AOperation, FreshProducers) -> Void) { self.body = body }

    /// The same from other producers.
    func taking(_ fresh: [ObjectIdentifier: AOperation], inPlaceOf known: [AOperation]) -> DeliveryInbox {
        var inbox = self
        inbox.producers.follow(fresh, from: known)
        return inbox
    }

    func fill(_ operation: AOperation) { body(operation, producers) }
}

/// Who stands for producers whose group is tried again. Those that were connected stand for themselves at first.
struct FreshProducers {
    /// By the ones that were connected.
    private var fresh: [ObjectIdentifier: AOperation] = [:]

    /// Others are made in the place of `known`: of those that were connected, or of those that stand for them by now, as a group around
    /// theirs was tried again before.
    mutating func follow(_ next: [ObjectIdentifier: AOperation], from known: [AOperation]) {
        if fresh.isEmpty {
            for producer in known { fresh[ObjectIdentifier(producer)] = next[ObjectIdentifier(producer)] }
        } else {
            fresh = fresh.mapValues { next[ObjectIdentifier($0)] ?? $0 }
        }
    }

    func of<Producer: AOperation>(_ producer: Producer) -> Producer {
        fresh.isEmpty ? producer : fresh[ObjectIdentifier(producer)] as? Producer ?? producer
    }
}

/// How the values of the producers that were connected last become the received value.
enum DeliveryForm {
    enum Shape {
        /// The only producer's value as it is.
        case value
        /// A list of all values, or a tuple.
        case list
        /// What a group's children delivered.
        case children
        /// Something that only this process can make.
        case custom
    }

    case none
    /// Of so many producers, the last ones.
    case of(Int, Shape)
}

extension AOperation {
    /// Sets the received value, if somebody delivers to this operation, then calls its injections in the order in
    /// which they were declared. Called just before it runs.
    final func receive() {
        let (inbox, injections, stream) = core.withLock { ($0.inbox, $0.injections, $0.attachments?.stream) }
        inbox?.fill(self)
        if let stream, !isMirror { stream.give(to: self) }
        for injection in injections { injection.apply(self) }
    }
}
