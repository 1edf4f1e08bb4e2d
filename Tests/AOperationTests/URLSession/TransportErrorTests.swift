import Foundation
import Testing

@testable import AOperation

@Suite(.timeLimit(Load.patience))
struct TransportErrorTests {
    let queue = AOperationQueue()

    @Test func refusedConnection_isURLErrorThatNamesTheURL() async throws {
        let port = try DeadPort()
        defer { port.close() }
        let url = port.url
        let operation = URLSessionTaskOperation.data(for: url)
        let error = try await operation.urlError(on: queue)
        #expect(error.code == .cannotConnectToHost)
        #expect(error.failingURL == url)
        #expect(operation.publishedErrors.first?.publisher == "URLSessionDataTaskOperation")
        #expect(operation.publishedErrors.first?.state == .execution)
    }

    @Test func droppedConnection_beforeTheAnswer_fails() async throws {
        let server = try TestServer("/") { $0.drop() }
        defer { server.stop() }
        let error = try await URLSessionTaskOperation.data(for: server.url("/")).urlError(on: queue)
        #expect(error.failingURL == server.url("/"))
    }

    @Test(arguments: [["Content-Length": "100"], ["Transfer-Encoding": "chunked"]])
    func droppedConnection_inTheBody_fails(_ headers: [String: String]) async throws {
        let server = try TestServer("/") { exchange in
            exchange.begin(200, headers: headers)
            exchange.writeChunk(Data("part".utf8))
            exchange.drop()
        }
        defer { server.stop() }
        let error = try await URLSessionTaskOperation.data(for: server.url("/")).urlError(on: queue)
        #expect(error.failingURL == server.url("/"))
        #expect(error.localizedDescription.contains("closed"))
    }

    @Test func silentServer_isGivenUp_afterTheRequestsTimeout() async throws {
        let server = try TestServer("/") { $0.waitForClose() }
        defer { server.stop() }
        var request = URLRequest(url: server.url("/"))
        request.timeoutInterval = 1
        let error = try await URLSessionTaskOperation.data(for: request).urlError(on: queue)
        #expect(error.code == .timedOut)
        #expect(error.failingURL == server.url("/"))
        #expect(error.localizedDescription == "The request timed out.")
    }

    @Test func timeoutBelowASecond_leavesTimeForAnAnswer() async throws {
        let server = try TestServer("/") { $0.respond(200) }
        defer { server.stop() }
        var request = URLRequest(url: server.url("/"))
        request.timeoutInterval = 0.5
        #expect(try await URLSessionTaskOperation.data(for: request).value(on: queue).response.status == 200)
    }

    @Test func whatIsNoHTTP_fails() async throws {
        let server = try TestServer("/") { exchange in
            exchange.write(Data("this is not HTTP\r\n\r\n".utf8))
            exchange.drop()
        }
        defer { server.stop() }
        _ = try await URLSessionTaskOperation.data(for: server.url("/")).urlError(on: queue)
    }

    @Test func unknownScheme_isUnsupported() async throws {
        let url = try #require(URL(string: "gopher-of-mine://host/path"))
        let error = try await URLSessionTaskOperation.data(for: url).urlError(on: queue)
        #expect(error.code == .unsupportedURL)
        #expect(error.failingURL == url)
    }

    @Test func requestWithoutURL_fails() async throws {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = nil
        #expect(try await URLSessionTaskOperation.data(for: request).urlError(on: queue).code == .badURL)
        #expect(try await URLSessionTaskOperation.upload(for: request).urlError(on: queue).code == .badURL)
    }

    @Test func dataURL_isLoaded() async throws {
        let url = try #require(URL(string: "data:text/plain,hello"))
        let (data, response) = try await URLSessionTaskOperation.data(for: url).value(on: queue)
        #expect(data == Data("hello".utf8))
        #expect(response.mimeType == "text/plain")
    }
}
