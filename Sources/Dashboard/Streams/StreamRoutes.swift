import Cluster
import Foundation
import Hummingbird
import Shapes

/// Streams of events.
struct StreamRoutes: Sendable {
    let clients: LocalClients
    let feed: ClusterFeed
    let streams: StreamCount

    func add(to routes: inout RouteTable) {
        let (feed, streams, clients) = (feed, streams, clients)
        let feeds = SubmissionFeeds(clients.observer)
        routes.stream("/api/v1/events") { request, _ in
            _ = try Query(request)
            let lastID = Self.lastID(of: request)
            return try streams.stream { try await feed.write(to: $0, after: lastID) }
        }
        routes.stream("/api/v1/submissions/:id/events") { request, context in
            _ = try Query(request)
            let lastID = Self.lastID(of: request)
            // That there is such a submission, and that it may be looked at, is said with a status.
            let view = try await clients.client(of: context).show(try context.submission)
            // A reader that has had the end and connects again is told that there is nothing more; others may have missed the last events.
            if view.state.isFinal, lastID == SubmissionFeed.endID(of: view.id) { return Response(status: .noContent) }
            let feed = try feeds.feed(of: view.id)
            return try streams.stream { try await feed.write(to: $0, after: lastID) }
        }
        routes.stream("/api/v1/submissions/:id/logs/events") { request, context in
            let path = try Query(request, "path").text("path") ?? ""
            let connection = clients.client(of: context)
            let id = try await connection.show(try context.submission).id
            // That there is such an operation is said with a status.
            _ = try await connection.readOutput(id, path: path, after: 0, limitBytes: 1)
            let position = Self.lastID(of: request).flatMap(UInt64.init) ?? 0
            return try streams.stream { sink in
                try await LogStream(connection: connection, id: id, path: path).write(to: sink, after: position)
            }
        }
    }

    private static func lastID(of request: Request) -> String? {
        request.headers.first { $0.name.canonicalName == "last-event-id" }?.value
    }
}

/// What operations write, as they write it.
private struct LogStream {
    let connection: ClusterConnection
    let id: String
    let path: String

    func write(to sink: BodySink, after start: UInt64) async throws {
        var position = start
        while true {
            let page = try await connection.readOutput(id, path: path, after: position, waits: true)
            if page.records.isEmpty {
                if page.ended { break }
                try await sink.write(ServerSentEvent.heartbeat)
                continue
            }
            position = page.position
            try await sink.write(ServerSentEvent("output", id: "\(position)", page.json).bytes)
        }
        try await sink.write(ServerSentEvent("end", id: nil, .shape([("id", .string(id))])).bytes)
    }
}
