import Cluster
import Foundation
import Shapes
import Synchronization
import Wire

/// What happens to one submission, for all who look at it: its last events are remembered, so that who was gone for a moment misses
/// nothing, and who reads slowly holds nobody up.
final class SubmissionFeed: Sendable {
    fileprivate struct Entry {
        let number: UInt64
        let name: String
        let data: Data
    }

    fileprivate struct State {
        /// As it stands now; nil: that is not known yet.
        var view: WireSubmissionView?
        var entries: [Entry] = []
        /// Where in `entries` those that are remembered begin.
        var head = 0
        var bytes = 0
        /// Of the last event.
        var number: UInt64 = 0
        /// Readers that have none after this one have missed something.
        var forgottenUpTo: UInt64 = 0
        var failure: ClusterError?
        var hasEnded = false
    }

    let id: String
    private let nonce = String(UInt32.random(in: .min ... .max), radix: 16)
    private let state = Mutex(State())
    private let signal = Signal()

    /// - Parameter id: the whole id.
    init(_ id: String) { self.id = id }

    var readerCount: Int { signal.count }
    var hasFailed: Bool { state.withLock { $0.failure != nil } }

    /// Of the last event of a submission: also when the coordinator has been started anew, or this has been forgotten, its reader needs no more.
    static func endID(of submission: String) -> String { "\(submission)-end" }

    /// Follows it until it has ended.
    func run(_ connection: ClusterConnection) async {
        do {
            for try await event in connection.followDetails(of: id) {
                state.withLock { $0.take(event) }
                signal.raise()
            }
            state.withLock { $0.hasEnded = true }
        } catch let error as ClusterError {
            state.withLock { $0.failure = error }
        } catch {
            // The server is being stopped.
        }
        signal.end()
    }

    /// Writes how it stands and then what happens, until it has ended or the reader goes.
    ///
    /// - Parameter lastID: of the last event that the reader has; nil: none.
    func write(to sink: BodySink, after lastID: String?) async throws {
        var position = position(of: lastID)
        var isFirst = true
        for await _ in signal.readings() {
            try await writeNews(to: sink, &position, &isFirst)
        }
        try await writeNews(to: sink, &position, &isFirst)
        let (failure, view) = state.withLock { ($0.failure, $0.view) }
        if let failure {
            try await sink.write(ServerSentEvent("failure", id: nil, APIFailure(failure).json).bytes)
        } else if let view, view.state.isFinal {
            try await sink.write(ServerSentEvent("end", id: Self.endID(of: id), .shape(view.shownMembers)).bytes)
        }
    }

    private func writeNews(to sink: BodySink, _ position: inout UInt64?, _ isFirst: inout Bool) async throws {
        let bytes = state.withLock { $0.news(nonce, &position) }
        if !bytes.isEmpty {
            try await sink.write(bytes)
            isFirst = false
        } else if !isFirst {
            try await sink.write(ServerSentEvent.heartbeat)
        }
    }

    private func position(of id: String?) -> UInt64? {
        guard let parts = id?.split(separator: "-"), parts.count == 2, parts[0] == nonce else { return nil }
        return UInt64(parts[1])
    }
}

extension SubmissionFeed.State {
    fileprivate mutating func take(_ event: FollowEvent) {
        switch event {
        case .view(let view):
            // Also after what was missed: whoever looks begins anew from it.
            self.view = view
            number += 1
            forget(upTo: number)
        case .events(let events, let view):
            self.view = view
            number += 1
            let value = JSONValue.object([("operations", .array(events.map(\.json))), ("submission", .object(view.shownMembers))])
            let data = value.data
            entries.append(SubmissionFeed.Entry(number: number, name: "operations", data: data))
            bytes += data.count
            while bytes > HTTPLimits.rememberedBytes, head < entries.count - 1 { forget(upTo: entries[head].number) }
        case .interrupted: break
        }
    }

    private mutating func forget(upTo number: UInt64) {
        forgottenUpTo = number
        while head < entries.count, entries[head].number <= number {
            bytes -= entries[head].data.count
            head += 1
        }
        guard head * 2 >= entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }

    /// - Parameter position: of the last event that the reader has; nil: it has none that is known.
    fileprivate func news(_ nonce: String, _ position: inout UInt64?) -> Data {
        guard let view else { return Data() }
        var bytes = Data()
        if let known = position, known >= forgottenUpTo {
            for entry in entries[head...] where entry.number > known {
                bytes.append(ServerSentEvent(entry.name, id: "\(nonce)-\(entry.number)", data: entry.data).bytes)
            }
        } else {
            bytes = ServerSentEvent("submission", id: "\(nonce)-\(number)", .object(view.shownMembers)).bytes
        }
        position = number
        return bytes
    }
}

extension WireEvent {
    /// What happened to an operation or group.
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("unit", .integer(Int64(unit))), ("path", .string(path)), ("state", .string(state.word)), ("at", .time(at)),
            ("group", .bool(group)), ("worker", .optional(worker)), ("attempts", .integer(Int64(attempt))),
            ("startedAt", .time(startedAt)),
            ("errors", .array(errors.map { .object(JSONValue.members(of: $0, path: path)) })),
        ]
        if hasProgress { members.append(("progress", progress.json)) }
        if hasAdded {
            members.append(
                (
                    "added",
                    .object([
                        ("parent", .integer(Int64(added.parent))), ("kind", .string(added.kind.word)), ("type", .optional(added.type)),
                    ])
                ))
        }
        return .object(members)
    }
}
