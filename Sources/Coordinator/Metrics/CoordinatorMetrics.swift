import Scheduling

/// How a coordinator stands, for those who watch over it: everything that its transport thread counts, at one moment.
package struct CoordinatorMetrics: Sendable {
    /// What waits for peers of one role.
    package struct Connections: Sendable {
        package var count = 0
        /// Of all of them, in bytes.
        package var outboxBytes = 0
        package var outboxBytesMax = 0
    }

    package var epoch: UInt32
    package var uptimeMilliseconds: Int64
    package var tally: Tally
    package var standing: Standing
    package var meter: LoopMeter
    /// By role, in the order of the alphabet.
    package var connections: [(role: String, Connections)]
    /// What peers should not have sent, and connections that did not come to be, by cause.
    package var refusals: [(cause: String, count: UInt64)]
    package var journalSequence: UInt64
    /// Facts decided and not yet on the disk.
    package var factsInFlight: UInt64
    package var outputBytesInFlight: Int
}

extension CoordinatorLoop {
    /// - Complexity: O(submissions + workers + locks + connections).
    func metrics() -> CoordinatorMetrics {
        var connections = ["client": CoordinatorMetrics.Connections(), "executor": .init(), "supervisor": .init()]
        for peer in peers.all where peer.local == nil {
            let role =
                switch peer.role {
                case .client: "client"
                case .executor: "executor"
                case .supervisor: "supervisor"
                }
            connections[role, default: .init()].count += 1
            connections[role, default: .init()].outboxBytes += peer.outbox.bytes
            connections[role, default: .init()].outboxBytesMax = max(connections[role]?.outboxBytesMax ?? 0, peer.outbox.bytes)
        }
        return CoordinatorMetrics(
            epoch: scheduler.epoch, uptimeMilliseconds: now.boot - startedAt, tally: scheduler.tally, standing: scheduler.standing(),
            meter: meter, connections: connections.sorted { $0.key < $1.key }.map { (role: $0.key, $0.value) },
            refusals: ProtocolCounters.Kind.allCases.map { (cause: $0.rawValue, count: counters.counts[$0] ?? 0) },
            journalSequence: scheduler.sequence.rawValue, factsInFlight: factsInFlight, outputBytesInFlight: outputBytesInFlight)
    }
}
