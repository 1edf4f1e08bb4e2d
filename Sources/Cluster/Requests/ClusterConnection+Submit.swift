import Foundation
import SwiftProtobuf
import Wire

/// A submission the coordinator has on its disk.
package struct SubmittedGraph: Hashable, Sendable {
    package var id: String
    /// The key had been used for the same graph before: this is that submission.
    package var isExisting: Bool
    package var warnings: [String]
}

/// What an admission check found without submitting.
package struct GraphCheck: Hashable, Sendable {
    package var errors: [ClusterError.GraphError]
    /// What could not be checked, and why.
    package var unchecked: [String]
}

extension ClusterConnection {
    /// Hands in a graph. When this returns the submission is on the coordinator's disk.
    ///
    /// A submission is made once however often the request has to be repeated, because it has a key.
    /// - Parameters:
    ///   - key: names the submission for its submitter: the same key and graph give the first submission again.
    ///     Drawn at random when nil.
    ///   - name: replaces the graph's name.
    ///   - waitForWorkers: admit operation types that no worker has registered yet.
    ///   - trace: the trace that the work belongs to, as this process was told it: `traceparent` and `tracestate` of W3C Trace Context.
    ///     Empty: the `ServiceContext` of the task, if a tracer is bootstrapped. It is no part of what the key stands for, and what is
    ///     not sound of it is left out.
    /// - Throws: `ClusterError`: `refused` with every fault of the graph, `busy`, …
    package func submit(
        _ graph: WireGraph, key: String? = nil, name: String? = nil, waitForWorkers: Bool = false, trace: [String: String] = [:]
    ) async throws -> SubmittedGraph {
        try await submit(graph, key: key, name: name, waitForWorkers: waitForWorkers, cancelled: [], trace: trace)
    }

    /// Hands in a graph, waits until all of it has ended, and gives its outcome with all values.
    ///
    /// As `submit`, ``outcome(of:)`` and ``result(of:path:)`` one after another, with a third of the ways there and back. It goes on across
    /// restarts of the coordinator; when the task is cancelled, only the waiting ends.
    /// - Parameters: as of `submit`.
    /// - Throws: `ClusterError`, as the three; `CancellationError`.
    package func run(
        _ graph: WireGraph, key: String? = nil, name: String? = nil, waitForWorkers: Bool = false, trace: [String: String] = [:]
    ) async throws -> SubmissionResult {
        let key = key ?? UUID().uuidString
        var followed: FollowedEvents?
        var first: EndPage?
        defer { first?.abandon() }
        // Its id is not known yet, but its key is.
        let submitted = try await submit(graph, key: key, name: name, waitForWorkers: waitForWorkers, cancelled: [], trace: trace) {
            followed = core.follow("key=\(key)", .end)
            first = EndPage(of: "key=\(key)", core)
        }
        let view: WireSubmissionView
        do {
            view = try await outcome(of: submitted.id, in: followed ?? core.follow(submitted.id, .end))
        } catch let error as ClusterError where error.code == .notFound {
            // On a connection that was made anew meanwhile it may have come before the submission did.
            view = try await outcome(of: submitted.id)
        }
        var views = try await first?.operations() ?? []
        if views.isEmpty { for try await page in operations(of: submitted.id, withValues: true) { views += page } }
        return SubmissionResult(submission: view, operations: OperationTree(views))
    }

    /// - Parameters:
    ///   - cancelled: nodes that are cancelled from the outset, by index in the graph.
    ///   - submitter: where the graph's hosted code is; 0: it has none.
    ///   - trace: as this process was told it; empty: as the task has it.
    ///   - next: called when the graph is on its way: what is asked for comes to the coordinator after it. Not called for a graph that
    ///     the coordinator has to fetch.
    func submit(
        _ graph: WireGraph, key: String?, name: String?, waitForWorkers: Bool, cancelled: [UInt32], submitter: UInt64 = 0,
        trace: [String: String] = [:], then next: () -> Void = {}
    ) async throws -> SubmittedGraph {
        var submit = WireSubmit()
        submit.submitter = submitter
        submit.cancelled = cancelled
        submit.key = key ?? UUID().uuidString
        submit.name = name ?? ""
        submit.waitForWorkers = waitForWorkers
        let label = submit.name.isEmpty ? graph.name : submit.name
        return try await ClusterSpan.submit(submit, name: label, nodes: graph.nodes.count, trace: trace) { submit in
            try await handIn(submit, with: graph, then: next)
        }
    }

    private func handIn(_ submit: WireSubmit, with graph: WireGraph, then next: () -> Void) async throws -> SubmittedGraph {
        var submit = submit
        let serialized: Data = try graph.serializedBytes()
        guard serialized.count > Limits.inlineGraphBytes else {
            submit.graph = graph
            return try await send(submit, then: next)
        }
        let digest = Data(BlobDigest(hashing: serialized).bytes)
        submit.graphBlob.digest = digest
        submit.graphBlob.size = UInt64(serialized.count)
        core.offer(serialized, digest: digest)
        defer { core.withdraw(digest: digest) }
        return try await send(submit)
    }

    private func send(_ submit: WireSubmit, then next: () -> Void = {}) async throws -> SubmittedGraph {
        guard case .submitted(let submitted) = try await core.ask(.submit(submit), then: next) else { throw RequestLedger.unexpected }
        return SubmittedGraph(id: submitted.id, isExisting: submitted.existing, warnings: submitted.warnings)
    }

    /// Checks a graph as a submission would, and submits nothing.
    ///
    /// A graph that would fill more than half a message is not sent: the answer names it as unchecked.
    package func check(_ graph: WireGraph, waitForWorkers: Bool = false) async throws -> GraphCheck {
        let serialized: Data = try graph.serializedBytes()
        guard serialized.count <= Limits.messageBytes / 2 else {
            let size = "\(serialized.count) bytes"
            return GraphCheck(
                errors: [], unchecked: ["the graph is too large (\(size)) to be checked by the coordinator without submitting it"])
        }
        let request = WireCheck.with {
            $0.graph = graph
            $0.waitForWorkers = waitForWorkers
        }
        guard case .checked(let result) = try await core.ask(.check(request)) else { throw RequestLedger.unexpected }
        return GraphCheck(errors: result.errors.map(ClusterError.GraphError.init), unchecked: result.unchecked)
    }
}
