import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct RedirectTests {
    let queue = AOperationQueue()

    /// Sends on from `/from` to `/to`, which tells what has arrived.
    private func server(_ status: Int, to location: String = "/to") throws -> TestServer {
        try TestServer([
            "/from": { $0.respond(status, text: "elsewhere", headers: ["Location": location]) },
            "/to": { exchange in
                let secret = exchange.request.headers["authorization"] ?? "-"
                exchange.respond(
                    200, text: "\(exchange.request.method) \(String(decoding: exchange.request.body, as: UTF8.self)) \(secret)")
            },
        ])
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectOfGet_isFollowed(_ status: Int) async throws {
        let server = try server(status)
        defer { server.stop() }
        let (data, response) = try await URLSessionTaskOperation.data(for: server.url("/from")).value(on: queue)
        #expect(data == Data("GET  -".utf8))
        #expect(response.url == server.url("/to"))
    }

    @Test(arguments: [
        (302, "POST", "GET "), (303, "POST", "GET "), (307, "POST", "POST body"), (308, "PUT", "PUT body"), (302, "PUT", "PUT body"),
    ])
    func redirectOfABody_takesItAlong_whereHTTPAsksForIt(_ status: Int, _ method: String, _ arrived: String) async throws {
        let server = try server(status)
        defer { server.stop() }
        let sent = URLSessionTaskOperation.upload(for: request(server.url("/from"), method, "body"))
        #expect(try await sent.value(on: queue).data == Data("\(arrived) -".utf8))

        let scratch = try Scratch()
        let file = try scratch.file("body", Data("body".utf8))
        let ofFile = URLSessionTaskOperation.upload(for: request(server.url("/from"), method), fromFile: file)
        #expect(try await ofFile.value(on: queue).data == Data("\(arrived) -".utf8))
    }

    @Test func redirectOfAStream_takesItAlong() async throws {
        let server = try server(307)
        defer { server.stop() }
        var streamed = request(server.url("/from"), "POST")
        streamed.httpBodyStream = InputStream(data: Data("body".utf8))
        #expect(try await URLSessionTaskOperation.upload(for: streamed).value(on: queue).data == Data("POST body -".utf8))
    }

    @Test(arguments: ["GET", "POST"])
    func authorization_staysWithItsServer(_ method: String) async throws {
        let other = try server(200)
        defer { other.stop() }
        let server = try server(307, to: other.url("/to").absoluteString)
        let same = try self.server(307)
        defer {
            server.stop()
            same.stop()
        }
        for (start, secret) in [(server.url("/from"), "-"), (same.url("/from"), "secret")] {
            var sent = request(start, method, method == "POST" ? "body" : nil)
            sent.setValue("secret", forHTTPHeaderField: "Authorization")
            let data = try await URLSessionTaskOperation.data(for: sent).value(on: queue).data
            #expect(data == Data("\(method) \(method == "POST" ? "body" : "") \(secret)".utf8))
        }
    }

    @Test(arguments: ["GET", "POST"])
    func endlessRedirects_fail(_ method: String) async throws {
        let server = try TestServer("/") { $0.respond(307, headers: ["Location": "/"]) }
        defer { server.stop() }
        let operation = URLSessionTaskOperation.data(for: request(server.url("/"), method, method == "POST" ? "body" : nil))
        #expect(try await operation.urlError(on: queue).code == .httpTooManyRedirects)
    }

    @Test func redirectToAFile_isNotFollowed() async throws {
        let server = try server(302, to: "file:///etc/passwd")
        defer { server.stop() }
        let result = await URLSessionTaskOperation.data(for: server.url("/from")).result(on: queue)
        let response = try? result.get().response
        #expect(response?.url?.scheme != "file")
        #expect((try? result.get().data) != (try? Data(contentsOf: URL(fileURLWithPath: "/etc/passwd"))))
    }

    @Test func cancellation_duringRedirects_isHarmless() async throws {
        let server = try TestServer("/") { $0.respond(307, headers: ["Location": "/"]) }
        defer { server.stop() }
        for number in 0..<60 {
            let asked = Signal()
            let operation = URLSessionTaskOperation.data(
                for: request(server.url("/"), number % 2 == 0 ? "GET" : "POST", number % 2 == 0 ? nil : "b"))
            operation.didStart { asked.fire() }.add(to: queue)
            await asked.wait()
            for _ in 0..<number { await Task.yield() }
            operation.cancel()
            await operation.ended()
        }
    }
}
