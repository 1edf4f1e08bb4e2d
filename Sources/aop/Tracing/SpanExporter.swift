import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// Sends spans to a collector over OTLP/HTTP, as JSON.
///
/// Whoever ends a span only puts it into a queue that is bounded: encoding and sending is done beside, one batch after the other. What the
/// queue has no room for, and what the collector does not take, is dropped and counted. That it is is said once, and once when the collector takes spans again.
final class SpanExporter: SpanSink {
    /// Spans that wait to be sent; more are dropped.
    static let queueMax = 2_048
    static let batchMax = 512
    /// How long the first of a batch waits for others.
    static let delayMilliseconds = 1_000
    /// How often a batch is sent that the collector cannot take just now.
    static let attemptsMax = 4
    /// Before the second time; doubled with each.
    static let waitMilliseconds = 500
    /// How long the end of this process waits for what is to be sent.
    static let flushMilliseconds = 3_000

    struct Counts: Hashable, Sendable {
        var exported: UInt64 = 0
        var dropped: UInt64 = 0
    }

    private struct State {
        var waiting: [SpanRecord] = []
        var isScheduled = false
        /// The process ends: nothing is tried again.
        var isEnding = false
        var counts = Counts()
        /// Dropped by whoever ended them, and not noted as lost yet: that takes a file.
        var unnoted = 0
        /// Something was dropped since there was room last.
        var isFull = false
    }

    private enum Answer {
        case taken
        /// It says why it never will take it.
        case refused(String)
        /// Later it may.
        case unavailable(String, retryAfterMilliseconds: Int?)
    }

    /// What the session's thread hands over.
    private final class GivenAnswer: Sendable {
        private let answer = Mutex<Answer?>(nil)
        var value: Answer? { answer.withLock { $0 } }
        func set(_ given: Answer) { answer.withLock { $0 = given } }
    }

    private let settings: ExportSettings
    private let resource: SpanResource
    private let session: URLSession
    private let losses: SpanLosses
    private let tell: SpanNotice.Teller
    private let state = Mutex(State())
    private let work = DispatchQueue(label: "aop.spans", qos: .utility)
    /// Ends the wait for another try.
    private let hurry = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - losses: what others lose as well.
    ///   - tell: is told why spans are dropped, and when they are not any more.
    init(
        _ settings: ExportSettings, _ resource: SpanResource, losses: SpanLosses,
        tell: @escaping SpanNotice.Teller = SpanNotice.tell
    ) {
        (self.settings, self.resource, self.losses, self.tell) = (settings, resource, losses, tell)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = TimeInterval(settings.timeoutMilliseconds) / 1000
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    // MARK: The exporter of this process

    private static let own = Mutex<SpanExporter?>(nil)

    /// For the whole process.
    static func start(_ settings: ExportSettings, _ resource: SpanResource, losses: SpanLosses) -> SpanExporter {
        let exporter = SpanExporter(settings, resource, losses: losses)
        own.withLock { $0 = exporter }
        return exporter
    }

    /// Of this process; nil: it has no exporter.
    static var ownCounts: Counts? { own.withLock { $0 }?.counts }

    var counts: Counts { state.withLock { $0.counts } }

    // MARK: Taking

    func take(_ record: SpanRecord) {
        let (isNewlyFull, delay) = state.withLock { state -> (Bool, Int?) in
            guard state.waiting.count < Self.queueMax else {
                state.counts.dropped += 1
                state.unnoted += 1
                defer { state.isFull = true }
                return (!state.isFull, nil)
            }
            state.waiting.append(record)
            let isBatch = state.waiting.count == Self.batchMax
            guard isBatch || !state.isScheduled else { return (false, nil) }
            state.isScheduled = true
            return (false, isBatch ? 0 : Self.delayMilliseconds)
        }
        if isNewlyFull { noteUnnoted() }
        if let delay { work.asyncAfter(deadline: .now() + .milliseconds(delay)) { [self] in sendAll() } }
    }

    func flush() {
        state.withLock { $0.isEnding = true }
        hurry.signal()
        let done = DispatchSemaphore(value: 0)
        work.async { [self] in
            sendAll()
            done.signal()
        }
        if done.wait(timeout: .now() + .milliseconds(Self.flushMilliseconds)) == .timedOut {
            let waiting = state.withLock { $0.waiting.count }
            lose(waiting, "the collector at \(settings.url) did not take them within \(Self.flushMilliseconds) ms (flushMilliseconds)")
        }
        noteUnnoted()
    }

    // MARK: Sending

    /// Until nothing waits.
    private func sendAll() {
        while let batch = nextBatch() { send(batch) }
    }

    private func nextBatch() -> [SpanRecord]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isScheduled = false
                return nil
            }
            let batch = Array(state.waiting.prefix(Self.batchMax))
            state.waiting.removeFirst(batch.count)
            state.isFull = false
            return batch
        }
    }

    private func send(_ batch: [SpanRecord]) {
        let body = OTLPMessage(of: batch, from: resource).json
        var wait = Self.waitMilliseconds
        for attempt in 1...Self.attemptsMax {
            switch post(body) {
            case .taken:
                state.withLock { $0.counts.exported += UInt64(batch.count) }
                noteUnnoted()
                if let lost = losses.takeBack() {
                    tell(.notice, "spans are sent to the collector at \(settings.url) again; \(lost) were lost")
                }
                return
            case .refused(let reason):
                return drop(batch, reason)
            case .unavailable(let reason, let retryAfter):
                let isLast = attempt == Self.attemptsMax || state.withLock { $0.isEnding }
                guard !isLast else { return drop(batch, reason) }
                _ = hurry.wait(timeout: .now() + .milliseconds(min(max(retryAfter ?? wait, 1), settings.timeoutMilliseconds)))
                wait *= 2
            }
        }
    }

    private func drop(_ batch: [SpanRecord], _ reason: String) {
        state.withLock { $0.counts.dropped += UInt64(batch.count) }
        lose(batch.count, "the collector at \(settings.url) \(reason)")
        noteUnnoted()
    }

    /// What the queue had no room for.
    private func noteUnnoted() {
        let count = state.withLock { state in
            defer { state.unnoted = 0 }
            return state.unnoted
        }
        if count > 0 { lose(count, "more than \(Self.queueMax) wait to be sent (queueMax)") }
    }

    private func lose(_ count: Int, _ reason: String) {
        if losses.note(count) { tell(.warning, "spans are dropped: \(reason)") }
    }

    private func post(_ body: Data) -> Answer {
        var request = URLRequest(url: settings.url)
        request.httpMethod = "POST"
        request.httpBody = body
        for (name, value) in settings.headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (answer, done) = (GivenAnswer(), DispatchSemaphore(value: 0))
        let task = session.dataTask(with: request) { data, response, error in
            answer.set(Self.answer(data, response as? HTTPURLResponse, error))
            done.signal()
        }
        task.resume()
        let limit = settings.timeoutMilliseconds
        guard done.wait(timeout: .now() + .milliseconds(limit)) == .success, let answer = answer.value else {
            task.cancel()
            return .unavailable("did not answer within \(limit) ms", retryAfterMilliseconds: nil)
        }
        return answer
    }

    private static func answer(_ data: Data?, _ response: HTTPURLResponse?, _ error: (any Error)?) -> Answer {
        guard let response else {
            return .unavailable("cannot be reached: \(error?.localizedDescription ?? "no answer")", retryAfterMilliseconds: nil)
        }
        switch response.statusCode {
        case 200..<300: return .taken
        // Those that the standard has tried again.
        case 429, 502, 503, 504:
            let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap(Int.init)
            return .unavailable("answers with \(response.statusCode)", retryAfterMilliseconds: seconds.map { min($0, 600) * 1000 })
        default:
            let text = String(decoding: (data ?? Data()).prefix(200), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            return .refused("refuses them with \(response.statusCode)\(text.isEmpty ? "" : ": \(text)")")
        }
    }
}
