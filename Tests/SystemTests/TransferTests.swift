import Foundation
import LocalHTTPServer
import Testing

extension SystemTests {
    /// The built-in operations that move files and read JSON, on workers.
    @Suite struct Transfers {
        @Test func fileIsLoaded_lookedInto_andSent() async throws {
            let server = try LocalHTTPServer { request in
                if request.hasPrefix("GET /user ") { return LocalHTTPServer.answer(200, #"{"names": ["Ada", "Grace"], "n": 1.50}"#) }
                if request.hasPrefix("PUT /in ") {
                    return LocalHTTPServer.answer(201, "got " + request.components(separatedBy: "\r\n\r\n").dropFirst().joined())
                }
                return LocalHTTPServer.answer(404, "gone")
            }
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker("--slots", "2")
                _ = try await harness.waitForExecutors(1)
                let file = "\(harness.directory)/user.json"
                let graph = try harness.write(
                    "transfer.yaml",
                    """
                    group:
                      - {id: load, op: download, with: {url: "\(server.address)/user", to: "\(file)"}}
                      - {id: read, op: readFile, with: {path: "\(file)"}, after: load}
                      - {id: decode, op: jsonDecode, receives: read}
                      - {id: names, op: jsonPath, with: {path: "$.names[*]"}, receives: decode}
                      - {id: n, op: jsonPath, with: {path: $.n}, receives: read}
                      - {id: each, forEach: names, as: name, run: 'echo "hello $name"'}
                      - {id: send, op: upload, with: {url: "\(server.address)/in", from: "\(file)", method: PUT}, after: load}
                    """)
                let finished = try await harness.aop("submit", graph, "--wait", "-o", "json")
                #expect(finished.status == 0, "\(finished)")
                let value = try JSON(parsing: finished.text)["value"]
                #expect(value[0].string == file)
                #expect(value[3] == ["Ada", "Grace"] && value[4] == .number(1.5), "\(value)")
                #expect(value[5] == ["hello Ada", "hello Grace"], "\(value)")
                #expect(value[6].string == #"got {"names": ["Ada", "Grace"], "n": 1.50}"#, "\(value)")
            }
        }

        @Test func failures_nameWhatIsWrong() async throws {
            let server = try LocalHTTPServer { _ in LocalHTTPServer.answer(404, "gone") }
            try await ProcessHarness.with { harness in
                let file = "\(harness.directory)/none"
                let graph = try harness.write(
                    "wrong.yaml",
                    """
                    group:
                      - {id: load, op: download, with: {url: "\(server.address)/user", to: "\(file)"}}
                      - {id: text, run: 'echo "[1, x]"'}
                      - {id: decode, op: jsonDecode, receives: text}
                      - {id: list, run: 'echo "[1]"', output: json}
                      - {id: twice, op: jsonDecode, receives: list}
                      - {id: pick, op: jsonPath, with: {path: "$[3]"}, receives: list}
                    """)
                let finished = try await harness.aop("run", graph, "-o", "json")
                #expect(finished.status == 2, "\(finished)")
                let errors = try harness.errors(of: finished)
                for text in [
                    "load: GET \(server.address)/user was answered with status 404 (Not Found)",
                    "decode: what was received is not JSON: a value was expected (at byte 4)",
                    "pick: `$[3]` selects nothing of the received value; correct `path`",
                    "twice: `jsonDecode`: what is received is JSON already; receive it without `jsonDecode`",
                ] {
                    #expect(errors.contains(text), "\(text): \(errors)")
                }
                #expect(!FileManager.default.fileExists(atPath: file))
            }
        }

        /// Before anything runs.
        @Test func whatDoesNotFit_isRefused() async throws {
            try await ProcessHarness.with { harness in
                _ = try await harness.startCoordinator()
                _ = harness.startWorker()
                _ = try await harness.waitForExecutors(1)
                let graph = try harness.write(
                    "misfits.yaml",
                    """
                    group:
                      - {id: a, run: 'true'}
                      - {id: b, run: 'true', output: none}
                      - {id: load, op: download, with: {url: "http://localhost/", to: x}, receives: a}
                      - {id: none, op: jsonDecode, receives: b}
                      - {id: two, op: jsonDecode, receives: [a, b]}
                      - {id: path, op: jsonPath, with: {path: $..a}, receives: a}
                      - {id: lines, run: 'true', output: lines}
                      - {id: ofLines, op: jsonDecode, receives: lines}
                      - {id: each, forEach: a, run: 'true'}
                    """)
                for command in ["submit", "check"] {
                    let refused = try await harness.aop(command, graph)
                    #expect(refused.status == 6, "\(refused)")
                    for text in [
                        "load: receives from `a`, but `download` takes no value",
                        "none: receives Swift.String from `b`, which delivers nothing",
                        "two: receives 2 values, but `jsonDecode` takes one",
                        "path: `path` of `jsonPath`: `$..a` is no path: `..` is not supported",
                        "ofLines: receives Swift.String from `lines`, which delivers a list of Swift.String",
                        "each: receives a list from `a`, which delivers Swift.String; give that `output: lines` or `output: json`",
                    ] {
                        #expect(refused.stderr.contains(text), "\(text): \(refused)")
                    }
                }
            }
        }
    }
}
