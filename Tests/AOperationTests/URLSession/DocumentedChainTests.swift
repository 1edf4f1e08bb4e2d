// No FoundationNetworking: its names come with AOperation, as the documents' programs have it.
import AOperation
import Foundation
import Testing

/// Fails unless the status of the answer is one of success.
private final class ServicesErrorHandleOperation: ResultableOperation<Data>, ReceiverOperation, @unchecked Sendable {
    enum Error: LocalizedError {
        case serverResponseError
    }

    var receivedValue: Result<(data: Data, response: URLResponse), AOperationError>?

    override func execute() {
        guard let value = receivedValue else {
            finish(with: .failure(.receivedValueIsNil(in: self)))
            return
        }
        switch value {
        case .success((let data, let response)):
            let statusCode = (response as? HTTPURLResponse)?.statusCode ?? 0
            if statusCode >= 200 && statusCode <= 299 {
                finish(with: .success(data))
            } else {
                finish(with: .failure(AOperationError(Error.serverResponseError)))
            }
        case .failure(let error):
            finish(with: .failure(error))
        }
    }
}

/// Decodes what it receives.
private final class JSONDecoderOperation<Output: Decodable>: ResultableOperation<Output>, ReceiverOperation, @unchecked Sendable {
    var receivedValue: Result<Data, AOperationError>?

    override func execute() {
        guard let value = receivedValue else {
            finish(with: .failure(.receivedValueIsNil(in: self)))
            return
        }
        switch value {
        case .success(let data):
            do {
                finish(with: .success(try JSONDecoder().decode(Output.self, from: data)))
            } catch {
                finish(with: .failure(AOperationError(error)))
            }
        case .failure(let error):
            finish(with: .failure(error))
        }
    }
}

private struct User: Codable, Equatable, Sendable {
    var name: String
}

@Suite(.timeLimit(Load.patience))
struct DocumentedChainTests {
    let queue = AOperationQueue()

    private func server() throws -> TestServer {
        try TestServer([
            "/userInfo": { $0.respond(200, text: #"{"name": "Ada"}"#) },
            "/broken": { $0.respond(200, text: "no JSON") },
            "/error": { $0.respond(500, text: "sorry") },
        ])
    }

    private func user(_ url: URL) -> JSONDecoderOperation<User> {
        URLSessionTaskOperation.data(for: url)
            .deliver(to: ServicesErrorHandleOperation())
            .deliver(to: JSONDecoderOperation<User>())
    }

    @Test func L7_namesOfFoundationNetworking_comeWithAOperation() async throws {
        let server = try server()
        defer { server.stop() }
        var request = URLRequest(url: server.url("/userInfo"))
        request.allHTTPHeaderFields = ["Authorization": "An authorization code"]
        request.httpMethod = URLRequest.HTTPMethod.get
        let response: URLResponse = try await URLSessionTaskOperation.data(for: request).value(on: queue).response
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test func chain_ofDataErrorHandlingAndDecoding_deliversTheModel() async throws {
        let server = try server()
        defer { server.stop() }
        #expect(try await user(server.url("/userInfo")).value(on: queue) == User(name: "Ada"))
    }

    @Test func chain_deliversTheErrorOfTheLinkThatFailed() async throws {
        let server = try server()
        defer { server.stop() }
        let refused = await user(server.url("/error")).result(on: queue).error
        #expect(refused?.publishedError is ServicesErrorHandleOperation.Error)
        #expect(refused?.publisher == "ServicesErrorHandleOperation")
        let broken = await user(server.url("/broken")).result(on: queue).error
        #expect(broken?.publishedError is DecodingError)
        let port = try DeadPort()
        defer { port.close() }
        let unreachable = await user(port.url).result(on: queue).error
        #expect((unreachable?.publishedError as? URLError)?.code == .cannotConnectToHost)
        #expect(unreachable?.publisher == "URLSessionDataTaskOperation")
    }

    @Test func cancelledChain_cancelsTheRequest() async throws {
        let (asked, closed) = (Signal(), Signal())
        let server = try TestServer("/") { exchange in
            asked.fire()
            exchange.waitForClose()
            closed.fire()
        }
        defer { server.stop() }
        let tail = user(server.url("/")).add(to: queue)
        await asked.wait()
        tail.cancel()
        await closed.wait()
        #expect(tail.result?.error?.publishedError is AOperationError.IsCancelled)
    }
}
