import Scheduling
import Wire

/// What a coordinator reads that others have written, without a cluster around it: what fuzzing is about.
///
/// Nothing of it may trap, whatever the bytes are.
package enum CoordinatorIntake {
    /// Reads everything in a peer's message that becomes an input of the scheduler.
    package static func translate(_ message: WirePeerMessage) {
        switch message.body {
        case .hello(let hello): read { () throws(TranslationError) in _ = try ExecutorAttachment(wire: hello) }
        case .request(let request): read { () throws(TranslationError) in translate(try ClientRequest(wire: request)) }
        case .reports(let reports):
            for report in reports.reports {
                if case .ended(let end)? = report.body { _ = ReportedEnd(wire: end, host: "host") }
            }
        case .products(let batch):
            for product in batch.products { read { () throws(TranslationError) in _ = try Addition(wire: product.addition) } }
        case .blobRequest(let request): _ = request.range(inValueOf: 1 << 20)
        case .heartbeat, .goodbye, .blobChunk, .output, .progress, .elements, .executorEnded, .enrol, nil: break
        }
    }

    /// What admission looks at.
    private static func translate(_ request: ClientRequest) {
        switch request {
        case .scheduler(.submit(_, _, let examined, _, _, _, _)):
            _ = examined.graph.faults(limits: CoordinatorConfiguration.graphLimits).inOrder
        case .scheduler(.check(let graph, _)):
            _ = graph.faults(limits: CoordinatorConfiguration.graphLimits).inOrder
        case .scheduler, .submitStored, .read: break
        }
    }

    /// Folds a row of the journal behind the facts of `base`, then begins as a coordinator would, and looks at the state.
    ///
    /// - Returns: what does not hold; nil: the row cannot be read, or does not fit.
    package static func fold(row: [UInt8], behind base: Scheduler) -> [String]? {
        var scheduler = base
        do {
            try JournalBatch.forEachFact(in: row) { try scheduler.restore($0) }
        } catch { return nil }
        return begin(scheduler)
    }

    /// Reads the sections of a snapshot, each with its length (32 bits, little endian) before it. What they come to is worked with only
    /// when their hash is the one that was written.
    package static func restore(sections bytes: [UInt8]) {
        var scheduler = Scheduler(MemoryCoordinator.standard)
        var rest = bytes[...]
        do {
            while rest.count >= 4 {
                let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
                let section = rest.dropFirst(4).prefix(count)
                rest = rest.dropFirst(4 + section.count)
                let isFirst = scheduler.sequence == .none
                try scheduler.restore(section: section)
                try Scheduler.check(section: Array(section), isFirst: isFirst)
            }
        } catch { _ = "\(error)" }
    }

    private static func begin(_ scheduler: Scheduler) -> [String] {
        var scheduler = scheduler
        var outputs = Outputs()
        scheduler.start(at: Instant(boot: 1, wall: 1_800_000_000_000), incarnation: Incarnation(1), into: &outputs)
        scheduler.step([], at: Instant(boot: 700_000, wall: 1_800_000_700_000), into: &outputs)
        return scheduler.violations()
    }

    private static func read(_ body: () throws(TranslationError) -> Void) {
        // Refused with a text: as it should be.
        do throws(TranslationError) { try body() } catch { _ = error.description }
    }
}
