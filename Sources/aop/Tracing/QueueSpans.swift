import Executing
import Logging
import Scheduling
import Synchronization
import Tracing

/// The spans `aop.queue`: how long operations have waited for their attempts to begin, as the coordinator tells.
///
/// They are made beside its thread, which never waits for that.
final class QueueSpans: Sendable {
    /// Of what the coordinator tells at once: beyond that it is dropped, the newest first.
    static let backlogMax = 4_096

    private let desk: TraceDesk
    private let logger: Logger
    private let told: AsyncStream<[OperationWait]>.Continuation
    private let making: Task<Void, Never>
    private let lost = Mutex<UInt64>(0)

    /// How many were dropped, because they came faster than spans are made.
    var dropped: UInt64 { lost.withLock { $0 } }

    /// Nil: this process has no tracer.
    convenience init?(_ logger: Logger) {
        guard let desk = TraceDesk.current else { return nil }
        self.init(desk, logger)
    }

    init(_ desk: TraceDesk, _ logger: Logger) {
        (self.desk, self.logger) = (desk, logger)
        let (waits, told) = AsyncStream<[OperationWait]>.makeStream(bufferingPolicy: .bufferingOldest(Self.backlogMax))
        self.told = told
        making = Task { for await batch in waits { for wait in batch { Self.make(wait, desk) } } }
    }

    /// Does not block.
    func tell(_ waits: [OperationWait]) {
        guard case .dropped(let these) = told.yield(waits) else { return }
        let isFirst = lost.withLock { lost in
            defer { lost += UInt64(these.count) }
            return lost == 0
        }
        if isFirst { logger.warning("spans aop.queue are dropped: operations begin faster than these can be written") }
    }

    /// Waits for those that are being made.
    func end() async {
        told.finish()
        await making.value
    }

    private static func make(_ wait: OperationWait, _ desk: TraceDesk) {
        let span: any Span = desk.tracer.startSpan(
            "aop.queue", context: desk.context(of: wait.trace.byName), ofKind: .internal, at: WallInstant(milliseconds: wait.from))
        span.updateAttributes { attributes in
            attributes["messaging.system"] = "aop"
            attributes["messaging.operation.name"] = "queue"
            attributes["messaging.message.id"] = "\(wait.submission)/\(wait.path)"
            attributes["aop.submission.id"] = wait.submission
            attributes["aop.operation.path"] = wait.path
            attributes["aop.operation.type"] = wait.type
            attributes["aop.operation.attempt"] = wait.attempt
            attributes["aop.worker"] = wait.worker
        }
        span.end(at: WallInstant(milliseconds: wait.to))
    }
}

/// A time that somebody has noted.
private struct WallInstant: TracerInstant {
    /// Since 1970.
    let nanosecondsSinceEpoch: UInt64

    init(milliseconds: Int64) { nanosecondsSinceEpoch = UInt64(max(0, milliseconds)) * 1_000_000 }

    static func < (a: Self, b: Self) -> Bool { a.nanosecondsSinceEpoch < b.nanosecondsSinceEpoch }
}
