import Coordinator
import Foundation
import Scheduling
import Wire

/// What became of the spans of this process, since its start.
package struct TracedSpans: Sendable {
    /// The collector has them.
    package var exported: UInt64
    /// There was no room for them, or the collector did not take them.
    package var dropped: UInt64

    package init(exported: UInt64 = 0, dropped: UInt64 = 0) { (self.exported, self.dropped) = (exported, dropped) }
}

/// What `/metrics` says of a coordinator. docs/monitoring.md has each of them.
struct MetricsPage {
    let metrics: CoordinatorMetrics
    let now: Int64
    /// nil: the system does not say.
    let residentBytes: Int?
    let spans: TracedSpans

    func write(to text: inout PrometheusText) {
        text.begin("aop_build_info", .gauge, "The release that runs.")
        text.sample("aop_build_info", [("version", ProductVersion.current)], 1)
        text.gauge("aop_epoch", "Rises with each start of the coordinator.", Double(metrics.epoch))
        text.gauge("aop_uptime_seconds", "Since the start of the coordinator.", Double(metrics.uptimeMilliseconds) / 1000)
        if let residentBytes {
            text.gauge("process_resident_memory_bytes", "Memory that the process has.", Double(residentBytes))
        }
        writeWork(&text)
        writeWorkers(&text)
        writeJournal(&text)
        writeTransport(&text)
        text.begin("aop_trace_spans_total", .counter, "Spans of this process, by what became of them.")
        text.sample("aop_trace_spans_total", [("result", "exported")], Double(spans.exported))
        text.sample("aop_trace_spans_total", [("result", "dropped")], Double(spans.dropped))
    }

    private func writeWork(_ text: inout PrometheusText) {
        let (tally, standing) = (metrics.tally, metrics.standing)
        text.begin(
            "aop_operations_total", .counter,
            "Operations that ended, by state and type, and failed attempts that others follow (retrying), since the start.")
        for (index, type) in tally.types.enumerated() {
            for end in Tally.End.allCases {
                let count = tally.count(ofType: index, end)
                // `other` is there from the beginning, so that the metric is; types come with their first end.
                if count > 0 || index == 0 {
                    text.sample("aop_operations_total", [("state", end.word), ("type", type)], Double(count))
                }
            }
        }
        text.begin("aop_operations_open", .gauge, "Operations of submissions that have not ended, by state.")
        text.sample("aop_operations_open", [("state", "pending")], Double(standing.pendingOperations))
        text.sample("aop_operations_open", [("state", "running")], Double(standing.runningOperations))
        text.counter("aop_submissions_submitted_total", "Submissions that were admitted since the start.", tally.submitted)
        text.begin("aop_submissions_total", .counter, "Submissions that ended since the start, by state.")
        for end in Tally.End.allCases where end != .retrying {
            text.sample("aop_submissions_total", [("state", end.word)], Double(tally.submissions(end)))
        }
        text.begin("aop_submissions_known", .gauge, "Submissions that are known, by state; ended: until they are forgotten.")
        for (state, count) in [
            ("pending", standing.pendingSubmissions), ("running", standing.runningSubmissions), ("paused", standing.pausedSubmissions),
            ("ended", standing.endedSubmissions),
        ] { text.sample("aop_submissions_known", [("state", state)], Double(count)) }
        text.histogram("aop_operation_queued_seconds", "From when an operation could begin until it did.", tally.queued, unit: 1e-3)
        text.histogram(
            "aop_operation_running_seconds", "From the beginning of an operation's last attempt to its end.", tally.running, unit: 1e-3)
        text.histogram("aop_operation_whole_seconds", "From when an operation could begin to its end.", tally.whole, unit: 1e-3)
        text.histogram("aop_lock_wait_seconds", "From asking for locks until all of them were there.", tally.lockWaits, unit: 1e-3)
        text.gauge("aop_locks_held", "Locks that somebody holds.", Double(standing.heldLocks))
        text.gauge("aop_locks_waiting", "Places in the lines of locks.", Double(standing.waitingForLocks))
    }

    private func writeWorkers(_ text: inout PrometheusText) {
        let standing = metrics.standing
        text.begin("aop_workers", .gauge, "Executors of workers, by state.")
        for (state, count) in [
            ("attached", standing.attachedWorkers), ("draining", standing.drainingWorkers), ("silent", standing.silentWorkers),
        ] { text.sample("aop_workers", [("state", state)], Double(count)) }
        text.gauge("aop_slots", "Slots of the executors that are attached.", Double(standing.slots))
        text.gauge("aop_slots_taken", "Of these, those that an operation has.", Double(standing.slotsTaken))
    }

    private func writeJournal(_ text: inout PrometheusText) {
        let meter = metrics.meter
        text.counter("aop_journal_facts_total", "Facts in the journal since it was begun.", metrics.journalSequence)
        text.gauge("aop_journal_facts_in_flight", "Facts decided and not yet on the disk.", Double(metrics.factsInFlight))
        text.histogram(
            "aop_journal_commit_seconds", "From when facts were decided until they were on the disk.", meter.commitTimes, unit: 1e-6)
        text.histogram("aop_journal_commit_facts", "Facts that one report of the disk stands for.", meter.commitFacts)
        if let snapshotAt = meter.snapshotAt {
            text.gauge(
                "aop_journal_snapshot_age_seconds", "Since the last snapshot; not there before the first one since the start.",
                Double(max(0, now - snapshotAt)) / 1000)
        }
        text.gauge(
            "aop_spool_bytes_in_flight", "Output and partial results that are on their way to the disk.",
            Double(metrics.outputBytesInFlight))
        text.histogram("aop_scheduler_step_inputs", "Inputs that one step of the scheduler took together.", meter.stepInputs)
        text.histogram("aop_scheduler_step_seconds", "What a step of the scheduler took.", meter.stepTimes, unit: 1e-6)
    }

    private func writeTransport(_ text: inout PrometheusText) {
        let meter = metrics.meter
        text.begin("aop_transport_bytes_total", .counter, "Bytes of messages, without what ZeroMQ and its encryption add.")
        text.sample("aop_transport_bytes_total", [("direction", "in")], Double(meter.bytesIn))
        text.sample("aop_transport_bytes_total", [("direction", "out")], Double(meter.bytesOut))
        text.begin("aop_transport_messages_total", .counter, "Messages.")
        text.sample("aop_transport_messages_total", [("direction", "in")], Double(meter.messagesIn))
        text.sample("aop_transport_messages_total", [("direction", "out")], Double(meter.messagesOut))
        text.begin("aop_refusals_total", .counter, "Connections and messages that were refused, by cause.")
        for (cause, count) in metrics.refusals { text.sample("aop_refusals_total", [("cause", cause)], Double(count)) }
        text.begin("aop_connections", .gauge, "Connections that have said hello, by role.")
        for (role, connections) in metrics.connections { text.sample("aop_connections", [("role", role)], Double(connections.count)) }
        text.begin("aop_outbox_bytes", .gauge, "What waits for connections, by role.")
        for (role, connections) in metrics.connections {
            text.sample("aop_outbox_bytes", [("role", role)], Double(connections.outboxBytes))
        }
        text.begin("aop_outbox_bytes_max", .gauge, "What waits for the one connection of the role that has most of it.")
        for (role, connections) in metrics.connections {
            text.sample("aop_outbox_bytes_max", [("role", role)], Double(connections.outboxBytesMax))
        }
    }
}

extension Tally.End {
    fileprivate var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .retrying: "retrying"
        }
    }
}
