import Cluster
import Foundation
import GraphFile
import Hummingbird
import Shapes
import Wire

/// Submissions: hand in, list, show, result.
struct SubmissionRoutes: Sendable {
    let clients: LocalClients

    func add(to routes: inout RouteTable) {
        routes.post("/api/v1/submissions") { try await submit($0, $1) }
        routes.get("/api/v1/submissions") { try await list($0, $1) }
        routes.get("/api/v1/submissions/:id") { try await show($0, $1) }
        routes.get("/api/v1/submissions/:id/result") { try await result($0, $1) }
    }

    private func submit(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = try Query(request, "name", "key", "set", "waitForWorkers", "priority")
        let waitsForWorkers = try query.flag("waitForWorkers")
        let options = GraphFileOptions(
            set: try Self.variables(query.texts("set")), name: query.text("name"), priority: try query.number("priority", in: -100...100))
        if query.text("key")?.isEmpty == true { throw APIFailure.malformed("`key` is empty") }
        let body = try await request.body.collect(upTo: HTTPLimits.graphFileBytes)
        let bytes = Array(body.readableBytesView)
        let loaded: LoadedGraph
        do throws(GraphFileErrors) {
            // Large files take a while; other requests are answered by other threads.
            loaded = try GraphFileLoader.load(bytes: bytes, file: Self.fileName, options: options)
        } catch {
            throw Self.refused(error.errors)
        }
        let trace = RequestTrace(request.headers)
        do {
            let submitted = try await clients.client(of: context).submit(
                loaded.graph, key: query.text("key"), name: query.text("name"), waitForWorkers: waitsForWorkers, trace: trace.fields)
            return Reply.json(
                .shape([
                    ("id", .string(submitted.id)), ("existing", .bool(submitted.isExisting)),
                    ("warnings", .array((submitted.warnings + trace.warnings).map(JSONValue.string))),
                ]), status: submitted.isExisting ? .ok : .created,
                headers: [.location: "/api/v1/submissions/\(submitted.id)"])
        } catch let error as ClusterError where error.code == .refused && !error.errors.isEmpty {
            throw Self.refused(error.errors.map { loaded.error(atNode: $0.node, path: $0.path, message: $0.message) })
        }
    }

    /// What errors call the body.
    private static let fileName = "graph"

    private static func variables(_ assignments: [String]) throws -> [String: String] {
        var variables: [String: String] = [:]
        for assignment in assignments {
            let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw APIFailure.malformed("`set` is `\(assignment.prefix(100))`: write name=value")
            }
            variables[String(parts[0])] = String(parts[1])
        }
        return variables
    }

    private static func refused(_ errors: [GraphFileError]) -> APIFailure {
        let count = errors.count == 1 ? "1 error" : "\(errors.count) errors"
        return APIFailure(
            .unprocessableContent, "refused", "the graph has \(count); nothing was submitted",
            faults: errors.map { error in
                .object([
                    ("file", .string(error.file)), ("line", .integer(Int64(error.line))), ("column", .integer(Int64(error.column))),
                    ("path", .string(error.path)), ("message", .string(error.message)),
                ])
            })
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = try Query(request, "limit")
        let limit = try query.number("limit", in: 1...HTTPLimits.submissionsPerPage) ?? HTTPLimits.submissionsPerPage
        let all = try await clients.client(of: context).list(limit: limit)
        return Reply.json(.shape([("submissions", .array(all.map(\.listJSON)))]))
    }

    private func show(_ request: Request, _ context: APIContext) async throws -> Response {
        let shown = try Query(request, "operations").choice("operations", ShownOperations.self) ?? .none
        let connection = clients.client(of: context)
        let id = try context.submission
        guard shown != .none else { return Reply.json(.shape(try await connection.show(id).shownMembers)) }
        let view = try await connection.show(id)
        var views: [WireOperationView] = []
        for try await page in connection.operations(of: view.id, failedOnly: shown == .failed) { views += page }
        let result = SubmissionResult(submission: view, operations: OperationTree(views, isPartial: shown == .failed))
        return Reply.json(
            .shape(
                view.commonMembers + [
                    ("duration", .seconds(milliseconds: view.durationMilliseconds)), ("errors", .array(result.failures.map(\.json))),
                ] + result.showMembers(shown)))
    }

    private func result(_ request: Request, _ context: APIContext) async throws -> Response {
        let path = try Query(request, "path").text("path") ?? ""
        let connection = clients.client(of: context)
        let result = try await connection.result(of: try context.submission, path: path)
        guard !path.isEmpty else { return Reply.json(.shape(result.members), over: connection) }
        guard let root = result.operations.root?.view else {
            throw APIFailure(.notFound, "notFound", "\(result.submission.id) has no operation `\(path.prefix(200))`")
        }
        return Reply.json(
            .shape([
                ("id", .string(result.submission.id)), ("path", .string(root.path)), ("state", .string(root.state.word)),
                ("value", result.operations.json(valueOf: 0)), ("errors", .array(result.failures.map(\.json))),
            ]), over: connection)
    }
}

extension WireSubmissionView {
    /// Of one submission, without its operations.
    var shownMembers: [(String, JSONValue)] {
        commonMembers + [
            ("duration", .seconds(milliseconds: durationMilliseconds)), ("submittedAt", .time(submittedAt)),
            ("finishedAt", .time(finishedAt)), ("principal", .optional(principal)), ("cancelReason", .optional(cancelReason)),
        ]
    }
}
