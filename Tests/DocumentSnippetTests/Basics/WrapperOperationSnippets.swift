// Basics, "WrapperOperation".

import AOperation
import Foundation
import Testing

// swift-format-ignore
private enum Document {
    static func unwrapped() -> URLSessionDataTaskOperation {
        let url = URL(string: "A url string")!
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields =
        ["Authorization" : "An authorization code"]
        let operation = URLSessionTaskOperation.data(for: request)
        return operation  // +
    }

    // 1.16 5, here and below: the labels stand in the order of what `data(for:)` delivers; Swift converts no other one
    static func wrapped() -> WrapperOperation<Void, (data: Data, response: URLResponse)> {
        // was: let operation = WrapperOperation<Void, (response: URLResponse, data: Data)> { _ -> ResultableOperation<(response: URLResponse, data: Data)> in
        let operation = WrapperOperation<Void, (data: Data, response: URLResponse)> { _ -> ResultableOperation<(data: Data, response: URLResponse)> in
            let url = URL(string: "A url string")!
            var request = URLRequest(url: url)
            request.allHTTPHeaderFields =
            ["Authorization" : "An authorization code"]
            return URLSessionTaskOperation.data(for: request)
        }
        return operation  // +
    }

    // was: class AuthorizedOperation: WrapperOperation<Void, (response: URLResponse, data: Data)> {
    class AuthorizedOperation: WrapperOperation<Void, (data: Data, response: URLResponse)> {

        init() {
            // was: super.init { _ -> ResultableOperation<(response: URLResponse, data: Data)> in
            super.init { _ -> ResultableOperation<(data: Data, response: URLResponse)> in
                let url = URL(string: "A url string")!
                var request = URLRequest(url: url)
                request.allHTTPHeaderFields =
                ["Authorization" : "An authorization code"]
                return URLSessionTaskOperation.data(for: request)

            }
        }

    }
}

/// "A url string" leads nowhere: that is what each form tells.
@Suite("Basics: WrapperOperation", .timeLimit(.minutes(1)))
struct WrapperOperationSnippets {
    let queue = AOperationQueue()

    @Test func wrappedOperation_tellsWhatTheUnwrappedOneTells() async {
        let unwrapped = await Document.unwrapped().result(on: queue)
        let wrapped = await Document.wrapped().result(on: queue)
        let subclassed = await Document.AuthorizedOperation().result(on: queue)
        #expect(unwrapped.error != nil)
        #expect(wrapped.error == unwrapped.error)
        #expect(subclassed.error == unwrapped.error)
    }
}
