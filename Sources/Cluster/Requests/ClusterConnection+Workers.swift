import Wire

/// What became of a request to drain, resume or remove a worker.
package struct WorkerSteering: Sendable {
    /// Under which the worker was started, on its host; whichever process has it next is meant, too.
    package let name: String
    /// It was not so before.
    package let isChange: Bool
    /// The processes with this name, as they are now: none of one that was removed.
    package let workers: [WireWorkerView]
}

extension ClusterConnection {
    /// All that is known of the worker of this name, or of the only one that begins so: of each process that has the name.
    package func worker(_ name: String) async throws -> [WireWorkerView] {
        guard case .workers(let list) = try await core.ask(.worker(.with { $0.name = name })) else { throw RequestLedger.unexpected }
        return list.workers
    }

    /// What happened to workers since the coordinator's start (of much the last), from the event behind this one on.
    ///
    /// - Parameter number: ``WireWorkerEventList/last`` of the answer before; 0: all that is kept.
    package func workerEvents(after number: UInt64 = 0) async throws -> WireWorkerEventList {
        guard case .workerEvents(let list) = try await core.ask(.workerEvents(.with { $0.after = number })) else {
            throw RequestLedger.unexpected
        }
        return list
    }

    /// Nothing new is given to the worker from now on, whichever process has the name; what it runs goes on to its end, and
    /// what it has not begun goes elsewhere. When this returns that is durable.
    ///
    /// - Parameter name: or the beginning of one that no other worker has.
    package func drainWorker(_ name: String, reason: String = "") async throws -> WorkerSteering {
        let request = WireDrainWorker.with {
            $0.name = name
            $0.reason = reason
        }
        return try await steer(.drainWorker(request))
    }

    /// The worker takes work again.
    package func resumeWorker(_ name: String) async throws -> WorkerSteering {
        try await steer(.resumeWorker(.with { $0.name = name }))
    }

    /// Forgets a worker that is gone for good, and that it was drained.
    ///
    /// - Throws: `ClusterError` with the code `refused` while it is connected or anything may still run in it.
    package func removeWorker(_ name: String) async throws -> WorkerSteering {
        try await steer(.removeWorker(.with { $0.name = name }))
    }

    private func steer(_ request: WireRequest.OneOf_Body) async throws -> WorkerSteering {
        guard case .workerSteered(let steered) = try await core.ask(request) else { throw RequestLedger.unexpected }
        return WorkerSteering(name: steered.name, isChange: steered.changed, workers: steered.workers)
    }
}
