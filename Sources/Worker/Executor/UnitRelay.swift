import AOperation
import Executing
import Foundation
import Synchronization
import Wire

/// What an operation on the queue tells the executor's loop of itself: that it begins, how far it is, what it writes and produces, how it
/// has ended.
///
/// There is one for each operation, which holds it; it is told on any thread, and what it passes on is done by the loop.
final class UnitRelay: Sendable {
    private let key: UnitKey
    /// Only dereferenced on the loop's thread.
    private nonisolated(unsafe) let runner: UnitRunner
    private let loop: EventLoop
    private let line: StartLine?
    private let progress: ProgressDesk
    private let hostName: String
    private let redaction: Redaction
    private let span: BodySpan?
    /// Holds the relay: it is there whenever that is told something.
    private unowned let operation: any ClusterOperation
    /// nil: it has written nothing.
    private let log = Mutex<LogRelay?>(nil)

    /// - Parameter line: from which the next one begins when this one has ended.
    init(
        of operation: any ClusterOperation, _ key: UnitKey, for runner: UnitRunner, on loop: EventLoop, line: StartLine?,
        progress: ProgressDesk, hostName: String, _ redaction: Redaction, _ span: BodySpan?
    ) {
        self.operation = operation
        self.key = key
        self.runner = runner
        self.loop = loop
        self.line = line
        self.progress = progress
        self.hostName = hostName
        self.redaction = redaction
        self.span = span
    }

    /// Before the operation is added to the queue.
    func listen() {
        operation.relayProgress { [self] in progressed($0) }
        operation.relayLog { [self] in wrote($0) }
        operation.relayProducts { [self] in produced($0, id: $1) }
        operation.whenEnded { [self] in ended($0) }
    }

    /// It is about to be added by somebody else than the loop.
    func begins() {
        let at = WallClock.milliseconds()
        loop.submitUnhurried { [self] in runner.begun(key, at: at) }
    }

    private func progressed(_ news: OperationProgress) {
        guard progress.put(news, of: key, at: WallClock.milliseconds()) else { return }
        loop.submit { [self] in runner.whenProgressed() }
    }

    private func wrote(_ line: String) {
        let log = log.withLock { log in
            let relay = log ?? LogRelay(redaction)
            log = relay
            return relay
        }
        guard log.append(line) else { return }
        loop.submit { [self] in runner.logged(key, log) }
    }

    private func produced(_ product: Foundation.Operation, id: String) {
        let result = Result { try ProducedGraph([product], id: id, from: .worker).addition }
            .mapError { $0 as? ProductRefused ?? ProductRefused(reason: $0.localizedDescription) }
        let publisher = operation.errorName
        loop.submit { [self] in runner.produced(key, result, publisher) }
        product.cancelUnqueued()
    }

    private func ended(_ outcome: ClusterOutcome) {
        // Before the next one begins.
        let endedAt = WallClock.milliseconds()
        // The loop is not needed for the slot to be used, so that it may take many ends at once.
        let isHurried = line?.beginNext() != true
        let products = operation.takeProducts()
        guard outcome.isLarge || !products.isEmpty else {
            return end(FinishedUnit(outcome, hostName: hostName, redaction), at: endedAt, isHurried: isHurried)
        }
        // Hashing takes its time, and this may be a cooperative thread.
        let held = Products(operations: products)
        let name = operation.errorName
        DispatchQueue.global().async { [self] in
            let finished = FinishedUnit(outcome, hostName: hostName, redaction)
            end(held.added(to: finished, name: name, hostName: hostName), at: endedAt, isHurried: isHurried)
            for product in held.operations { product.cancelUnqueued() }
        }
    }

    private func end(_ finished: FinishedUnit, at: Int64, isHurried: Bool) {
        span?.end(finished.ending)
        let finished = finished.ended(at: at)
        if isHurried {
            loop.submit { [self] in runner.ended(key, finished) }
        } else {
            loop.submitUnhurried { [self] in runner.ended(key, finished) }
        }
    }

    /// Invariant behind `@unchecked Sendable`: nobody else uses what was produced.
    private struct Products: @unchecked Sendable {
        let operations: [Foundation.Operation]

        /// What a success has produced goes with it, as a whole; if it cannot, there is no success.
        func added(to finished: FinishedUnit, name: String, hostName: String) -> FinishedUnit {
            guard case .success = finished.ending, !operations.isEmpty else { return finished }
            do {
                return finished.adding(try ProducedGraph(operations, from: .worker).addition)
            } catch {
                return FinishedUnit(.failure([.product(error, publisher: name, host: hostName)]))
            }
        }
    }
}

extension FinishedUnit {
    fileprivate init(_ outcome: ClusterOutcome, hostName: String, _ redaction: Redaction) {
        switch outcome {
        case .success(let value):
            self.init(value)
        case .failure(let errors):
            self.init(.failure(errors.map { redaction.apply(to: WireOperationFailure($0, host: hostName)) }))
            isUnbegun = errors.contains { $0.publishedError is UnbegunAttempt }
        case .cancelled:
            self.init(.cancelled)
        }
    }
}

extension ClusterOutcome {
    fileprivate var isLarge: Bool {
        switch self {
        case .success(let value): value.bytes.count >= 1 << 20
        case .failure, .cancelled: false
        }
    }
}
