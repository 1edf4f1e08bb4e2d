import AOperation
import Cluster
import Conformance
import ConformanceOperations
import Executing
import Foundation
import Synchronization
import Wire

/// A planned graph that runs from its file: what a program hears that submits it and follows it is noted, as listeners of operations note it.
package final class FileRun: Sendable {
    /// How the file is handed in, and what comes of it is steered.
    package struct Desk: Sendable {
        /// Hands in the file, under a key; says the id, and whether it was there already.
        package var submit: @Sendable (_ key: String) async throws -> (id: String, isExisting: Bool)
        package var cancel: @Sendable (_ id: String, _ path: String) async throws -> Void
        /// Pauses a node, or resumes it, and says whether it had not ended.
        package var steer: @Sendable (_ id: String, _ path: String, _ pauses: Bool) async throws -> Bool

        package init(
            submit: @escaping @Sendable (_ key: String) async throws -> (id: String, isExisting: Bool),
            cancel: @escaping @Sendable (_ id: String, _ path: String) async throws -> Void,
            steer: @escaping @Sendable (_ id: String, _ path: String, _ pauses: Bool) async throws -> Bool
        ) {
            (self.submit, self.cancel, self.steer) = (submit, cancel, steer)
        }
    }

    package let plan: GraphPlan
    package let place: any Place
    private let connection: ClusterConnection
    /// By what the cluster calls them.
    private let nodes: [String: Int]
    private let state = Mutex(State())

    private struct State {
        var desk: Desk?
        var started: Set<Int> = []
        var ended: [Int: Ended] = [:]
        var errands: [Task<Void, any Error>] = []
        /// The first thing that went wrong with following and steering.
        var trouble: (any Error)?
    }

    private struct Ended {
        var outcome: Outcome
        var isStoppedByGroup: Bool
    }

    /// Before the file is written: its times count from here.
    ///
    /// - Parameter place: the name of the place where its bodies note what they do.
    package init(_ plan: GraphPlan, at place: String, over connection: ClusterConnection) {
        self.plan = plan
        self.place = Places.place(place)
        self.connection = connection
        nodes = Dictionary(uniqueKeysWithValues: plan.nodes.indices.filter(plan.isPresent).map { (plan.writtenPath(of: $0), $0) })
        self.place.noteTimed(.made(isHere: false))
    }

    /// What was seen, with the names that the plan has.
    package func history(of seen: History) -> History {
        var seen = seen
        let names = plan.nodes.indices.compactMap { node -> (String, String)? in
            guard let parent = plan.nodes[node].parent, plan.isForEach(parent) else { return nil }
            return (plan.writtenPath(of: node).split(separator: "/").suffix(2).joined(separator: "/"), GraphPlan.name(of: node))
        }
        let renamed = Dictionary(uniqueKeysWithValues: names)
        seen.events = seen.events.map { $0.renamed { renamed[$0] ?? $0 } }
        return seen
    }

    /// What has kept it from being followed to its end.
    package var trouble: (any Error)? { state.withLock { $0.trouble } }

    /// Hands in the file, and waits until everything has ended. False if that takes too long, or cannot be followed.
    package func run(_ desk: Desk, within limit: Duration) async -> Bool {
        state.withLock { $0.desk = desk }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    try await self.run(desk)
                    return true
                } catch {
                    self.state.withLock { $0.trouble = $0.trouble ?? error }
                    return false
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            let isOver = await group.next() ?? false
            group.cancelAll()
            return isOver
        }
    }

    private func run(_ desk: Desk) async throws {
        let key = "file-\(UUID())"
        let id = try await desk.submit(key).id
        for planned in plan.cancellations where planned.moment == .onceAdded { cancel(planned.node, in: id) }
        if plan.isSubmittedTwice { submitAgain(desk, key, id) }
        for try await event in connection.followDetails(of: id) {
            switch event {
            case .interrupted: continue
            case .view: try await catchUp(id)
            case .events(let events, _): for event in events { try await hear(Report(event), of: id) }
            }
            if case .view(let view) = event, view.state.isFinal { break }
            if case .events(_, let view) = event, view.state.isFinal { break }
        }
        // Of what came while nobody heard it is known how it has ended.
        try await catchUp(id)
        var done = 0
        while case let errands = state.withLock({ $0.errands }), done < errands.count {
            try await errands[done].value
            done += 1
        }
    }

    // MARK: Hearing

    private struct Report {
        var path: String
        var state: WireOperationState
        var hasStarted: Bool
        var errors: [WireOperationFailure]
        var value: WireValue
        var isStoppedByGroup: Bool
        var endNumber: UInt32 = 0

        init(_ event: WireEvent) {
            (path, state, hasStarted) = (event.path, event.state, event.startedAt > 0)
            (errors, value, isStoppedByGroup) = (event.errors, event.value, event.stoppedByGroup)
        }

        init(_ view: WireOperationView) {
            (path, state, hasStarted) = (view.path, view.state, view.startedAt > 0)
            (errors, value, isStoppedByGroup) = (view.errors, view.value, view.stoppedByGroup)
            endNumber = view.endNumber
        }
    }

    private func node(at path: String) -> Int? {
        if let node = nodes[path] { return node }
        // What was added has the number of the addition in its name.
        guard let last = path.split(separator: "/").last, last.contains("+") else { return nil }
        return plan.node(named: last.split(separator: "+").first.map(String.init))
    }

    /// Takes in how everything stands.
    private func catchUp(_ id: String) async throws {
        var reports: [Report] = []
        for try await page in connection.operations(of: id, withValues: true) { reports += page.map { Report($0) } }
        let ended = reports.filter { $0.state.isFinal }.sorted { $0.endNumber < $1.endNumber }
        let over = Set(ended.compactMap { node(at: $0.path) })
        for report in ended + reports.filter({ !$0.state.isFinal }) { hear(report, in: id, over: over) }
    }

    /// Takes in an event. With the end of a group that may have begun anew it is known how everything in it has ended; what was told of
    /// that before may have been of an earlier attempt.
    private func hear(_ report: Report, of id: String) async throws {
        if report.state.isFinal, let node = node(at: report.path), plan.mayBeginAnew(node), outermostRetried(around: node) == nil {
            try await catchUp(id)
        }
        hear(report, in: id)
    }

    private func outermostRetried(around node: Int) -> Int? { plan.groupsThatMayBeginAnew(around: node).last }

    /// - Parameter over: of what it is known that it has ended for good.
    private func hear(_ report: Report, in id: String, over: Set<Int> = []) {
        guard let node = node(at: report.path), state.withLock({ $0.ended[node] == nil }) else { return }
        let isGroup = plan.nodes[node].group != nil
        let hasBegun = report.state == .running || report.hasStarted
        if hasBegun, !isGroup || !report.state.isFinal, state.withLock({ $0.started.insert(node).inserted }) {
            place.note(.told(node, .start))
            cancelAll(in: id) { $0 == .atStart(of: node) }
            pauseAll(in: id, atStartOf: node)
        }
        let isOfAnAttempt = outermostRetried(around: node).map { !over.contains($0) } ?? false
        guard report.state.isFinal, !isOfAnAttempt else { return }
        let outcome = outcome(report, of: node)
        state.withLock { $0.ended[node] = Ended(outcome: outcome, isStoppedByGroup: report.isStoppedByGroup) }
        place.note(.told(node, .finish(outcome)))
        place.note(.told(node, .result(outcome.result)))
        if !isGroup { place.note(.over(node)) }
        cancelAll(in: id) { $0 == .atEnd(of: node) }
    }

    private func outcome(_ report: Report, of node: Int) -> Outcome {
        switch report.state {
        case .succeeded: return .success(plan.nodes[node].group == nil ? text(of: report.value, isList: plan.list(of: node) != nil) : "")
        case .cancelled:
            let name = GraphPlan.name(of: node)
            return .cancelled([Fault(.cancelled(name), by: name)])
        default:
            let own = report.errors.map { Fault(AOperationError($0)) }
            return .failure(own.isEmpty ? faultsInside(node) : own)
        }
    }

    private func text(of value: WireValue, isList: Bool) -> String {
        guard case .inline(let bytes)? = value.storage else { return "no text" }
        let value = EncodedValue(value.encoding, bytes)
        let text = isList ? try? value.decoded(as: [ListElement].self).first?.text : try? value.decoded(as: String.self)
        return text ?? "no text"
    }

    /// A group's errors are those of its members.
    private func faultsInside(_ group: Int) -> [Fault] {
        let ended = state.withLock { $0.ended }
        let members = plan.children(of: group).compactMap { ended[$0] }.filter { !$0.outcome.isSuccess && !$0.isStoppedByGroup }
        let late = members.filter { $0.outcome.isCancelled || $0.outcome.faults.first?.isDuplicate == true }
        let first = members.filter { !$0.outcome.isCancelled && $0.outcome.faults.first?.isDuplicate != true }
        return (first + late).flatMap(\.outcome.faults)
    }

    // MARK: Steering

    private func errand(_ body: @escaping @Sendable () async throws -> Void) {
        let task = Task { try await body() }
        state.withLock { $0.errands.append(task) }
    }

    private func cancelAll(in id: String, _ isDue: (CancellationPlan.Moment) -> Bool) {
        for planned in plan.cancellations where isDue(planned.moment) { cancel(planned.node, in: id) }
    }

    private func cancel(_ node: Int, in id: String) {
        errand { [self] in
            place.note(.cancelAsked(node))
            try await state.withLock { $0.desk }?.cancel(id, plan.writtenPath(of: node))
        }
    }

    private func pauseAll(in id: String, atStartOf node: Int) {
        for planned in plan.pauses where planned.trigger == node {
            errand { [self] in
                let desk = state.withLock { $0.desk }
                let path = plan.writtenPath(of: planned.node)
                if try await desk?.steer(id, path, true) == true { place.note(.paused(planned.node)) }
                for _ in 0..<planned.ticks { try await place.tick() }
                place.note(.resumed(planned.node))
                _ = try await desk?.steer(id, path, false)
            }
        }
    }

    private func submitAgain(_ desk: Desk, _ key: String, _ id: String) {
        errand { [self] in
            let again = try await desk.submit(key)
            place.note(.submittedAgain(isExisting: again.isExisting && again.id == id))
            guard again.id == id else { return }
            _ = try await connection.outcome(of: again.id)
            var reports: [Report] = []
            for try await page in connection.operations(of: again.id, withValues: true) { reports += page.map { Report($0) } }
            for report in reports {
                guard let node = self.node(at: report.path), plan.nodes[node].group == nil else { continue }
                place.note(.toldAgain(node, outcome(report, of: node)))
            }
        }
    }
}

extension Event {
    /// With other names of nodes in its errors.
    fileprivate func renamed(_ name: (String) -> String) -> Event {
        switch self {
        case .started(let node, let run, let process, let received, let tokens):
            .started(node, run: run, process: process, received: received?.renamed(name), tokens: tokens)
        case .ended(let node, let run, let end): .ended(node, run: run, end.renamed(name))
        case .told(let node, .finish(let outcome)): .told(node, .finish(outcome.renamed(name)))
        case .told(let node, .result(let outcome)): .told(node, .result(outcome.renamed(name)))
        case .toldAgain(let node, let outcome): .toldAgain(node, outcome.renamed(name))
        default: self
        }
    }
}

extension Received {
    fileprivate func renamed(_ name: (String) -> String) -> Received {
        if case .failure(let fault) = self { .failure(fault.renamed(name)) } else { self }
    }
}

extension BodyEnd {
    fileprivate func renamed(_ name: (String) -> String) -> BodyEnd {
        if case .failure(let fault) = self { .failure(fault.renamed(name)) } else { self }
    }
}

extension Outcome {
    fileprivate func renamed(_ name: (String) -> String) -> Outcome {
        switch self {
        case .success: self
        case .failure(let faults): .failure(faults.map { $0.renamed(name) })
        case .cancelled(let faults): .cancelled(faults.map { $0.renamed(name) })
        }
    }
}

extension Fault {
    fileprivate func renamed(_ name: (String) -> String) -> Fault {
        var fault = self
        fault.publisher = publisher.map(name)
        if case .cancelled(let node) = kind { fault.kind = .cancelled(name(node)) }
        return fault
    }
}
