// Deliver result to another operation.

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func rawAnswer(from server: LocalServer, _ heard: Heard) -> AOperation {
        // was: let url = URL(string: "https://ServerHost.com/userInfo")
        // the test's server stands in for the document's, here and below; URL(string:) gives an Optional
        let url = server.url("/userInfo")
        return  // +
            // was: URlSessionTaskOperation.data(for: url).didFinish { result in
            // 1.16 7: URLSessionTaskOperation, here and below
            URLSessionTaskOperation.data(for: url).didFinish { result in
                heard(result.map { "\($0.data.count) bytes" }.text)  // +

            }
    }

    //1.
    public class ServicesErrorHandleOperation: ResultableOperation<Data>, ReceiverOperation {

        enum Error: LocalizedError {
            case serverResponseError
        }

        //2.
        public var receivedValue: Result<(data: Data, response: URLResponse), AOperationError>?

        public override func execute() {
        //3.
            guard let value = receivedValue else {
        //4.
                finish(with: .failure(.receivedValueIsNil(in: self)))
                return
            }

            //5.
            switch value {
            case let .success((data, response)):
            //6.
                let response = (response as! HTTPURLResponse)
                let statusCode = response.statusCode
                if (statusCode >= 200 && statusCode <= 299) {

                    finish(with: .success(data))
                }
                else {
        //7.
                let error = AOperationError(Error.serverResponseError)
                finish(with: .failure(error))
                }
            case .failure(let error):
        //8.
                finish(with: .failure(error))
            }

        }

    }

    static func checkedAnswer(from server: LocalServer, _ heard: Heard) -> AOperation {
        // was: let url = URL(string: "https://ServerHost.com/userInfo")
        let url = server.url("/userInfo")
        return  // +
            // was: URlSessionTaskOperation.data(for: url)
            URLSessionTaskOperation.data(for: url)
            .deliver(to: ServicesErrorHandleOperation())
            .didFinish { result in
                heard(result.map { String(decoding: $0, as: UTF8.self) }.text)  // +

            }
    }

    public class JSONDecoderOperation<Output: Decodable>: ResultableOperation<Output>, ReceiverOperation {

        public var receivedValue: Result<Data, AOperationError>?


        public override func execute() {
            guard let value = receivedValue else {
                finish(with: .failure(.receivedValueIsNil(in: self)))
                return
            }

            switch value {
            case .success(let data):

                do {
                    let decoded = try JSONDecoder().decode(Output.self, from: data)

                    self.finish(with: .success(decoded))
                } catch {
                    finish(with: .failure(AOperationError(error)))
                }


            case .failure(let error):
                finish(with: .failure(error))
            }
        }

    }

    static func decodedAnswer(from server: LocalServer, at path: String = "/userInfo", _ heard: Heard) -> AOperation {
        // was: let url = URL(string: "https://ServerHost.com/userInfo")
        let url = server.url(path)
        return  // +
            // was: URlSessionTaskOperation.data(for: url)
            URLSessionTaskOperation.data(for: url)
            .deliver(to: ServicesErrorHandleOperation())
            .deliver(to: JSONDecoderOperation<User>())
            .didFinish { result in
                switch result {
                case .success(let user):
                // Update UI
                    heard(user.name)  // +
                case .failure(let error):
                // Handle error
                    heard("\(error.publisher ?? "nobody"): \(type(of: error.publishedError))")  // +
                }
            }
    }

    class ServiceOperation<Output: Decodable>: WrapperOperation<Void, Output> {
        init(url: URL) {
            super.init { (_) -> ResultableOperation<Output>? in
                return
                    // was: URlSessionTaskOperation.data(for: url)
                    URLSessionTaskOperation.data(for: url)
                    .deliver(to: ServicesErrorHandleOperation())
                    .deliver(to: JSONDecoderOperation<Output>())
            }
        }
    }

    static func wrappedAnswer(from server: LocalServer, at path: String = "/userInfo", _ heard: Heard) -> AOperation {
        // was: let url = URL(string: "https://ServerHost.com/userInfo")
        let url = server.url(path)
        return  // +
            // was: ServiceOperation<User>()
            // slip: its initializer takes the url
            ServiceOperation<User>(url: url)
            .didFinish { result in
                switch result {
                case .success(let user):
                // Update UI
                    heard(user.name)  // +
                case .failure(let error):
                // Handle error
                    heard("\(error.publisher ?? "nobody"): \(type(of: error.publishedError))")  // +
                }
            }
    }
}

extension Result where Success == String {
    fileprivate var text: String {
        switch self {
        case .success(let text): text
        case .failure(let error): error.localizedDescription
        }
    }
}

/// The chains run against a server of this process.
@Suite("Deliver result to another operation", .timeLimit(.minutes(1)))
struct DeliverSnippets {
    let heard = Heard()
    let queue = AOperationQueue()
    let server: LocalServer

    init() throws {
        server = try LocalServer(answering: [
            "/userInfo": .init(status: 200, body: #"{"name": "Ada", "hasAccess": true}"#),
            "/broken": .init(status: 500, body: "out of order"),
            "/strange": .init(status: 200, body: "no JSON"),
        ])
    }

    @Test func rawAnswer_isDataAndResponse() async {
        Document.rawAnswer(from: server, heard).add(to: queue)
        await heard.wait(for: "34 bytes")
    }

    @Test func checkedAnswer_isData() async {
        Document.checkedAnswer(from: server, heard).add(to: queue)
        await heard.wait(for: #"{"name": "Ada", "hasAccess": true}"#)
    }

    @Test func decodedAnswer_isAUser() async {
        Document.decodedAnswer(from: server, heard).add(to: queue)
        await heard.wait(for: "Ada")
        #expect(heard.words == ["Ada"])
    }

    @Test func errorStatus_passesThroughTheChain() async {
        Document.decodedAnswer(from: server, at: "/broken", heard).add(to: queue)
        await heard.wait(for: "ServicesErrorHandleOperation: Error")
    }

    @Test func errorOfTheDecoder_isItsOwn() async {
        Document.decodedAnswer(from: server, at: "/strange", heard).add(to: queue)
        await heard.wait(for: "JSONDecoderOperation<User>: DecodingError")
    }

    @Test func wrappedChain_deliversTheSame() async {
        Document.wrappedAnswer(from: server, heard).add(to: queue)
        await heard.wait(for: "Ada")
        Document.wrappedAnswer(from: server, at: "/broken", heard).add(to: queue)
        await heard.wait(for: "ServicesErrorHandleOperation: Error")
    }

    @Test func chainWithoutProducer_tellsThatNothingWasReceived() async throws {
        let result = await Document.ServicesErrorHandleOperation().deliver(to: Document.JSONDecoderOperation<User>()).result(on: queue)
        #expect(try #require(result.error).publishedError is AOperationError.ReceivedValueIsNil)
    }
}
