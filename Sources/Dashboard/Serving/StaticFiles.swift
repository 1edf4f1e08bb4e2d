import Crypto
import Foundation
import Hummingbird

/// The dashboard's files, which are part of the program.
enum StaticFiles {
    private struct File {
        let type: String
        let bytes: [UInt8]
    }

    private static let html = "text/html; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"

    private static let files: [String: File] = [
        "/": File(type: html, bytes: PackageResources.index_html),
        "/dashboard.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.dashboard_css),
        "/main.js": File(type: script, bytes: PackageResources.main_js),
        "/api.js": File(type: script, bytes: PackageResources.api_js),
        "/dom.js": File(type: script, bytes: PackageResources.dom_js),
        "/format.js": File(type: script, bytes: PackageResources.format_js),
        "/overview.js": File(type: script, bytes: PackageResources.overview_js),
        "/submission.js": File(type: script, bytes: PackageResources.submission_js),
        "/graph.js": File(type: script, bytes: PackageResources.graph_js),
        "/timeline.js": File(type: script, bytes: PackageResources.timeline_js),
        "/operation.js": File(type: script, bytes: PackageResources.operation_js),
        "/cluster.js": File(type: script, bytes: PackageResources.cluster_js),
        "/operations.js": File(type: script, bytes: PackageResources.operations_js),
        "/failures.js": File(type: script, bytes: PackageResources.failures_js),
        "/work.js": File(type: script, bytes: PackageResources.work_js),
        "/log.js": File(type: script, bytes: PackageResources.log_js),
        "/actions.js": File(type: script, bytes: PackageResources.actions_js),
        "/icon.svg": File(type: "image/svg+xml", bytes: PackageResources.icon_svg),
        "/api/v1/openapi.json": File(type: "application/json", bytes: PackageResources.openapi_json),
    ]

    /// Paths that are the same for everybody.
    static let names: Set<String> = Set(files.map(\.key))

    /// Nothing from elsewhere, nothing that is written in the page itself, and in no frame.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static func add(to routes: inout RouteTable) {
        for (path, file) in files {
            let tag = "\"" + SHA256.hash(data: file.bytes).prefix(12).map { String($0, radix: 16) }.joined() + "\""
            let headers: HTTPFields = [
                .contentType: file.type, .contentSecurityPolicy: policy, .eTag: tag, .cacheControl: "no-cache",
            ]
            routes.get(path) { request, _ in
                if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
                return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
            }
        }
    }
}
