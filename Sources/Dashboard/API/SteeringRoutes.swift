import Cluster
import Hummingbird
import Shapes

/// Cancel, pause, resume, retry.
struct SteeringRoutes: Sendable {
    let clients: LocalClients

    func add(to routes: inout RouteTable) {
        routes.post("/api/v1/submissions/:id/cancel") { request, context in
            _ = try Query(request)
            let body = try await CancelBody(of: request)
            let cancelled = try await clients.client(of: context).cancel(
                try context.submission, path: body.path ?? "", reason: body.reason ?? "", now: body.now ?? false)
            return Reply.json(
                .shape([
                    ("id", .string(cancelled.id)), ("path", .optional(body.path ?? "")), ("alreadyEnded", .bool(cancelled.alreadyEnded)),
                ]))
        }
        routes.post("/api/v1/submissions/:id/pause") { request, context in
            _ = try Query(request)
            let body = try await PathBody(of: request)
            return Self.reply(try await clients.client(of: context).pause(try context.submission, path: body.path ?? ""), body)
        }
        routes.post("/api/v1/submissions/:id/resume") { request, context in
            _ = try Query(request)
            let body = try await PathBody(of: request)
            return Self.reply(try await clients.client(of: context).resume(try context.submission, path: body.path ?? ""), body)
        }
        routes.post("/api/v1/submissions/:id/retry") { request, context in
            _ = try Query(request)
            let body = try await RetryBody(of: request)
            if body.key?.isEmpty == true { throw APIFailure.malformed("`key` is empty") }
            let retried = try await clients.client(of: context).retry(
                try context.submission, force: body.force ?? false, failedOnly: body.failed ?? false, key: body.key)
            return Reply.json(
                .shape([("id", .string(retried.id)), ("lifted", .integer(Int64(retried.lifted)))]), status: .created,
                headers: [.location: "/api/v1/submissions/\(retried.id)"])
        }
    }

    private static func reply(_ steering: Steering, _ body: PathBody) -> Response {
        Reply.json(
            .shape([
                ("id", .string(steering.id)), ("path", .optional(body.path ?? "")), ("changed", .bool(steering.isChange)),
                ("alreadyEnded", .bool(steering.alreadyEnded)), ("pausedBy", steering.pausedBy.map(JSONValue.string) ?? .null),
            ]))
    }
}

private struct CancelBody: StrictBody {
    static let keys: Set = ["path", "reason", "now"]
    var path: String?
    var reason: String?
    var now: Bool?
}

private struct PathBody: StrictBody {
    static let keys: Set = ["path"]
    var path: String?
}

private struct RetryBody: StrictBody {
    static let keys: Set = ["failed", "force", "key"]
    var failed: Bool?
    var force: Bool?
    var key: String?
}
