import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct DataOperationTests {
    let queue = AOperationQueue()

    @Test func data_ofURLAndRequest_deliversBodyAndResponse() async throws {
        let server = try TestServer("/") { exchange in
            exchange.respond(200, text: exchange.request.headers["x-name"] ?? "none", headers: ["X-Kind": "test"])
        }
        defer { server.stop() }
        let (data, response) = try await URLSessionTaskOperation.data(for: server.url("/")).value(on: queue)
        #expect(data == Data("none".utf8))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Kind") == "test")

        var named = URLRequest(url: server.url("/"))
        named.setValue("Ada", forHTTPHeaderField: "X-Name")
        #expect(try await URLSessionTaskOperation.data(for: named).value(on: queue).data == Data("Ada".utf8))
    }

    @Test(arguments: [204, 301, 304, 401, 403, 404, 500, 503])
    func statusOfAnyKind_isSuccess(_ status: Int) async throws {
        let server = try TestServer("/") { $0.respond(status, text: status == 204 || status == 304 ? "" : "why") }
        defer { server.stop() }
        let (data, response) = try await URLSessionTaskOperation.data(for: server.url("/")).value(on: queue)
        #expect(response.status == status)
        // Foundation on Linux keeps no body of a redirect.
        #expect(data == Data((status > 400 ? "why" : "").utf8))
    }

    @Test(arguments: ["Basic realm=\"x\"", "Basic", "Bearer", "Digest realm=\"x\", nonce=\"y\"", "Negotiate", "Made up"])
    func demandForCredentials_thatNobodyHas_isSuccess(_ scheme: String) async throws {
        let server = try TestServer("/") { $0.respond(401, text: "who?", headers: ["WWW-Authenticate": scheme]) }
        defer { server.stop() }
        let (data, response) = try await URLSessionTaskOperation.data(for: server.url("/")).value(on: queue)
        #expect(response.status == 401)
        #expect(data == Data("who?".utf8))
    }

    @Test func requestBody_isSentWithTheRequestsMethod() async throws {
        let server = try TestServer("/") { exchange in
            exchange.respond(200, text: "\(exchange.request.method) \(String(decoding: exchange.request.body, as: UTF8.self))")
        }
        defer { server.stop() }
        for method in [URLRequest.HTTPMethod.post, URLRequest.HTTPMethod.put, URLRequest.HTTPMethod.patch, URLRequest.HTTPMethod.delete] {
            let sent = URLSessionTaskOperation.data(for: request(server.url("/"), method, "body"))
            #expect(try await sent.value(on: queue).data == Data("\(method) body".utf8))
        }
        let head = URLSessionTaskOperation.data(for: request(server.url("/"), URLRequest.HTTPMethod.head))
        #expect(try await head.value(on: queue).data.isEmpty)
        let options = URLSessionTaskOperation.data(for: request(server.url("/"), URLRequest.HTTPMethod.options))
        #expect(try await options.value(on: queue).data == Data("OPTIONS ".utf8))
    }

    @Test func bodyInChunks_isPutTogether() async throws {
        let server = try TestServer("/") { exchange in
            exchange.begin(200, headers: ["Transfer-Encoding": "chunked"])
            for piece in ["one ", "two ", "three", ""] { exchange.writeChunk(Data(piece.utf8)) }
        }
        defer { server.stop() }
        let (data, response) = try await URLSessionTaskOperation.data(for: server.url("/")).value(on: queue)
        #expect(data == Data("one two three".utf8))
        #expect(response.expectedContentLength == -1)
    }

    @Test func largeBody_arrivesWhole() async throws {
        let body = bytes(5_000_000)
        let server = try TestServer("/") { $0.respond(200, body) }
        defer { server.stop() }
        let data = try await URLSessionTaskOperation.data(for: server.url("/")).value(on: queue).data
        #expect(data == body)
    }

    @Test func progress_rises_toOne() async throws {
        let body = bytes(2_000_000)
        let server = try TestServer("/") { $0.respond(200, body) }
        defer { server.stop() }
        let fractions = Log<Double>()
        _ = try await URLSessionTaskOperation.data(for: server.url("/"))
            .didChangeProgress { fractions.append($0.fractionCompleted) }
            .value(on: queue)
        await callbacksDelivered()
        #expect(fractions.entries == fractions.entries.sorted())
        #expect(fractions.entries.last == 1)
    }

    @Test func progressUpdates_rise_toOne() async throws {
        let server = try TestServer("/") { $0.respond(200, bytes(2_000_000)) }
        defer { server.stop() }
        let operation = URLSessionTaskOperation.data(for: server.url("/"))
        let updates = operation.progressUpdates
        operation.add(to: queue)
        var fractions: [Double] = []
        for await update in updates { fractions.append(update.fraction) }
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(fractions.count <= 102)
    }

    @Test func manyOperations_allDeliverTheirOwn() async throws {
        let server = try TestServer("/") { $0.respond(200, text: $0.request.target) }
        defer { server.stop() }
        let session = URLSessionTaskOperation.Session()
        let operations = (0..<400).map { number in
            URLSessionTaskOperation.data(for: server.url("/?\(number)")).session(session)
        }
        queue.addOperations(operations, waitUntilFinished: false)
        for (number, operation) in operations.enumerated() {
            await operation.ended()
            #expect(try operation.result?.get().data == Data("/?\(number)".utf8))
        }
        #expect(session.delegate.count == 0)
    }

    @Test func failedOperation_isTriedAgain() async throws {
        let calls = Log<String>()
        let server = try TestServer("/") { exchange in
            calls.append(exchange.request.headers["x-name"] ?? "")
            if calls.count <= 3 { exchange.drop() } else { exchange.respond(200, text: "at last") }
        }
        defer { server.stop() }
        let fractions = Log<Double>()
        var named = URLRequest(url: server.url("/"))
        named.setValue("Ada", forHTTPHeaderField: "X-Name")
        let operation = URLSessionTaskOperation.data(for: named)
            .didChangeProgress { fractions.append($0.fractionCompleted) }
            .retry(RetryPolicy(attempts: 5))
        #expect(try await operation.value(on: queue).data == Data("at last".utf8))
        // The transport itself may have asked once more on a connection that was dropped.
        #expect(Set(calls.entries) == ["Ada"])
        await callbacksDelivered()
        #expect(fractions.entries.last == 1)
    }

    @Test func timeLimit_stopsTheTransfer() async throws {
        let (asked, closed) = (Signal(), Signal())
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let session = URLSessionTaskOperation.Session()
        let operation = URLSessionTaskOperation.data(for: server.url("/")).session(session).observers(TimeoutObserver(0.1))
        let result = await operation.result(on: queue)
        #expect(result.error?.publishedError is TimeoutObserver.Error)
        await operation.ended()
        #expect(session.delegate.count == 0)
        // The time may have been up before the server was reached.
        if asked.hasFired { await closed.wait() }
    }

    @Test func session_ofOnesOwn_isUsed_alsoByNewOperations() async throws {
        let server = try TestServer("/") { $0.respond(200, text: $0.request.headers["x-app"] ?? "none") }
        defer { server.stop() }
        let configuration = URLSessionTaskOperation.Session.standardConfiguration
        configuration.httpAdditionalHeaders = ["X-App": "mine"]
        let session = URLSessionTaskOperation.Session(configuration: configuration)
        let operation = URLSessionTaskOperation.data(for: server.url("/")).session(session)
        #expect(try await operation.value(on: queue).data == Data("mine".utf8))
        #expect(try await operation.new().value(on: queue).data == Data("mine".utf8))
        #expect(try await URLSessionTaskOperation.data(for: server.url("/")).value(on: queue).data == Data("none".utf8))
    }

    @Test func commonSession_isThatOfOperations_thatNameNone() async throws {
        let server = try TestServer("/") { $0.respond(200, text: $0.request.headers["x-common"] ?? "none") }
        defer { server.stop() }
        let operation = URLSessionTaskOperation.data(for: server.url("/"))
        let before = URLSessionTaskOperation.session
        // Other tests load in this session meanwhile: they do not look at the header.
        let configuration = URLSessionTaskOperation.Session.standardConfiguration
        configuration.httpAdditionalHeaders = ["X-Common": "yes"]
        URLSessionTaskOperation.session = URLSessionTaskOperation.Session(configuration: configuration)
        defer { URLSessionTaskOperation.session = before }
        #expect(try await operation.value(on: queue).data == Data("yes".utf8))
    }

    @Test func session_thatIsReleased_goesWithItsDelegate() async throws {
        let server = try TestServer("/") { $0.respond(200, text: "ok") }
        defer { server.stop() }
        weak var delegate: SessionDelegate?
        weak var operation: URLSessionDataTaskOperation?
        do {
            let session = URLSessionTaskOperation.Session()
            let loading = URLSessionTaskOperation.data(for: server.url("/")).session(session)
            delegate = session.delegate
            operation = loading
            _ = try await loading.value(on: queue)
            await loading.ended()
        }
        await queue.idle()
        await until { delegate == nil && operation == nil }
    }
}
