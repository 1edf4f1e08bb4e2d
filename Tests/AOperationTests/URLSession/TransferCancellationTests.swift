import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct TransferCancellationTests {
    let queue = AOperationQueue()
    let session = URLSessionTaskOperation.Session()

    /// What each kind of operation makes of a URL.
    enum Kind: CaseIterable {
        case data, upload, download

        func operation(_ url: URL) -> AOperation {
            switch self {
            case .data: URLSessionTaskOperation.data(for: url)
            case .upload: URLSessionTaskOperation.upload(for: url, from: Data("body".utf8))
            case .download: URLSessionTaskOperation.download(for: url)
            }
        }
    }

    private func expectCancelled(_ operation: AOperation) {
        #expect(operation.publishedErrors.map { $0.publishedError is AOperationError.IsCancelled } == [true])
        #expect(operation.isCancelled)
        #expect(operation.isEnded)
    }

    @Test(arguments: Kind.allCases)
    func cancelled_whileItWaitsForTheAnswer_closesTheConnection(_ kind: Kind) async throws {
        let (asked, closed) = (Signal(), Signal())
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let operation = kind.operation(server.url("/")).add(to: queue)
        await asked.wait()
        operation.cancel()
        await operation.ended()
        await closed.wait()
        expectCancelled(operation)
    }

    @Test(arguments: Kind.allCases)
    func cancelled_inTheBody_closesTheConnection(_ kind: Kind) async throws {
        let (begun, closed) = (Signal(), Signal())
        let server = try TestServer("/") { exchange in
            exchange.begin(200, headers: ["Content-Length": "1000000"])
            exchange.write(bytes(100_000))
            begun.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let operation = kind.operation(server.url("/")).add(to: queue)
        await begun.wait()
        operation.cancel()
        await operation.ended()
        await closed.wait()
        expectCancelled(operation)
    }

    /// How a body is given.
    enum Body: CaseIterable { case file, data, stream }

    @Test(arguments: Body.allCases)
    func cancelled_whileABodyIsSent_ends(_ body: Body) async throws {
        let scratch = try Scratch()
        let file = try scratch.file("large", Data(count: 20_000_000))
        let release = Latch()
        // Nobody reads the body: sending it stops when the buffers on the way are full.
        let server = try TestServer(["/": { _ in release.wait() }], readsBodies: false)
        defer {
            release.open()
            server.stop()
        }
        let operation =
            switch body {
            case .file: URLSessionTaskOperation.upload(for: server.url("/"), fromFile: file)
            case .data: URLSessionTaskOperation.upload(for: server.url("/"), from: Data(count: 20_000_000))
            case .stream: URLSessionTaskOperation.upload(for: streamed(file, to: server.url("/")))
            }
        let isSending = Signal()
        operation.session(session).didChangeProgress { _ in isSending.fire() }.add(to: queue)
        await isSending.wait()
        operation.cancel()
        await operation.ended()
        expectCancelled(operation)
        #expect(session.delegate.count == 0)
    }

    private func streamed(_ file: URL, to url: URL) -> URLRequest {
        var streamed = request(url, "POST")
        streamed.httpBodyStream = InputStream(url: file)
        return streamed
    }

    @Test func cancelled_beforeItStarts_asksNobody() async throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        for kind in Kind.allCases {
            let operation = kind.operation(server.url("/"))
            operation.cancel()
            operation.add(to: queue)
            await operation.ended()
            expectCancelled(operation)
        }
        #expect(server.connectionsAccepted == 0)
    }

    @Test func cancelled_atAnyMoment_endsOnce() async throws {
        let server = try TestServer("/") { exchange in
            exchange.begin(200, headers: ["Content-Length": "200000"])
            exchange.write(bytes(200_000))
        }
        defer { server.stop() }
        let operations = (0..<120).map { number -> AOperation in
            let url = server.url("/")
            switch number % 3 {
            case 0: return URLSessionTaskOperation.data(for: url).session(session)
            case 1: return URLSessionTaskOperation.upload(for: url, from: bytes(100_000)).session(session)
            default: return URLSessionTaskOperation.download(for: url).session(session)
            }
        }
        let before = try temporaryFiles()
        queue.maxConcurrentOperationCount = 20
        queue.addOperations(operations, waitUntilFinished: false)
        for (number, operation) in operations.enumerated() {
            for _ in 0..<number % 17 { await Task.yield() }
            operation.cancel()
        }
        for operation in operations { await operation.ended() }
        #expect(session.delegate.count == 0)
        let kept = operations.compactMap { ($0 as? URLSessionDownloadTaskOperation)?.outcome?.value?.url.lastPathComponent }
        // Others may be at work in the same directory: only what is ours and was dropped must be gone.
        let left = try temporaryFiles().subtracting(before).subtracting(kept)
        for name in left { while try temporaryFiles().contains(name) { await Task.yield() } }
        for name in kept { try FileManager.default.removeItem(at: temporaryURL(name)) }
    }

    @Test func cancelledGroup_stopsItsTransfers() async throws {
        let (asked, closed) = (Signal(), Signal())
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let group = GroupOperation(URLSessionTaskOperation.data(for: server.url("/")))
        group.add(to: queue)
        await asked.wait()
        group.cancel()
        await group.ended()
        await closed.wait()
        expectCancelled(group)
    }

    @Test func outcomeDecidedFromOutside_thenCancelled_endsTheBody() async throws {
        let (asked, closed) = (Signal(), Signal())
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let operation = URLSessionTaskOperation.download(for: server.url("/"))
        operation.grace = .seconds(600)
        operation.add(to: queue)
        await asked.wait()
        operation.interrupt(with: .failure([AOperationError(Failed(text: "too late"))]))
        operation.cancel()
        await operation.ended()
        await closed.wait()
        #expect(operation.result?.error?.publishedError as? Failed == Failed(text: "too late"))
    }

    private func temporaryFiles() throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path).filter {
                $0.hasPrefix("AOperation-")
            })
    }

    private func temporaryURL(_ name: String) -> URL { FileManager.default.temporaryDirectory.appendingPathComponent(name) }
}
