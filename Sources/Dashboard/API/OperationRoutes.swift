import Cluster
import Coordinator
import Foundation
import Hummingbird
import Shapes
import Wire

/// Operations of a submission: pages of them, one with why it stands as it does, what they wrote, and what they wait for.
struct OperationRoutes: Sendable {
    let clients: LocalClients
    let access: CoordinatorAccess

    func add(to routes: inout RouteTable) {
        routes.get("/api/v1/submissions/:id/operations") { try await operations($0, $1) }
        routes.get("/api/v1/submissions/:id/operation") { try await operation($0, $1) }
        routes.get("/api/v1/submissions/:id/explain") { try await explain($0, $1) }
        routes.get("/api/v1/submissions/:id/edges") { try await edges($0, $1) }
        routes.get("/api/v1/submissions/:id/logs") { try await logs($0, $1) }
    }

    private func operations(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = try Query(request, "path", "from", "limit", "failedOnly", "brief")
        let isBrief = try query.flag("brief")
        let page = try await clients.client(of: context).page(
            of: try context.submission, path: query.text("path") ?? "", from: try query.number("from", in: 0...Int(UInt32.max)) ?? 0,
            limit: try query.number("limit", in: 1...HTTPLimits.operationsPerPage) ?? HTTPLimits.operationsPerPage,
            failedOnly: try query.flag("failedOnly"))
        return Reply.json(
            .shape([
                ("id", .string(page.id)),
                ("operations", .array(page.operations.map { $0.placedJSON(isBrief: isBrief) })),
                ("next", page.next == 0 ? .null : .integer(Int64(page.next))),
            ]))
    }

    private func operation(_ request: Request, _ context: APIContext) async throws -> Response {
        let path = try Self.path(Query(request, "path"))
        let connection = clients.client(of: context)
        let id = try context.submission
        let page = try await connection.page(of: id, path: path, from: 0, limit: 1, failedOnly: false)
        guard let view = page.operations.first, view.path == path else {
            throw APIFailure(.notFound, "notFound", "\(page.id.isEmpty ? id : page.id) has no operation `\(path.prefix(200))`")
        }
        let explanation = try await connection.explain(page.id, path: path)
        return Reply.json(
            .shape([
                ("id", .string(page.id)), ("operation", view.placedJSON(isBrief: false)), ("explain", .object(explanation.members)),
            ]))
    }

    private func explain(_ request: Request, _ context: APIContext) async throws -> Response {
        let path = try Query(request, "path").text("path") ?? ""
        let explanation = try await clients.client(of: context).explain(try context.submission, path: path)
        return Reply.json(.shape(explanation.members))
    }

    private func edges(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = try Query(request, "from")
        let from = try query.number("from", in: 0...Int(UInt32.max)) ?? 0
        // Who may not look at the submission is told so here.
        let id = try await clients.client(of: context).show(try context.submission).id
        guard let page = await access.edges(of: id, from: from, limit: Self.edgesPerPage) else {
            throw APIFailure(.notFound, "notFound", "submission \(id) is known no more")
        }
        return Reply.json(
            .shape([
                ("id", .string(id)),
                (
                    "edges",
                    .array(
                        page.edges.map { edges in
                            .object([
                                ("unit", .integer(Int64(edges.unit))),
                                ("dependencies", .array(edges.dependencies.map { .integer(Int64($0)) })),
                            ])
                        })
                ),
                ("next", page.next == 0 ? .null : .integer(Int64(page.next))),
            ]))
    }

    /// Units that are looked at for one answer.
    private static let edgesPerPage = 20_000

    private func logs(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = try Query(request, "path", "after")
        let page = try await clients.client(of: context).readOutput(
            try context.submission, path: query.text("path") ?? "", after: UInt64(try query.number("after", in: 0...Int(Int64.max)) ?? 0))
        return Reply.json(page.json)
    }

    private static func path(_ query: Query) throws -> String {
        guard let path = query.text("path"), !path.isEmpty else {
            throw APIFailure.malformed("`path` is missing: which operation of the submission?")
        }
        return path
    }
}

extension WireOutputPage {
    /// What operations wrote, and where it goes on.
    var json: JSONValue {
        .shape([
            ("id", .string(id)), ("records", .array(records.map(\.json))), ("position", .string("\(position)")), ("ended", .bool(ended)),
        ])
    }
}

extension WireOperationView {
    /// An operation or group with its place in the tree.
    func placedJSON(isBrief: Bool) -> JSONValue {
        let place: [(String, JSONValue)] = [
            ("unit", .integer(Int64(unit))), ("parent", unit == 0 ? .null : .integer(Int64(parent))),
            ("position", .integer(Int64(position))), ("kind", .string(kind.word)),
        ]
        guard isBrief else {
            guard case .object(let members) = json(producedBy: nil) else { return .object(place) }
            return .object(place + members.filter { $0.0 != "producedBy" })
        }
        return .object(
            place + [
                ("path", .string(path)), ("type", .string(kind == .operation ? type : kind.word)), ("state", .string(state.word)),
                ("attempts", .integer(Int64(attempts))), ("worker", .optional(worker)), ("queuedAt", .time(queuedAt)),
                ("startedAt", .time(startedAt)), ("finishedAt", .time(finishedAt)),
                ("earlierAttempts", .array(earlierAttempts.map(\.json))),
            ])
    }
}
