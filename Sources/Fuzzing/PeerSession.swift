import Coordinator
import Scheduling
import Wire

/// Messages of an executor and of a client, one after another, at a coordinator that has work.
enum PeerSession {
    /// Each message has a byte before it: the lowest bit says whose it is, the next one whether time passes, the one after that
    /// whether the coordinator crashes behind it.
    static func run(_ bytes: [UInt8]) {
        var now = Instant(boot: 1_000, wall: 1_800_000_000_000)
        let coordinator = MemoryCoordinator(at: now, incarnation: 1, hearing: .speakers)
        var (client, executor) = (coordinator.connect(), attached(to: coordinator))
        for record in Records.split(bytes).prefix(recordsMax) {
            guard let kind = record.first else { continue }
            var message: WirePeerMessage
            do throws(WireError) { message = try WirePeerMessage(frames: [Buffer(Array(record.dropFirst()))]) } catch { continue }
            aim(&message, at: coordinator)
            let before = coordinator.scheduler.sequence
            _ = coordinator.receive(message, from: kind & 1 == 0 ? client : executor, at: now)
            if kind & 2 != 0 { now = Instant(boot: now.boot + 2_000, wall: now.wall + 2_000) }
            coordinator.step(at: now)
            _ = coordinator.sync()
            // What is broken without a decision is still so behind the next one, or at the end.
            if coordinator.scheduler.sequence != before { check(coordinator) }
            if kind & 4 != 0 {
                do { try coordinator.crash(at: now, incarnation: UInt64(kind)) } catch {
                    FuzzTarget.fail("what was decided cannot be folded: \(error)")
                }
                (client, executor) = (coordinator.connect(), attached(to: coordinator))
            }
        }
        check(coordinator)
    }

    /// Messages of one input.
    private static let recordsMax = 40

    private static func attached(to coordinator: MemoryCoordinator) -> UInt64 {
        do { return try coordinator.attach(Sample.hello) } catch { preconditionFailure("an executor cannot attach: \(error)") }
    }

    /// Attempts have numbers that cannot be guessed: those of the sample mean the ones that are there.
    private static func aim(_ message: inout WirePeerMessage, at coordinator: MemoryCoordinator) {
        guard case .reports(var reports)? = message.body else { return }
        let epoch = UInt64(coordinator.scheduler.epoch) << 32
        for index in reports.reports.indices { reports.reports[index].attempt = epoch | reports.reports[index].attempt & 0xFFFF }
        message.reports = reports
    }

    private static func check(_ coordinator: MemoryCoordinator) {
        let violations = coordinator.scheduler.violations()
        guard violations.isEmpty else { FuzzTarget.fail("what peers sent has broken: \(violations.joined(separator: "; "))") }
    }

    static var seeds: [[UInt8]] { [Sample.shared.session, Array(Sample.shared.session.prefix(4_000))] }
}
