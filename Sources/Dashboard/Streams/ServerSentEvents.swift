import Foundation
import Hummingbird
import Shapes
import Synchronization

/// One event of a stream, as https://html.spec.whatwg.org/multipage/server-sent-events.html has it.
struct ServerSentEvent: Sendable {
    let name: String
    /// With which a reader who comes back says how far it has come; nil: it does not count.
    let id: String?
    /// JSON, on one line.
    let data: Data

    init(_ name: String, id: String?, _ value: JSONValue) {
        self.init(name, id: id, data: value.data)
    }

    init(_ name: String, id: String?, data: Data) { (self.name, self.id, self.data) = (name, id, data) }

    var bytes: Data {
        var bytes = Data("event: \(name)\n".utf8)
        if let id { bytes.append(contentsOf: "id: \(id)\n".utf8) }
        bytes.append(contentsOf: "data: ".utf8)
        bytes.append(data)
        bytes.append(contentsOf: "\n\n".utf8)
        return bytes
    }

    /// Tells both sides that the other is still there.
    static let heartbeat = Data(": \n\n".utf8)
}

/// How many streams are open.
final class StreamCount: Sendable {
    /// Is held by one stream; it is closed when this goes.
    private final class Ticket: Sendable {
        private let count: StreamCount
        init(_ count: StreamCount) { self.count = count }
        deinit { count.count.withLock { $0 -= 1 } }
    }

    private let count = Mutex(0)

    private func ticket() -> Ticket? {
        let isRoom = count.withLock { count in
            guard count < HTTPLimits.streams else { return false }
            count += 1
            return true
        }
        return isRoom ? Ticket(self) : nil
    }

    /// An answer that is written bit by bit, until its reader has gone.
    ///
    /// - Throws: `APIFailure`: there are too many.
    func stream(_ write: @escaping @Sendable (BodySink) async throws -> Void) throws -> Response {
        guard let ticket = self.ticket() else {
            throw APIFailure(
                .serviceUnavailable, "busy", "\(HTTPLimits.streams) streams of events are open, which is the most (streams); close others",
                headers: [.retryAfter: "10"])
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                let sink = BodySink(writer)
                // So that the reader knows at once that it is heard.
                try await sink.write(ServerSentEvent.heartbeat)
                do { try await write(sink) } catch is CancellationError {}
                try await sink.finish()
                withExtendedLifetime(ticket) {}
            })
    }
}

/// Tells many readers that there is something new; who is slow is told once of all of it.
final class Signal: Sendable {
    private struct State {
        var next = 0
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var hasEnded = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.waiting.count } }

    /// Comes at once, whenever there is something new, and every `heartbeatMilliseconds`; ends with the source.
    func readings() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id: Int? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.next += 1
            state.waiting[state.next] = continuation
            return state.next
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        let heart = Task {
            while true {
                try await Task.sleep(for: .milliseconds(HTTPLimits.heartbeatMilliseconds))
                continuation.yield()
            }
        }
        continuation.onTermination = { [weak self] _ in
            heart.cancel()
            self?.state.withLock { $0.waiting[id] = nil }
        }
        continuation.yield()
        return stream
    }

    func raise() {
        let all = state.withLock { Array($0.waiting.values) }
        for one in all { one.yield() }
    }

    func end() {
        let all = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in all { one.finish() }
    }
}
