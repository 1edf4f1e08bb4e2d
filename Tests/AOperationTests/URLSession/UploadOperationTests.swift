import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct UploadOperationTests {
    let queue = AOperationQueue()

    /// Answers with the method, and the body that came.
    private func echo() throws -> TestServer {
        try TestServer("/") { exchange in
            exchange.respond(
                200, exchange.request.body,
                headers: ["X-Method": exchange.request.method, "X-Length": exchange.request.headers["content-length"] ?? "none"])
        }
    }

    private func header(_ name: String, _ response: URLResponse) -> String? {
        (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
    }

    @Test func requestsOwnBody_isSent() async throws {
        let server = try echo()
        defer { server.stop() }
        let sent = URLSessionTaskOperation.upload(for: request(server.url("/"), "PUT", "own"))
        let (data, response) = try await sent.value(on: queue)
        #expect(data == Data("own".utf8))
        #expect(header("X-Method", response) == "PUT")
    }

    @Test func requestsOwnStream_isSentWhole() async throws {
        let server = try echo()
        defer { server.stop() }
        let body = bytes(1_000_000)
        var streamed = request(server.url("/"), "PUT")
        streamed.httpBodyStream = InputStream(data: body)
        let data = try await URLSessionTaskOperation.upload(for: streamed).value(on: queue).data
        #expect(data == body)
    }

    @Test func stream_isNotSentTwice() async throws {
        let server = try echo()
        defer { server.stop() }
        var streamed = request(server.url("/"), "PUT")
        streamed.httpBodyStream = InputStream(data: bytes(100))
        let operation = URLSessionTaskOperation.upload(for: streamed)
        _ = try await operation.value(on: queue)
        #expect(try await operation.new().urlError(on: queue).code == .requestBodyStreamExhausted)
    }

    @Test func data_replacesTheRequestsBody() async throws {
        let server = try echo()
        defer { server.stop() }
        let body = bytes(1_000_000)
        let sent = URLSessionTaskOperation.upload(for: request(server.url("/"), "PATCH", "own"), from: body)
        let (data, response) = try await sent.value(on: queue)
        #expect(data == body)
        #expect(header("X-Method", response) == "PATCH")
        #expect(header("X-Length", response) == "1000000")
    }

    @Test(arguments: [0, 1, 70_000, 5_000_000])
    func file_isSentWhole_alsoAgain(_ count: Int) async throws {
        let server = try echo()
        defer { server.stop() }
        let scratch = try Scratch()
        let body = bytes(count)
        let file = try scratch.file("body", body)
        let operation = URLSessionTaskOperation.upload(for: request(server.url("/"), "PUT", "own"), fromFile: file)
        for attempt in [operation, operation.new()] {
            let (data, response) = try await attempt.value(on: queue)
            #expect(data == body)
            #expect(header("X-Length", response) == "\(count)")
        }
    }

    @Test func url_isSentAPost() async throws {
        let server = try echo()
        defer { server.stop() }
        let scratch = try Scratch()
        let file = try scratch.file("body", Data("file".utf8))
        let operations = [
            URLSessionTaskOperation.upload(for: server.url("/")),
            URLSessionTaskOperation.upload(for: server.url("/"), from: Data("data".utf8)),
            URLSessionTaskOperation.upload(for: server.url("/"), fromFile: file),
        ]
        for (operation, body) in zip(operations, ["", "data", "file"]) {
            let (data, response) = try await operation.value(on: queue)
            #expect(data == Data(body.utf8))
            #expect(header("X-Method", response) == "POST")
        }
    }

    @Test func fileThatIsNotThere_isNamed_andNobodyAsked() async throws {
        let server = try echo()
        defer { server.stop() }
        let scratch = try Scratch()
        let missing = scratch.directory.appendingPathComponent("missing")
        let operation = URLSessionTaskOperation.upload(for: server.url("/"), fromFile: missing)
        let error = try await operation.urlError(on: queue)
        #expect(error.code == .fileDoesNotExist)
        #expect(error.failingURL == missing)
        let ofDirectory = URLSessionTaskOperation.upload(for: server.url("/"), fromFile: scratch.directory)
        #expect(try await ofDirectory.urlError(on: queue).code == .fileIsDirectory)
        let ofHTTP = URLSessionTaskOperation.upload(for: server.url("/"), fromFile: server.url("/"))
        #expect(try await ofHTTP.urlError(on: queue).code == .unsupportedURL)
        #expect(server.connectionsAccepted == 0)
    }

    @Test func uploadToAFile_isRefused() async throws {
        let scratch = try Scratch()
        let target = scratch.directory.appendingPathComponent("target")
        let operation = URLSessionTaskOperation.upload(for: target, from: Data("x".utf8))
        let error = try await operation.urlError(on: queue)
        #expect(error.code == .unsupportedURL)
        #expect(error.failingURL == target)
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test(arguments: [true, false])
    func progress_countsWhatIsSent_toOne(_ isFile: Bool) async throws {
        let server = try TestServer("/") { $0.respond(200, bytes(300_000)) }
        defer { server.stop() }
        let scratch = try Scratch()
        let body = bytes(3_000_000)
        let operation =
            isFile
            ? URLSessionTaskOperation.upload(for: server.url("/"), fromFile: try scratch.file("body", body))
            : URLSessionTaskOperation.upload(for: server.url("/"), from: body)
        let steps = Log<(fraction: Double, total: Int64)>()
        _ = try await operation.didChangeProgress { steps.append(($0.fractionCompleted, $0.totalUnitCount)) }.value(on: queue)
        await callbacksDelivered()
        let fractions = steps.entries.map(\.fraction)
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(steps.entries.allSatisfy { $0.total == 3_000_000 })
    }

    /// An upload that holds no more than 100,000 bytes of its body in memory.
    private func lean(_ request: URLRequest, _ body: TransferRequest.Body) -> URLSessionUploadTaskOperation {
        var source = TransferRequest(uploading: request, body)
        source.heldBytesMax = 100_000
        return URLSessionUploadTaskOperation(source)
    }

    @Test func largeFile_isSentInChunks_andItsProgressKnown() async throws {
        let body = bytes(3_000_000)
        let lengths = Log<String?>()
        let server = try TestServer("/") { exchange in
            lengths.append(exchange.request.headers["content-length"])
            exchange.respond(exchange.request.body == body ? 200 : 400)
        }
        defer { server.stop() }
        let scratch = try Scratch()
        let operation = lean(request(server.url("/"), "PUT"), .file(try scratch.file("body", body)))
        let totals = Log<Int64>()
        operation.didChangeProgress { totals.append($0.totalUnitCount) }
        for attempt in [operation, operation.new()] {
            #expect(try await attempt.value(on: queue).response.status == 200)
        }
        await callbacksDelivered()
        #expect(lengths.entries == [nil, nil])
        #expect(Set(totals.entries) == [3_000_000])
    }

    @Test func streamThatIsTooLong_isRefused() async throws {
        let server = try echo()
        defer { server.stop() }
        var streamed = request(server.url("/"), "PUT")
        streamed.httpBodyStream = InputStream(data: bytes(100_001))
        let error = try await lean(streamed, .own).urlError(on: queue)
        #expect(error.code == .dataLengthExceedsMaximum)
        #expect(error.localizedDescription == "The body stream is longer than 100000 bytes: use a file for a body of that length.")
        #expect(server.connectionsAccepted == 0)
    }

    @Test func streamThatCannotBeRead_isAFailure() async throws {
        let server = try echo()
        defer { server.stop() }
        var streamed = request(server.url("/"), "PUT")
        streamed.httpBodyStream = InputStream(url: URL(fileURLWithPath: "/missing/file"))
        #expect(try await URLSessionTaskOperation.upload(for: streamed).urlError(on: queue).code == .requestBodyStreamExhausted)
        #expect(server.connectionsAccepted == 0)
    }

    /// Which body is sent over the connection that dies.
    enum Source: CaseIterable { case data, stream, file, largeFile }

    @Test(arguments: Source.allCases)
    func bodyOnAConnectionThatDies_isSentAgainFromItsBeginning(_ source: Source) async throws {
        let bodies = Log<Data>()
        let server = try TestServer(
            [
                "/first": { $0.respond(200) },
                "/second": { exchange in
                    // Comes first on the connection that was kept, and ends that without an answer.
                    guard exchange.number == 1 else {
                        exchange.closeWriting()
                        exchange.readBody()
                        return exchange.drop()
                    }
                    if let body = exchange.readBody() { bodies.append(body) }
                    exchange.respond(200)
                },
            ], readsBodies: false)
        defer { server.stop() }
        let session = URLSessionTaskOperation.Session()
        _ = try await URLSessionTaskOperation.data(for: server.url("/first")).session(session).value(on: queue)

        let scratch = try Scratch()
        let body = bytes(3_000_000)
        let file = try scratch.file("body", body)
        var post = request(server.url("/second"), "POST")
        let operation: URLSessionUploadTaskOperation
        switch source {
        case .data: operation = URLSessionTaskOperation.upload(for: post, from: body)
        case .file: operation = URLSessionTaskOperation.upload(for: post, fromFile: file)
        case .largeFile: operation = lean(post, .file(file))
        case .stream:
            post.httpBodyStream = InputStream(data: body)
            operation = URLSessionTaskOperation.upload(for: post)
        }
        _ = try await operation.session(session).value(on: queue)
        #expect(bodies.entries == [body])
        #expect(session.delegate.count == 0)
    }
}
