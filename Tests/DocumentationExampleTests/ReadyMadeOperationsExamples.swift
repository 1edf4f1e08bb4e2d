// The examples of ReadyMadeOperations.md.

import AOperation
import Foundation
import Testing

@Suite("Ready-made operations", .timeLimit(.minutes(1)))
struct ReadyMadeOperationsExamples {
    final class WordCount: WrapperOperation<Void, Int>, @unchecked Sendable {
        init(of path: String) {
            super.init { _ in ReadText(path: path).deliver(to: CountWords()) }
        }
    }

    let files: TemporaryFiles
    let path: String
    let queue = AOperationQueue()

    init() throws {
        files = try TemporaryFiles()
        path = try files.file("a.txt", "one two three").path()
    }

    @Test func closures_areOperations() async throws {
        let refresh = AOperationBlock { finish in
            Network.get("https://example.org/list") { _ in finish() }
        }
        let size = Fetch("https://example.org/list").deliver(
            to: MapOperationBlock<Data, Int> { received, finish in
                finish((received ?? .success(Data())).map { $0.count })
            })
        #expect(await refresh.result(on: queue).error == nil)
        #expect(try await size.value(on: queue) == 24)
    }

    @Test func delays_passOnWhatTheyReceived() async throws {
        let pause = DelayOperation<Void>(0.5)
        let calm = Fetch("https://example.org/list").deliver(to: RemainedDelayOperation<Data>(0.2))
        #expect(try await calm.value(on: queue).count == 24)
        pause.add(to: queue).cancel()
        _ = await pause.result(on: queue)
        #expect(pause.outcome?.isCancelled == true)
    }

    @Test func transfers_deliverWhatTheyLoad() async throws {
        let url = URL(filePath: path)
        let page = URLSessionTaskOperation.data(for: url)
            .didChangeProgress { progress in print(progress.fractionCompleted) }
            .timeout(.seconds(10))
        let file = URLSessionTaskOperation.download(for: url)
        let answer = URLSessionTaskOperation.upload(for: url, from: Data("hello".utf8))
        #expect(try await page.value(on: queue).data == Data("one two three".utf8))
        let copy = try await file.value(on: queue).url
        #expect(try Data(contentsOf: copy) == Data("one two three".utf8))
        try FileManager.default.removeItem(at: copy)
        #expect(await answer.result(on: queue).error?.publishedError is URLError)
    }

    @Test func wrapper_endsAsWhatItWraps() async throws {
        #expect(try await WordCount(of: path).value(on: queue) == 3)
        let failed = await WordCount(of: "/no/such/file").result(on: queue)
        #expect(failed.error?.publisher == "ReadText")
    }

    @Test func operation_isIgnoredOrGated() async {
        let isReleaseDay = false
        let optional = IgnoreErrorsOperation(operation: Fetch("https://fail.example.org"))
        let gated = GatedOperation(operation: Publish()) { isReleaseDay }
        #expect(await optional.result(on: queue).error == nil)
        #expect(optional.outcomes[0].isFailure)
        #expect(await gated.result(on: queue).error?.publishedError is AOperationError.GateIsClosed)
    }

    @Test func sequences_goOnStepByStep() async {
        let path = path
        let copy = files.directory.appending(path: "copy.txt")
        let poll = RepeatOperation(max: 3, wait: .constant(0.01)) { Fetch("https://example.org/list") }
        let tries = RetrySequence(Fetch("https://fail.example.org"), numberOfRetries: 3, wait: .fibonacci(period: 0.01, maximum: 1))
        let steps = LinearSequence([
            { _ in ReadText(path: path) },
            { previous in previous?.value(as: String.self).map { Archive($0, to: copy) } },
        ])
        #expect(await poll.result(on: queue).error == nil)
        #expect(poll.outcomes.count == 3)
        #expect(await tries.result(on: queue).error?.publishedError is Network.Unreachable)
        #expect(tries.outcomes.map(\.isFailure) == [true, true, true])
        #expect(await steps.result(on: queue).error == nil)
        #expect(FileManager.default.fileExists(atPath: copy.path()))
    }

    @Test func alert_endsWithItsAnswer() async {
        let alert = AlertOperation { alert in alert.choose(1) }
        alert.title = "Delete the archive?"
        alert.addAction("Delete", style: .destructive) { _ in print("deleted") }
        alert.addAction("Keep", style: .cancel)
        #expect(await alert.result(on: queue).error == nil)
    }
}
