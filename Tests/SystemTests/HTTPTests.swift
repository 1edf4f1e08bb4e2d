import Foundation
import Testing

/// HTTP of a real coordinator: who may do what, the shapes of the command line, streams that go on where they were left.
@Suite struct HTTPTests {
    private struct Served {
        let http: RawHTTP
        let address: String
        let token: String
        var authorized: [String: String] { ["Authorization": "Bearer \(token)"] }
    }

    private func withServer(_ arguments: String..., body: (ProcessHarness, Served) async throws -> Void) async throws {
        try await ProcessHarness.with { harness in
            let coordinator = harness.start(
                BuiltProducts.aop,
                ["coordinator", "--listen", harness.endpoint, "--http", "127.0.0.1:0", "--data", "\(harness.directory)/data", "-o", "json"]
                    + arguments)
            let said = try await eventually("the coordinator says where it is") {
                coordinator.stdout.contains("\n") ? try JSON(parsing: coordinator.stdout) : nil
            }
            let address = try #require(said["http"].string)
            let path = try #require(said["httpToken"].string)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let token = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            try await body(harness, Served(http: try RawHTTP(address), address: address, token: token))
        }
    }

    @Test func reading_takesNoTokenOnLoopback_andChangingAlwaysDoes() async throws {
        try await withServer { _, served in
            let http = served.http
            #expect(try http.send("GET", "/api/v1/submissions").status == 200)
            let refused = try http.send("POST", "/api/v1/submissions", body: "group: [{id: a, run: echo hi}]\n")
            #expect(refused.status == 401 && refused.headers["www-authenticate"] == "Bearer")
            #expect(try JSON(parsing: refused.text)["code"].string == "token")
            let wrong = try http.send("POST", "/api/v1/submissions/last/cancel", ["Authorization": "Bearer 00"], body: "{}")
            #expect(wrong.status == 401)
            #expect(try http.send("GET", "/api/v1/submissions", ["Authorization": "Bearer 00"]).status == 401)
            let listed = try JSON(parsing: http.send("GET", "/api/v1/submissions").text)
            #expect(listed["submissions"].elements.isEmpty)
        }
    }

    @Test func withHTTPPrivate_alsoReadingTakesTheToken() async throws {
        try await withServer("--http-private") { _, served in
            let listed = try served.http.send("GET", "/api/v1/submissions")
            #expect(listed.status == 401)
            #expect(try served.http.send("GET", "/metrics").status == 401)
            #expect(try served.http.send("GET", "/api/v1/submissions", served.authorized).status == 200)
            // What says nothing of any work.
            #expect(try served.http.send("GET", "/healthz").status == 200)
            #expect(try served.http.send("GET", "/").status == 200)
        }
    }

    @Test func takenAddress_isSaid_withTheRemedy() async throws {
        try await withServer { harness, served in
            let other = harness.start(
                BuiltProducts.aop,
                [
                    "coordinator", "--listen", "ipc://\(harness.directory)/other", "--http", served.address, "--data",
                    "\(harness.directory)/other-data",
                ])
            let ended = try await other.finish()
            #expect(ended.status == 1, "\(ended)")
            #expect(
                ended.stderr.contains(
                    "another process listens on \(served.address), where HTTP is to be served; stop it, choose another address with --http, or serve "
                        + "none with --http off"), "\(ended)")
            #expect(!ended.stderr.contains("bind("), "\(ended)")
        }
    }

    @Test func offLoopback_everythingTakesTheToken() async throws {
        try await ProcessHarness.with { harness in
            let coordinator = harness.start(
                BuiltProducts.aop,
                ["coordinator", "--listen", harness.endpoint, "--http", "0.0.0.0:0", "--data", "\(harness.directory)/data", "-o", "json"])
            let said = try await eventually("the coordinator says where it is") {
                coordinator.stdout.contains("\n") ? try JSON(parsing: coordinator.stdout) : nil
            }
            let port = try #require(said["http"].string?.split(separator: ":").last)
            let http = try RawHTTP("127.0.0.1:\(port)")
            #expect(try http.send("GET", "/api/v1/submissions").status == 401)
            #expect(try http.send("GET", "/api/v1/events").status == 401)
            #expect(try http.send("GET", "/metrics").status == 401)
            let token = try String(contentsOfFile: try #require(said["httpToken"].string), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(try http.send("GET", "/metrics", ["Authorization": "bearer \(token)"]).status == 200)
        }
    }

    @Test func otherHostsAndOrigins_areRefused() async throws {
        try await withServer("--http-name", "aop.example") { _, served in
            let http = served.http
            for host in ["evil.example", "evil.example:7601", "", "127.0.0.1.evil.example"] {
                #expect(try http.send("GET", "/api/v1/workers", ["Host": host]).status == 403 || host.isEmpty, "\(host)")
            }
            for host in ["localhost:1", "aop.example", "[::1]:80", served.address] {
                #expect(try http.send("GET", "/api/v1/workers", ["Host": host]).status == 200, "\(host)")
            }
            for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
                let answer = try http.send("GET", "/api/v1/workers", ["Origin": origin])
                #expect(answer.status == 403 && answer.headers["access-control-allow-origin"] == nil, "\(origin)")
            }
            #expect(try http.send("GET", "/api/v1/workers", ["Origin": "http://\(served.address)"]).status == 200)
        }
    }

    @Test func pages_haveAStrictPolicy_andAskForNothingElsewhere() async throws {
        try await withServer { _, served in
            let page = try served.http.send("GET", "/")
            #expect(page.status == 200 && page.headers["content-type"]?.hasPrefix("text/html") == true)
            let policy = try #require(page.headers["content-security-policy"])
            #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'") && !policy.contains("unsafe"))
            #expect(!page.text.contains("https://") && !page.text.contains("<script>") && !page.text.contains("style="))
            let tag = try #require(page.headers["etag"])
            #expect(try served.http.send("GET", "/", ["If-None-Match": tag]).status == 304)
            let other = try served.http.send("DELETE", "/api/v1/workers", served.authorized)
            #expect(other.status == 405 && other.headers["allow"] == "GET, HEAD")
            #expect(try served.http.send("GET", "/nothing").status == 404)
        }
    }

    @Test func graph_isHandedIn_shownAndRead() async throws {
        try await withServer { harness, served in
            let http = served.http
            _ = harness.startWorker("--slots", "2")
            _ = try await harness.waitForExecutors(1)
            let text = """
                name: greetings
                vars: {who: nobody}
                group:
                  - {id: hello, run: 'echo hello $who'}
                  - {id: bad, run: 'echo no >&2; exit 3'}
                """
            let submitted = try http.send(
                "POST", "/api/v1/submissions?set=who%3Dworld&key=k1", served.authorized, body: text)
            #expect(submitted.status == 201)
            let id = try #require(try JSON(parsing: submitted.text)["id"].string)
            #expect(submitted.headers["location"] == "/api/v1/submissions/\(id)")
            let again = try http.send(
                "POST", "/api/v1/submissions?set=who%3Dworld&key=k1", served.authorized, body: text)
            #expect(again.status == 200)
            #expect(try JSON(parsing: again.text)["id"].string == id)
            let events = try http.stream("/api/v1/submissions/\(id)/events") { $0.contains("event: end") }
            #expect(events.contains("event: submission") && events.contains("event: end"))

            // The same as the command line has.
            let shown = try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)?operations=all").text)
            let printed = try JSON(parsing: await harness.aop("show", id, "-o", "json").text)
            for key in ["id", "name", "state", "counts", "errors", "operations", "submittedAt", "finishedAt"] {
                #expect(shown[key] == printed[key], "\(key)")
            }
            let logs = try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)/logs?path=hello").text)
            #expect(logs["records"].elements.map { $0["text"].string } == ["hello world\n"])
            let result = try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)/result?path=hello").text)
            #expect(result["value"].string == "hello world" && result["state"].string == "succeeded")
            let operation = try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)/operation?path=bad").text)
            #expect(operation["operation"]["state"].string == "failed")
            #expect(operation["explain"]["causes"].elements.first?["link"].string == "itself")
            #expect(try http.send("GET", "/api/v1/submissions/\(id)/operation?path=none").status == 404)
            #expect(try http.send("GET", "/api/v1/submissions/zzzzzz").status == 404)

            let metrics = try http.send("GET", "/metrics").text
            #expect(metrics.contains(#"aop_operations_total{state="succeeded",type="shell"} 1"#))
            #expect(metrics.contains(#"aop_operations_total{state="failed",type="shell"} 1"#))
            #expect(metrics.contains(#"aop_submissions_total{state="failed"} 1"#))
            #expect(metrics.contains(#"aop_workers{state="attached"} 1"#) && metrics.contains("aop_slots 2"))
            #expect(metrics.contains(#"aop_operation_running_seconds_count 2"#))

            let retried = try http.send(
                "POST", "/api/v1/submissions/\(id)/retry", served.authorized.merging(["Content-Type": "application/json"]) { $1 },
                body: #"{"failed":true}"#)
            #expect(retried.status == 201)
        }
    }

    @Test func traceOfTheCaller_reachesCommands_andWhatIsNoneIsLeftOutWithAWarning() async throws {
        try await withServer { harness, served in
            let http = served.http
            _ = harness.startWorker()
            _ = try await harness.waitForExecutors(1)
            let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            func traced(_ headers: [String: String]) async throws -> (printed: String?, warnings: JSON) {
                let submitted = try http.send(
                    "POST", "/api/v1/submissions", served.authorized.merging(headers) { $1 },
                    body: "group: [{id: a, run: 'echo \"$TRACEPARENT $TRACESTATE\"'}]\n")
                #expect(submitted.status == 201, "\(submitted.text)")
                let answer = try JSON(parsing: submitted.text)
                let id = try #require(answer["id"].string)
                let waited = try await harness.aop("wait", id)
                #expect(waited.status == 0, "\(waited)")
                let result = try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)/result?path=a").text)
                return (result["value"].string, answer["warnings"])
            }
            let given = try await traced(["Traceparent": parent, "tracestate": "vendor=1"])
            #expect(given.printed == "\(parent) vendor=1" && given.warnings.elements.isEmpty, "\(given)")
            let nonsense = try await traced(["traceparent": "nonsense", "tracestate": "vendor=1"])
            #expect(nonsense.printed?.trimmingCharacters(in: .whitespaces) == "", "\(nonsense)")
            let warning = nonsense.warnings.elements.first?.string
            #expect(
                warning?.contains("the trace in the headers is not passed on: `traceparent` is `nonsense`") == true, "\(nonsense.warnings)")
            // Two of them are none.
            let twice = try await traced(["traceparent": parent, "Traceparent": parent])
            #expect(twice.printed?.trimmingCharacters(in: .whitespaces) == "" && twice.warnings.elements.count == 1, "\(twice)")
            let none = try await traced([:])
            #expect(none.printed?.trimmingCharacters(in: .whitespaces) == "" && none.warnings.elements.isEmpty, "\(none)")
        }
    }

    @Test func faultyGraphsAndRequests_areRefusedWithWhatIsWrong() async throws {
        try await withServer { _, served in
            let http = served.http
            func post(_ path: String, _ body: String, _ type: String = "application/json") throws -> (Int, JSON) {
                let answer = try http.send("POST", path, served.authorized.merging(["Content-Type": type]) { $1 }, body: body)
                return (answer.status, try JSON(parsing: answer.text))
            }
            let (status, refused) = try post("/api/v1/submissions", "group:\n  - {id: a, run: ls, retires: 3}\n", "application/yaml")
            #expect(status == 422 && refused["code"].string == "refused")
            let first = try #require(refused["errors"].elements.first)
            #expect(first["line"].number == 2 && first["message"].string?.contains("retires") == true)
            #expect(try post("/api/v1/submissions?priority=1000", "group: [{id: a, run: ls}]", "text/plain").0 == 400)
            #expect(try post("/api/v1/submissions?wrong=1", "group: [{id: a, run: ls}]", "text/plain").0 == 400)
            #expect(try post("/api/v1/submissions/last/cancel", #"{"pth":"a"}"#).1["message"].string?.contains("`pth` is no key") == true)
            #expect(try post("/api/v1/submissions/last/cancel", "[1]").0 == 400)
            #expect(try post("/api/v1/submissions/last/cancel", #"{"path":1}"#).0 == 400)
            #expect(try post("/api/v1/submissions/last/cancel", "x", "text/plain").0 == 415)
            #expect(try post("/api/v1/submissions/last/cancel", "{}").0 == 404)
            #expect(try post("/api/v1/submissions/last/cancel", #"{"reason":"\#(String(repeating: "x", count: 70_000))"}"#).0 == 413)
        }
    }

    @Test func stream_goesOnWhereItsReaderWas() async throws {
        try await withServer { harness, served in
            let http = served.http
            _ = harness.startWorker("--slots", "1")
            _ = try await harness.waitForExecutors(1)
            let gate = "\(harness.directory)/gate"
            let two = "until [ -e \(gate) ]; do sleep 0.05; done; echo 2"
            let text = "ordered:\n  - {id: one, run: 'echo 1'}\n  - {id: two, run: '\(two)'}\n"
            let submitted = try http.send("POST", "/api/v1/submissions", served.authorized, body: text)
            let id = try #require(try JSON(parsing: submitted.text)["id"].string)
            // Both know how it stands; the first one reads on until `two` runs.
            let before = try http.stream("/api/v1/submissions/\(id)/events") {
                $0.contains("event: submission") && ($0.contains(#""path":"two","state":"running""#) || $0.contains(#""running":1"#))
            }
            func lastID(_ events: String) throws -> String {
                String(try #require(events.split(separator: "\n").last { $0.hasPrefix("id: ") }?.dropFirst(4)))
            }
            let last = try lastID(before)
            try "".write(toFile: gate, atomically: true, encoding: .utf8)
            // It comes back when all has ended: the last events are still to be told.
            #expect(try await harness.aop("wait", id).status == 0)
            let after = try http.stream("/api/v1/submissions/\(id)/events", ["Last-Event-ID": last]) { _ in false }
            #expect(after.contains(#""path":"two","state":"succeeded""#) && after.contains("event: end"), "\(after)")
            #expect(!after.contains("event: submission"), "nothing was missed, and nothing begins anew")
            // Who has had the end is told that there is nothing more, and who has something else, all of it.
            #expect(try http.send("GET", "/api/v1/submissions/\(id)/events", ["Last-Event-ID": lastID(after)]).status == 204)
            let anew = try http.stream("/api/v1/submissions/\(id)/events", ["Last-Event-ID": "x"]) { _ in false }
            #expect(anew.contains("event: submission") && anew.contains("event: end"), "\(anew)")
            let log = try http.stream("/api/v1/submissions/\(id)/logs/events?path=two") { $0.contains("event: end") }
            #expect(log.contains(#""text":"2\n""#))
        }
    }

    @Test func cancel_isForWhoHasTheToken() async throws {
        try await withServer { harness, served in
            let http = served.http
            _ = harness.startWorker("--slots", "1")
            _ = try await harness.waitForExecutors(1)
            let submitted = try http.send("POST", "/api/v1/submissions", served.authorized, body: "group: [{id: a, run: sleep 600}]\n")
            let id = try #require(try JSON(parsing: submitted.text)["id"].string)
            #expect(try http.send("POST", "/api/v1/submissions/\(id)/cancel").status == 401)
            #expect(try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)").text)["state"].string != "cancelled")
            #expect(try http.send("POST", "/api/v1/submissions/\(id)/pause", served.authorized).status == 200)
            #expect(try http.send("POST", "/api/v1/submissions/\(id)/resume", served.authorized).status == 200)
            let cancelled = try http.send("POST", "/api/v1/submissions/\(id)/cancel", served.authorized)
            #expect(cancelled.status == 200)
            _ = try http.stream("/api/v1/submissions/\(id)/events") { $0.contains("event: end") }
            #expect(try JSON(parsing: http.send("GET", "/api/v1/submissions/\(id)").text)["state"].string == "cancelled")
        }
    }

    @Test func openStreams_doNotHoldUpTheEnd() async throws {
        try await ProcessHarness.with { harness in
            let coordinator = try await harness.startCoordinator()
            let line = try await eventually("the dashboard's address") {
                coordinator.stderr.split(separator: " ").first { $0.hasPrefix("http://127") }
            }
            let address = line.dropFirst("http://".count).prefix { $0 != "/" }
            let http = try RawHTTP(String(address))
            let pid = try await coordinator.pid()
            var isAsked = false
            // It reads until the coordinator closes it.
            let text = try http.stream("/api/v1/events") { text in
                if !isAsked, text.contains("event: workers") {
                    isAsked = true
                    kill(pid, SIGTERM)
                }
                return false
            }
            #expect(text.contains("event: submissions") && isAsked)
            let finished = try await coordinator.finish()
            #expect(finished.status == 0)
            #expect(!coordinator.stderr.contains(" error "), "an end in order is nothing to be alarmed at: \(coordinator.stderr)")
        }
    }
}
