import Foundation
import Testing

@testable import AOperation

/// URLs that lead nowhere.
@Suite(.timeLimit(Load.patience))
struct WrongURLTests {
    let queue = AOperationQueue()

    @Test(arguments: [
        "file:///definitely/not/there", "file:", "file:///", "file://other.host/etc/passwd", "nonsense:abc", "http://",
        "http:///x", "http://127.0.0.1:1/", "https://127.0.0.1:1", "ftp://127.0.0.1:1/x", "relative/path",
    ])
    func everyTransfer_fails_withAnErrorOfURLs(text: String) async throws {
        let url = try #require(URL(string: text))
        var transfers: [AOperation] = [
            URLSessionTaskOperation.data(for: url), URLSessionTaskOperation.data(for: URLRequest(url: url)),
            URLSessionTaskOperation.download(for: url), URLSessionTaskOperation.upload(for: url),
        ]
        let counted = Keep<(data: Data, response: URLResponse)>()
        transfers.append(URLSessionTaskOperation.data(for: url).deliver(to: counted))
        for transfer in transfers { transfer.add(to: queue) }
        for transfer in transfers.dropLast() {
            await transfer.ended()
            let error = try #require(transfer.publishedErrors.first)
            #expect(error.publishedError is URLError, "\(type(of: transfer)): \(error)")
            #expect(error.localizedDescription.contains { $0.isLetter })
            #expect(!transfer.isCancelled && error.state == .execution)
        }
        await counted.ended()
        #expect(counted.receivedValue?.error?.publishedError is URLError)
    }
}
