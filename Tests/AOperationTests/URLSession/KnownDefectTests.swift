import Foundation
import Testing

@testable import AOperation

/// Defects that operations around URLSession are known to have had elsewhere.
@Suite(.timeLimit(Load.patience))
struct URLSessionDefectTests {
    let queue = AOperationQueue()

    @Test func D24_uploads_sendTheirBody_andEndWithTheWholeAnswer() async throws {
        let body = bytes(500_000)
        let server = try TestServer("/") { exchange in
            // The answer in two pieces: the first is not the end.
            exchange.begin(200, headers: ["Content-Length": "\(exchange.request.body.count)"])
            exchange.write(exchange.request.body.prefix(10))
            exchange.write(exchange.request.body.dropFirst(10))
        }
        defer { server.stop() }
        let scratch = try Scratch()
        var own = request(server.url("/"), "POST")
        own.httpBody = body
        var streamed = request(server.url("/"), "POST")
        streamed.httpBodyStream = InputStream(data: body)
        let operations = [
            URLSessionTaskOperation.upload(for: own),
            URLSessionTaskOperation.upload(for: streamed),
            URLSessionTaskOperation.upload(for: server.url("/"), from: body),
            URLSessionTaskOperation.upload(for: server.url("/"), fromFile: try scratch.file("body", body)),
        ]
        for operation in operations {
            let data = try await operation.value(on: queue).data
            #expect(data == body)
        }
    }

    @Test func D24_downloadedFile_outlivesDidFinish_thatRunsLate() async throws {
        let server = try TestServer("/") { $0.respond(200, text: "content") }
        defer { server.stop() }
        let callbacks = DispatchQueue(label: "test.late")
        callbacks.suspend()
        queue.callbackQueue = callbacks
        let read = Log<String?>()
        let operation = URLSessionTaskOperation.download(for: server.url("/"))
        operation.didFinish { result in
            guard let url = try? result.get().url else { return read.append(nil) }
            read.append(try? String(contentsOf: url, encoding: .utf8))
            try? FileManager.default.removeItem(at: url)
        }
        operation.add(to: queue)
        await operation.ended()
        callbacks.resume()
        await callbacksDelivered(callbacks)
        #expect(read.entries == ["content"])
    }

    @Test func D24_tasksAreForgotten_howeverTheyEnd() async throws {
        let server = try TestServer([
            "/ok": { $0.respond(200, bytes(10_000)) },
            "/drop": { exchange in
                exchange.begin(200, headers: ["Content-Length": "10"])
                exchange.drop()
            },
        ])
        defer { server.stop() }
        let port = try DeadPort()
        defer { port.close() }
        let session = URLSessionTaskOperation.Session()
        let urls = [server.url("/ok"), server.url("/drop"), server.url("/missing"), port.url]
        let operations = (0..<80).map { number -> AOperation in
            let url = urls[number % urls.count]
            switch number / urls.count % 3 {
            case 0: return URLSessionTaskOperation.data(for: url).session(session)
            case 1: return URLSessionTaskOperation.upload(for: url, from: Data("x".utf8)).session(session)
            default: return URLSessionTaskOperation.download(for: url).session(session)
            }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        for operation in operations { await operation.ended() }
        #expect(session.delegate.count == 0)
        for operation in operations {
            if let url = (operation as? URLSessionDownloadTaskOperation)?.outcome?.value?.url {
                try FileManager.default.removeItem(at: url)
            }
        }
    }

    @Test func D25_operationThatNeverRuns_makesNoTask_andIsReleased() throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        let session = URLSessionTaskOperation.Session()
        weak var (data, upload, download): (AOperation?, AOperation?, AOperation?)
        do {
            let made =
                [
                    URLSessionTaskOperation.data(for: server.url("/")).session(session),
                    URLSessionTaskOperation.upload(for: server.url("/")).session(session),
                    URLSessionTaskOperation.download(for: server.url("/")).session(session),
                ] as [AOperation]
            (data, upload, download) = (made[0], made[1], made[2])
        }
        #expect(data == nil && upload == nil && download == nil)
        #expect(session.delegate.count == 0)
        #expect(server.connectionsAccepted == 0)
    }

    @Test func D25_taskThatIsBeingCancelled_stillEndsItsOperation() async throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        let session = URLSessionTaskOperation.Session()
        for isOwn in [true, false] {
            let urlSession = isOwn ? session.urlSession : URLSession(configuration: .ephemeral)
            let task = urlSession.dataTask(with: server.url("/"))
            task.cancel()
            let operation = URLSessionTaskOperation(task: task)
            #expect(try await operation.urlError(on: queue).code == .cancelled)
        }
    }

    @Test func D25_cancellation_isAlwaysToldAsIsCancelled() async throws {
        let server = try TestServer("/") { $0.respond(200, bytes(100_000)) }
        defer { server.stop() }
        for number in 0..<40 {
            let started = Signal()
            let operation = URLSessionTaskOperation.data(for: server.url("/"))
            operation.didStart { started.fire() }.add(to: queue)
            await started.wait()
            for _ in 0..<number * 7 { await Task.yield() }
            operation.cancel()
            await operation.ended()
            switch operation.outcome {
            case .success: break  // it was through
            case .cancelled: #expect(operation.result?.error?.publishedError is AOperationError.IsCancelled)
            case .failure(let errors): Issue.record("\(errors)")
            case nil: Issue.record("it ended without an outcome")
            }
        }
    }
}
