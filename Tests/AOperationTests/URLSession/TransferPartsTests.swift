import Foundation
import Testing

@testable import AOperation

/// The parts of a transfer that need no server.
@Suite(.timeLimit(Load.patience))
struct TransferPartsTests {
    @Test func methods_areSpelledAsHTTPHasThem() {
        typealias Method = URLRequest.HTTPMethod
        let all = [Method.get, Method.post, Method.put, Method.patch, Method.delete, Method.head, Method.options]
        #expect(all == ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
    }

    @Test(arguments: [
        ("json", "application/json"), ("PNG", "image/png"), ("", "application/octet-stream"), ("unheard", "application/octet-stream"),
    ])
    func mediaType_isThatOfTheExtension(_ fileExtension: String, _ type: String) {
        #expect(MediaType.of(fileExtension: fileExtension) == type)
    }

    @Test func slowHandler_isToldOfTheLatestStep_andTheLast() async {
        let queue = DispatchQueue(label: "test.progress")
        let log = Log<Int64>()
        let report = ProgressReport(to: [{ log.append($0.completedUnitCount) }], on: queue)
        queue.suspend()
        for count in 0...1_000 { report.update(completed: Int64(count), of: 1_000) }
        queue.resume()
        await callbacksDelivered(queue)
        report.complete()
        report.update(completed: 5_000, of: 10_000)
        await callbacksDelivered(queue)
        #expect(log.entries == [1_000])
    }

    @Test func stepsBack_areLeftOut() async {
        let queue = DispatchQueue(label: "test.progress")
        let log = Log<Double>()
        let report = ProgressReport(to: [{ log.append($0.fractionCompleted) }], on: queue)
        for (completed, total) in [(5, 10), (0, -1), (2, 10), (30, 100), (8, 10)] as [(Int64, Int64)] {
            report.update(completed: completed, of: total)
            await callbacksDelivered(queue)
        }
        report.complete()
        await callbacksDelivered(queue)
        #expect(log.entries == [0.5, 0.8, 1])
    }

    @Test func closedReport_tellsNothing() async {
        let queue = DispatchQueue(label: "test.progress")
        let log = Log<Double>()
        let report = ProgressReport(to: [{ log.append($0.fractionCompleted) }], on: queue)
        queue.suspend()
        report.update(completed: 1, of: 2)
        report.close()
        report.complete()
        queue.resume()
        await callbacksDelivered(queue)
        #expect(log.entries.isEmpty)
    }

    @Test func errorsOfLoading_nameTheURL_andKeepTheirCode() throws {
        let url = URL(fileURLWithPath: "/somewhere")
        let bare = try #require(URLError.ofTask(URLError(.timedOut), loading: url) as? URLError)
        #expect(bare.failingURL == url)
        #expect(bare.code == .timedOut)
        let general = NSError(domain: NSURLErrorDomain, code: URLError.Code.notConnectedToInternet.rawValue)
        #expect((URLError.ofTask(general, loading: url) as? URLError)?.code == .notConnectedToInternet)
        #expect(URLError.ofTask(Failed(text: "else"), loading: url) as? Failed == Failed(text: "else"))
    }
}
