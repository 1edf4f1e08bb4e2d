import Cluster
import Hummingbird
import Shapes

/// Workers and locks.
struct ClusterRoutes: Sendable {
    let clients: LocalClients

    func add(to routes: inout RouteTable) {
        routes.get("/api/v1/workers") { request, context in
            _ = try Query(request)
            return Reply.json(.shape([("workers", .array(try await clients.client(of: context).workers().map(\.json)))]))
        }
        routes.get("/api/v1/locks") { request, context in
            let key = try Query(request, "key").text("key") ?? ""
            return Reply.json(.shape([("locks", .array(try await clients.client(of: context).locks(key: key).map(\.json)))]))
        }
    }
}
