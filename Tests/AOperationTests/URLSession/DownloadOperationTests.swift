import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct DownloadOperationTests {
    let queue = AOperationQueue()

    @Test func file_isThereInDidFinish_andAfterwards() async throws {
        let body = bytes(1_000_000)
        let server = try TestServer("/") { $0.respond(200, body) }
        defer { server.stop() }
        let seen = Log<Data?>()
        var operation: URLSessionDownloadTaskOperation? = URLSessionTaskOperation.download(for: server.url("/"))
        operation?.didFinish { result in
            seen.append((try? result.get()).flatMap { try? Data(contentsOf: $0.url) })
        }
        let (url, response) = try #require(try await operation?.value(on: queue))
        await callbacksDelivered()
        operation = nil
        await queue.idle()
        #expect(seen.entries == [body])
        #expect(response.status == 200)
        #expect(try Data(contentsOf: url) == body)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.removeItem(at: url)
    }

    @Test func emptyAnswer_isAnEmptyFile() async throws {
        let server = try TestServer("/") { $0.respond(204) }
        defer { server.stop() }
        let url = try await URLSessionTaskOperation.download(for: server.url("/")).value(on: queue).url
        #expect(try Data(contentsOf: url).isEmpty)
        try FileManager.default.removeItem(at: url)
    }

    @Test func twoDownloads_haveFilesOfTheirOwn() async throws {
        let server = try TestServer("/") { $0.respond(200, text: $0.request.target) }
        defer { server.stop() }
        let first = URLSessionTaskOperation.download(for: server.url("/?1"))
        let one = try await first.value(on: queue).url
        let two = try await first.new().value(on: queue).url
        #expect(one != two)
        #expect(try Data(contentsOf: one) == Data(contentsOf: two))
        try FileManager.default.removeItem(at: one)
        try FileManager.default.removeItem(at: two)
    }

    @Test func downloadTriedAgain_leavesOneFile() async throws {
        let calls = Log<Int>()
        let server = try TestServer("/") { exchange in
            calls.append(1)
            guard calls.count > 1 else {
                exchange.begin(200, headers: ["Content-Length": "100"])
                exchange.write(Data("part".utf8))
                return exchange.drop()
            }
            exchange.respond(200, text: "whole")
        }
        defer { server.stop() }
        let operation = URLSessionTaskOperation.download(for: server.url("/")).retry(RetryPolicy(attempts: 3))
        let url = try await operation.value(on: queue).url
        await operation.ended()
        #expect(try Data(contentsOf: url) == Data("whole".utf8))
        try FileManager.default.removeItem(at: url)
    }

    @Test func progress_rises_toOne() async throws {
        let server = try TestServer("/") { $0.respond(200, bytes(2_000_000)) }
        defer { server.stop() }
        let steps = Log<(fraction: Double, total: Int64)>()
        let operation = URLSessionTaskOperation.download(for: server.url("/"))
        let url = try await operation.didChangeProgress { steps.append(($0.fractionCompleted, $0.totalUnitCount)) }.value(on: queue).url
        await callbacksDelivered()
        let fractions = steps.entries.map(\.fraction)
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(steps.entries.allSatisfy { $0.total == 2_000_000 })
        try FileManager.default.removeItem(at: url)
    }

    @Test func progress_isToldBeforeDidFinish_onTheQueuesCallbackQueue() async throws {
        let server = try TestServer("/") { $0.respond(200, bytes(1_000)) }
        defer { server.stop() }
        let callbacks = DispatchQueue(label: "test.callbacks")
        let key = DispatchSpecificKey<Bool>()
        callbacks.setSpecific(key: key, value: true)
        queue.callbackQueue = callbacks
        let log = Log<String>()
        let operation = URLSessionTaskOperation.data(for: server.url("/"))
            .didChangeProgress { progress in
                log.append(DispatchQueue.getSpecific(key: key) == true ? "\(progress.fractionCompleted)" : "elsewhere")
            }
            .didFinish { _ in log.append("finished") }
        _ = try await operation.value(on: queue)
        await callbacksDelivered(callbacks)
        #expect(log.entries.suffix(2) == ["1.0", "finished"])
        #expect(!log.entries.contains("elsewhere"))
    }

    @Test func fileOfALateSuccess_isRemoved() async throws {
        let response = URLResponse(url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        for isLate in [true, false] {
            let operation = URLSessionTaskOperation.download(for: URL(fileURLWithPath: "/"))
            let file = try TemporaryFile().keep()
            if isLate { operation.cancel() }
            operation.willPropose((file, response))
            operation.finish(with: .success((file, response)))
            #expect(FileManager.default.fileExists(atPath: file.path) != isLate)
            try? FileManager.default.removeItem(at: file)
        }
    }

    @Test func temporaryFile_thatIsNotKept_goesWithItsObject() throws {
        let path: String
        do {
            let file = try TemporaryFile()
            try file.write(bytes(300_000))
            path = file.url.path
            #expect(try Data(contentsOf: file.url) == bytes(300_000))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
