import Coordinator
import Scheduling
import Synchronization

/// Rows of the journal, and snapshots.
enum JournalRows {
    /// A scheduler behind the first half of the sample's facts, and the other half.
    private final class Base: Sendable {
        let scheduler: Mutex<Scheduler>
        let rest: [Fact]

        init() {
            let facts = Sample.shared.facts
            let half = facts.count / 2
            scheduler = Mutex(JournalRows.folded(facts.prefix(half)))
            rest = Array(facts.dropFirst(half))
        }
    }

    private static let base = Base()

    /// An input is a row that stands behind a few others. Of an odd first byte it is the first row.
    static func run(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let row = Array(bytes.dropFirst())
        if first & 1 == 1 { return report(CoordinatorIntake.fold(row: row, behind: Scheduler(MemoryCoordinator.standard))) }
        report(base.scheduler.withLock { CoordinatorIntake.fold(row: row, behind: $0) })
    }

    static func runSnapshot(_ bytes: [UInt8]) { CoordinatorIntake.restore(sections: bytes) }

    /// Hashes say that a row is what was written; what was written may come to a state that nobody can work with, but is no
    /// reason to trap.
    private static func report(_ violations: [String]?) { _ = violations?.first }

    static var seeds: [[UInt8]] {
        let all = Sample.shared.facts
        let behind = base.rest
        return [[1] + row(all), [0] + row(behind)] + stride(from: 1, to: behind.count, by: 4).map { [0] + row(behind.prefix($0)) }
            + stride(from: 1, to: min(20, all.count), by: 3).map { [1] + row(all.prefix($0)) }
    }

    static var snapshotSeeds: [[UInt8]] {
        let facts = Sample.shared.facts
        return [facts.count / 3, facts.count / 2, facts.count].map { count in
            let scheduler = folded(facts.prefix(count))
            var bytes: [UInt8] = []
            scheduler.writeSnapshot { bytes += framed($0) }
            return bytes
        }
    }

    private static func folded(_ facts: some Sequence<Fact>) -> Scheduler {
        var scheduler = Scheduler(MemoryCoordinator.standard)
        do { for fact in facts { try scheduler.restore(fact) } } catch {
            preconditionFailure("facts that a scheduler has decided do not fit: \(error)")
        }
        return scheduler
    }

    private static func row(_ facts: some Sequence<Fact>) -> [UInt8] { facts.flatMap { framed(FactCodec.encode($0)) } }

    private static func framed(_ bytes: [UInt8]) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
    }
}
